/** Roles and jobs on a clock set by hand: who may act, and what a set clock spares. */
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { Database } from '#db/engine/database.ts'
import { openDatabase } from '#db/engine/sqlite/open.ts'
import { acquireLease } from '#db/leases.ts'
import { type Hold, holdRole, startJobs } from '#src/jobs.ts'
import { createLog, silentLog } from '#src/lib/log.ts'
import { createHandClock } from '#test/support/worlds/world.ts'

const TTL_MS = 10_000
const HOUR_MS = 3_600_000

let clock: ReturnType<typeof createHandClock>
let db: Database
const fatal = () => {}

beforeEach(() => {
  vi.useFakeTimers()
  clock = createHandClock('2026-03-01T12:00:00')
  db = openDatabase(':memory:', { now: clock.now() })
})
afterEach(() => {
  vi.useRealTimers()
  db.close()
})

async function pass(ms: number): Promise<void> {
  clock.advance(ms)
  await vi.advanceTimersByTimeAsync(ms)
}

/** A role held in this process; what began and ended with it. */
async function hold(s: { db: Database }, log = silentLog) {
  const holds: Hold[] = []
  let ended = 0
  const begin = async (own: Hold) => {
    holds.push(own)
    return {
      async stop() {
        ended++
      },
    }
  }
  const role = holdRole({ db: s.db, clock, log, fatal }, 'test', 'a', begin)
  await pass(0)
  return { role, holds, ended: () => ended }
}

test('a lease is trusted for its ten seconds, and not once the clock was set', async () => {
  const { holds } = await hold({ db })
  const own = holds[0] as Hold
  expect([own.fence, own.isValid()]).toEqual([1, true])
  clock.advance(TTL_MS - 1)
  expect(own.isValid()).toBe(true)
  clock.advance(1)
  expect(own.isValid()).toBe(false)
  await pass(3000)
  expect(own.isValid()).toBe(true)
  for (const ms of [HOUR_MS, -2 * HOUR_MS]) {
    clock.jump(ms)
    expect(own.isValid()).toBe(false)
    await pass(3000)
    expect(own.isValid()).toBe(true)
  }
  expect(holds).toHaveLength(1)
})

test('a lease that can not be renewed stops no runner; one that another has does', async () => {
  let full = false
  const failing: Database = {
    ...db,
    txVolatile: (body) =>
      full ? Promise.reject(new Error('database or disk is full')) : db.txVolatile(body),
  }
  const { role, holds, ended } = await hold({ db: failing })
  full = true
  for (let i = 0; i < 5; i++) await pass(3000)
  expect([ended(), holds[0]?.isValid()]).toEqual([0, false])
  full = false
  await pass(3000)
  expect([ended(), holds[0]?.isValid()]).toEqual([0, true])

  clock.advance(TTL_MS)
  expect(await acquireLease(db, 'test', 'b', clock.now().getTime(), TTL_MS)).toBe(2)
  await pass(3000)
  expect([ended(), holds.length, holds[0]?.isValid()]).toEqual([1, 1, false])
  for (let i = 0; i < 4; i++) await pass(3000)
  expect(holds.map((own) => own.fence)).toEqual([1, 3])
  await role.stop()
  expect(ended()).toBe(2)
  expect(await acquireLease(db, 'test', 'b', clock.now().getTime(), TTL_MS)).toBe(4)
})

test('who stands by says so once, with whom it waits for, and who takes over, too', async () => {
  const lines: string[] = []
  const log = createLog('info', clock.now, (line) => lines.push(line.replace(/^\S+ /, '')))
  const take = () => acquireLease(db, 'test', 'web1:7:ab', clock.now().getTime(), TTL_MS)
  await take()
  const { role } = await hold({ db }, log)
  await pass(6000)
  expect(lines).toEqual(['info standing by role=test owner=web1:7:ab'])
  await pass(6000)
  expect(lines.slice(1)).toEqual(['info role taken role=test fence=2'])
  clock.advance(TTL_MS)
  await take()
  await pass(3000)
  expect(lines.slice(2)).toEqual([
    'warn another process took the role over role=test fence=2',
    'info standing by role=test owner=web1:7:ab',
  ])
  await role.stop()
})

test('a role that is free is taken without a word', async () => {
  const log = { ...silentLog, info: vi.fn() }
  const { role } = await hold({ db }, log)
  expect(log.info).not.toHaveBeenCalled()
  await role.stop()
})

test('of two that see a clock set back by a year only one gets the role', async () => {
  const { holds } = await hold({ db })
  clock.jump(-365 * 24 * HOUR_MS)
  expect(await acquireLease(db, 'test', 'b', clock.now().getTime(), TTL_MS)).toBe(2)
  expect(holds[0]?.isValid()).toBe(false)
})

test('the run after the clock was set removes nothing, also when it is the first of this process', async () => {
  const removes: boolean[] = []
  const retries: boolean[] = []
  const since = { wallMs: clock.now().getTime(), monotonicMs: clock.monotonicMs() }
  clock.jump(30 * 24 * HOUR_MS)
  const nodeSync = {
    async syncAll({ remove }: { remove: boolean }) {
      removes.push(remove)
      return []
    },
    retryBehind: ({ remove }: { remove: boolean }) => retries.push(remove),
  }
  const background = { run: (_name: string, work: () => Promise<unknown>) => void work() }
  const config = { syncIntervalMs: 1000 }
  const s = { db, clock, log: silentLog, fatal, nodeSync, background, config }
  let valid = true
  const own: Hold = { fence: 1, since, isValid: () => valid }
  const jobs = startJobs(s as unknown as Parameters<typeof startJobs>[0], own)
  await pass(0)
  expect(removes).toEqual([false])
  await pass(1000)
  expect(removes).toEqual([false, true])
  clock.jump(-HOUR_MS)
  await pass(1000)
  clock.jump(20_000)
  await pass(1000)
  expect(removes).toEqual([false, true, false, true])
  // What is tried again removes nothing until two passes of all have looked at the clock.
  expect(retries).toEqual([false, false, false, false])
  await pass(1000)
  expect([removes.at(-1), retries.at(-1)]).toEqual([true, true])
  valid = false
  await pass(5000)
  expect(removes).toHaveLength(5)
  await jobs.stop()
})
