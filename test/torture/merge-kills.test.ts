/** kill -9 while two customers become one, at every step of it and at random: they are one with all of both, or two as before. */
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { accountOf, belongings, customerOf, together } from '#test/support/drivers/merged-pairs.ts'
import {
  type Area,
  PLAIN,
  ROOT,
  RUNTIMES,
  type Runtime,
  runtimeBinary,
} from '#test/support/drivers/process.ts'
import { count } from '#test/support/drivers/shop-process.ts'
import { expectSound, seeded, useAreas } from '#test/support/drivers/torture.ts'
import { until } from '#test/support/labs/lab.ts'

const area = useAreas()
const FULL = process.env.FULL === '1'
const SEED = Number(process.env.SEED ?? 1)
const MERGER = join(ROOT, 'test/support/drivers/merger.ts')
/** More steps than a merge has. */
const MOST_STEPS = 60

interface Pair {
  customer: string[]
  account: string[]
}

const pairIn = (owned: Map<number, string[]>, pair: number): Pair => ({
  customer: owned.get(customerOf(pair)) ?? [],
  account: owned.get(accountOf(pair)) ?? [],
})

const spawnMerger = (a: Area, runtime: Runtime, ...args: string[]) =>
  a.spawn({ command: [runtimeBinary(runtime), MERGER, ...args] })

/** An installation in which so many pairs of customers wait to become one. */
async function installation(pairs: number): Promise<{ a: Area; before: Pair[] }> {
  const a = area({ ...PLAIN, LOG_LEVEL: 'info' })
  await (await a.startServer()).stop()
  const filled = spawnMerger(a, 'node', 'fill', String(pairs))
  expect((await filled.exited).code, filled.output()).toBe(0)
  const owned = belongings(a)
  const before = Array.from({ length: pairs }, (_, i) => pairIn(owned, i + 1))
  // A user, three subscriptions, a payment, three devices, a gift and two links.
  for (const { customer, account } of before) {
    expect([customer.length, account.length]).toEqual([11, 11])
  }
  expectSound(a)
  return { a, before }
}

/** Which pairs have become one. A pair is that or as it was before, with nothing between. */
function mergedPairs(a: Area, before: Pair[]): Set<number> {
  const owned = belongings(a)
  const words = (sql: string) => a.query<{ word: string }>(sql).map(({ word }) => word)
  const audited = words("select detail word from audit_log where action = 'user.merge'")
  const codes = new Set(words("select 'from=' || tg_id word from link_codes"))
  const merged = new Set<number>()
  for (const [i, pair] of before.entries()) {
    const now = pairIn(owned, i + 1)
    if (now.customer.length === 0) merged.add(i + 1)
    const isMerged = merged.has(i + 1)
    const one = { customer: [], account: together(pair.customer, pair.account) }
    expect(now).toEqual(isMerged ? one : pair)
    const detail = `from=${customerOf(i + 1)}`
    expect(audited.filter((word) => word === detail)).toHaveLength(isMerged ? 1 : 0)
    expect(codes.has(detail)).toBe(!isMerged)
  }
  return merged
}

/** Every pair is one, once, and what `npm run verify` looks at is as it must be. */
async function expectAllMerged(a: Area, before: Pair[]): Promise<void> {
  expect(mergedPairs(a, before).size).toBe(before.length)
  expect(count(a, "audit_log where action = 'user.merge'")).toBe(before.length)
  expect(count(a, 'subscriptions')).toBe(6 * before.length)
  expect(count(a, 'payments')).toBe(2 * before.length)
  expect(count(a, 'devices')).toBe(5 * before.length)
  expect(count(a, 'user_tokens')).toBe(3 * before.length)
  expectSound(a)
  const verify = await a.run({ command: [runtimeBinary('node'), join(ROOT, 'scripts/verify.ts')] })
  expect([verify.code, verify.output]).toEqual([0, expect.anything()])
}

test.each(RUNTIMES)(
  'kills before each step of a merge, from its begin to after its commit, %s',
  async (runtime) => {
    const { a, before } = await installation(2)
    const steps: string[] = []
    // By its name: what else a transaction does differs, by what is in memory and by who waits to write too.
    const late = spawnMerger(a, runtime, 'merge', 'commit')
    expect((await late.exited).signal, late.output()).toBe('SIGKILL')
    expect(late.stdout()).toMatch(/^step \d+ commit/im)
    expect(mergedPairs(a, before).size).toBe(0)
    expectSound(a)
    for (let step = 1; step <= MOST_STEPS; step++) {
      const merger = spawnMerger(a, runtime, 'merge', String(step))
      const { signal } = await merger.exited
      expect(signal, merger.output()).toBe('SIGKILL')
      steps.push(/^step \d+ (.*)$/m.exec(merger.stdout())?.[1] ?? 'none')
      const merged = mergedPairs(a, before)
      expectSound(a)
      if (merged.size > 0) break
    }
    console.log(`${runtime}, ${steps.length} steps: ${steps.join(', ')}`)
    // The last one died after its commit.
    expect(steps[0]).toMatch(/^begin/i)
    expect(steps.length).toBeGreaterThan(10)
    expect(mergedPairs(a, before).size).toBe(1)
    await spawnMerger(a, runtime, 'merge').exited
    await expectAllMerged(a, before)
  },
  600_000,
)

const PAIRS = FULL ? 2000 : 100

test(`kills at random while ${PAIRS} pairs become one: what was said to be done stays done, the rest is done again`, async () => {
  const random = seeded(SEED)
  const { a, before } = await installation(PAIRS)
  const said = new Set<number>()
  let kills = 0
  while (count(a, 'link_codes') > 0) {
    const merger = spawnMerger(a, RUNTIMES[kills % 2] ?? 'node', 'merge')
    const wanted = 1 + Math.floor(random() * 20)
    const merges = () => [...merger.stdout().matchAll(/^merged (\d+)$/gm)].map(([, n]) => Number(n))
    const isOver = () => merges().length >= wanted || /^done$/m.test(merger.stdout())
    await until('some are merged', isOver, 60_000)
    const { signal } = await merger.kill()
    if (signal === 'SIGKILL') kills++
    for (const pair of merges()) {
      expect(said).not.toContain(pair)
      said.add(pair)
    }
    const merged = mergedPairs(a, before)
    expect([...said].filter((pair) => !merged.has(pair))).toEqual([])
    expectSound(a)
  }
  console.log(`${kills} kills, seed ${SEED}: ${PAIRS - said.size} merged and not yet said`)
  expect(kills).toBeGreaterThan(3)
  await expectAllMerged(a, before)
}, 1_800_000)
