/** The disk of the database's server is full, or slow: what is refused is refused in time, lists go on, nothing that was answered with 200 is gone. */
import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import { pause } from '#src/lib/pause.ts'
import { PLAIN, RUNTIMES, type Runtime, type Server } from '#test/support/drivers/process.ts'
import { expectSound, fillDisk, useAreas, useSmallDisks } from '#test/support/drivers/torture.ts'
import { until } from '#test/support/labs/lab.ts'
import { type PostgresServer, startPostgres } from '#test/support/labs/postgres-server.ts'

const mountSmall = useSmallDisks()
const servers: PostgresServer[] = []
afterEach(async () => {
  for (const one of servers.splice(0)) await one.stop()
})
const area = useAreas()
/** Wanted: it goes on within so long after the disk is well again. */
const MOST_MS = 5000
/** No answer takes longer: a statement or a commit may take 12 s, then the server is as good as away. */
const LONGEST_MS = 18_000

async function startServer(log?: string): Promise<PostgresServer> {
  const server = await startPostgres([], log)
  servers.push(server)
  return server
}

/** A shop, and what has been granted in it. */
async function openShop(runtime: Runtime, url: string, env: Record<string, string> = {}) {
  const a = area({ ...PLAIN, DATABASE_URL: url, ...env })
  const server = await a.startServer({ runtime })
  const acknowledged: string[] = []
  let user = 0
  const grant = async () => {
    const began = performance.now()
    const answer = await server.admin(`/users/${++user}/grant`, { node: 'de1', plan: '1m' })
    if (answer.status === 200) acknowledged.push(answer.json.uuid)
    return { ...answer, ms: performance.now() - began }
  }
  await grant()
  const link = `/sub/${(await server.admin('/users/1')).json.token}`
  const list = () => server.call(link, { headers: { 'user-agent': 'v2rayNG/2.3.5' } })
  expect((await list()).status).toBe(200)
  const refused = async () => {
    for (;;) {
      const answer = await grant()
      if (answer.status !== 200) return answer
    }
  }
  /** All that was answered with 200 is there, and nothing is half. */
  const expectKept = () => {
    const kept = new Set(
      a.query<{ uuid: string }>('select uuid from subscriptions').map((row) => row.uuid),
    )
    expect(acknowledged.filter((uuid) => !kept.has(uuid))).toEqual([])
    expectSound(a)
  }
  return { a, server, acknowledged, grant, list, refused, expectKept }
}

/** The first grant that is taken again; gives how long that took. */
async function goesOn(grant: () => Promise<{ status: number }>): Promise<number> {
  const from = performance.now()
  await until('a change is taken', async () => (await grant()).status === 200, 20_000)
  return Math.round(performance.now() - from)
}

const expectSoon = (answer: Awaited<ReturnType<Server['call']>>) => {
  expect(answer.status).toBe(503)
  expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0)
}

describe.each(RUNTIMES)('on %s', (runtime) => {
  test('with no space for tables changes are refused, and reads go on', async () => {
    const disk = mountSmall('40m')
    const postgres = await startServer()
    const shop = await openShop(runtime, await postgres.createDatabase(disk))
    fillDisk(join(disk, 'ballast'))
    const refused = await shop.refused()
    expectSoon(refused)
    expect(refused.json).toEqual({ error: expect.stringContaining('disk is full') })
    expect((await shop.list()).status).toBe(200)
    for (const path of ['/users/1', '/nodes', '/subscriptions'])
      expect([path, (await shop.server.admin(path)).status]).toEqual([path, 200])
    rmSync(join(disk, 'ballast'))
    const ms = await goesOn(shop.grant)
    console.log(`${runtime}: ${shop.acknowledged.length} grants, on again after ${ms} ms`)
    expect(ms).toBeLessThan(MOST_MS)
    shop.expectKept()
    expect((await shop.server.stop()).code).toBe(0)
  })

  test('with no space for its log the server ends; lists go on meanwhile, and all when it is started again', async () => {
    const disk = mountSmall('80m')
    const log = join(disk, 'log')
    mkdirSync(log)
    const postgres = await startServer(log)
    const shop = await openShop(runtime, await postgres.createDatabase(), { STALE_LISTS_MB: '4' })
    fillDisk(join(disk, 'ballast'))
    expectSoon(await shop.refused())
    await until(
      'the server has ended',
      async () => {
        await shop.grant()
        return !(await postgres.isUp())
      },
      60_000,
    )
    const stale = await shop.list()
    expect([stale.status, stale.headers.get('x-stale')]).toEqual([200, expect.any(String)])
    expectSoon(await shop.grant())
    rmSync(join(disk, 'ballast'))
    // Mostly it recovers by itself; where it found no space for that, its supervisor starts it.
    const isUp = async () =>
      (await postgres.isUp()) ||
      postgres.start().then(
        () => true,
        () => false,
      )
    await until('the server is there again', isUp, 60_000)
    const ms = await goesOn(shop.grant)
    console.log(`${runtime}: ${shop.acknowledged.length} grants, on again after ${ms} ms`)
    expect(ms).toBeLessThan(MOST_MS)
    await until(
      'a fresh list',
      async () => (await shop.list()).headers.get('x-stale') === null,
      MOST_MS,
    )
    shop.expectKept()
  })

  test.each([300, 3000])(
    'with a disk that takes %d ms for each commit changes wait or are refused, lists do not',
    async (delayMs) => {
      const postgres = await startServer()
      const shop = await openShop(runtime, await postgres.createDatabase())
      const answers: { status: number; ms: number }[] = []
      const lists: number[] = []
      await postgres.slow(delayMs, async () => {
        let over = false
        const writer = async () => {
          while (!over) {
            const { status, ms, headers } = await shop.grant()
            answers.push({ status, ms })
            if (status !== 200)
              expect([status, Number(headers.get('retry-after')) > 0]).toEqual([503, true])
          }
        }
        const writers = Array.from({ length: 4 }, writer)
        for (let i = 0; i < 100; i++) {
          const began = performance.now()
          expect((await shop.list()).status).toBe(200)
          lists.push(performance.now() - began)
          await pause(80)
        }
        over = true
        await Promise.all(writers)
      })
      const ms = await goesOn(shop.grant)
      const slowest = Math.round(Math.max(...answers.map((answer) => answer.ms)))
      const statuses = [200, 503].map(
        (status) => answers.filter((answer) => answer.status === status).length,
      )
      console.log(
        `${runtime}, ${delayMs} ms: ${statuses[0]} grants, ${statuses[1]} refused, the slowest after ${slowest} ms; slowest list ${Math.round(Math.max(...lists))} ms; on again after ${ms} ms`,
      )
      expect(Math.max(...lists)).toBeLessThan(delayMs)
      expect(slowest).toBeLessThan(LONGEST_MS)
      expect(ms).toBeLessThan(MOST_MS)
      shop.expectKept()
    },
  )
})
