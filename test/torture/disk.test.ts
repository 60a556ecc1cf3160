/** A full disk and a long foreign writer: writes are refused in time, reads go on, nothing needs a restart. */
import { existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import Sqlite from 'better-sqlite3'
import { describe, expect, test } from 'vitest'
import {
  isAlive,
  PLAIN,
  RUNTIMES,
  type Server,
  writeStubCore,
} from '#test/support/drivers/process.ts'
import { fillDisk, useAreas, useSmallDisks, verdict } from '#test/support/drivers/torture.ts'
import { until } from '#test/support/labs/lab.ts'

const mountSmall = useSmallDisks()
const area = useAreas()

const grant = (server: Server, tgId: number) =>
  server.admin(`/users/${tgId}/grant`, { node: 'de1', plan: '1m' })

describe.each(RUNTIMES)('on %s', (runtime) => {
  test('a full disk refuses writes, serves reads, and ends when space returns', async () => {
    const mount = mountSmall('8m')
    const a = area({ ...PLAIN, LOCAL_NODE: 'on', SYNC_INTERVAL_MS: '1000' }, mount)
    const server = await a.startServer({ runtime, env: { XRAY_BIN: writeStubCore(a.dir) } })
    const acked: string[] = []
    const keep = async (tgId: number) => {
      const answer = await grant(server, tgId)
      if (answer.status === 200) acked.push(answer.json.uuid)
      return answer
    }
    await keep(1)
    const token = (await server.admin('/users/1')).json.token
    // The core is started again when it gets its first configuration.
    await server.admin('/sync', {})
    const pidFile = join(a.dir, 'data/node/core.pid')
    const corePid = () => (existsSync(pidFile) ? Number(readFileSync(pidFile, 'utf8')) : 0)
    await until('the core runs', () => corePid() > 0 && isAlive(corePid()))
    const core = corePid()
    fillDisk(join(mount, 'ballast'))
    // The log's file may hold room for some more.
    let refused = await keep(2)
    for (let i = 3; refused.status === 200 && i < 2000; i++) refused = await keep(i)
    expect([refused.status, refused.json]).toEqual([
      503,
      { error: expect.stringContaining('disk is full') },
    ])
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
    const reads = async () => {
      const list = await server.call(`/sub/${token}`, {
        headers: { 'user-agent': 'v2rayNG/2.3.5' },
      })
      expect([list.status, list.text.length > 0]).toEqual([200, true])
      for (const path of ['/users/1', '/nodes', '/subscriptions'])
        expect([path, (await server.admin(path)).status]).toEqual([path, 200])
    }
    await reads()
    const login = { username: 'admin', password: PLAIN.PANEL_PASSWORD }
    expect((await server.call('/admin/api/login', { body: login })).status).toBe(503)
    // Longer than a lease lives: that it can't be renewed must not cost the customers their core.
    const failures = () => server.output().split('job failed job="lease core"').length - 1
    const enough = runtime === 'node' ? 5 : 1
    await until('the lease could not be renewed', () => failures() >= enough, 30_000)
    expect(isAlive(core), server.output()).toBe(true)
    await reads()
    rmSync(join(mount, 'ballast'))
    expect((await keep(5000)).status).toBe(200)
    expect(isAlive(core)).toBe(true)
    expect(await server.stop()).toEqual({ code: 0, signal: null })
    const kept = new Set(
      a.query<{ uuid: string }>('select uuid from subscriptions').map((row) => row.uuid),
    )
    expect(acked.filter((uuid) => !kept.has(uuid))).toEqual([])
    expect(kept.size).toBe(acked.length)
    expect(verdict(a.database)).toBe('ok')
  })

  test('a start on a full disk says so in one line', async () => {
    const mount = mountSmall('8m')
    const a = area(PLAIN, mount)
    fillDisk(join(mount, 'ballast'))
    const { code, output } = await a.run({ runtime })
    expect([code, output]).toEqual([
      1,
      expect.stringMatching(/^subpanel: .*(disk is full|no space).*\n$/i),
    ])
    rmSync(join(mount, 'ballast'))
    await (await a.startServer({ runtime })).stop()
    expect(verdict(a.database)).toBe('ok')
  })

  test.each([1000, 3000])(
    'a writer that holds the lock for %d ms delays writes, never reads',
    async (holdMs) => {
      // The jobs write too, all the time.
      const a = area({ ...PLAIN, SYNC_INTERVAL_MS: '100' })
      const server = await a.startServer({ runtime })
      await server.admin('/nodes')
      const writer = new Sqlite(a.database)
      writer.exec('BEGIN IMMEDIATE')
      const began = performance.now()
      const writes = Promise.all(
        Array.from({ length: 12 }, async (_, i) => {
          const answer = await grant(server, i + 1)
          return { answer, ms: performance.now() - began }
        }),
      )
      let slowest = 0
      let probes = 0
      while (performance.now() - began < holdMs) {
        const asked = performance.now()
        expect((await server.admin('/nodes')).status).toBe(200)
        slowest = Math.max(slowest, performance.now() - asked)
        probes++
      }
      writer.exec('ROLLBACK')
      writer.close()
      const outcomes = await writes
      console.log(
        `${runtime}: writer ${holdMs} ms, ${probes} reads, slowest ${Math.round(slowest)} ms`,
        outcomes.map((o) => `${o.answer.status}@${Math.round(o.ms)}`).join(' '),
      )
      // One that waited for the lock would have waited nearly as long as it was held.
      expect(slowest).toBeLessThan(holdMs * 0.75)
      expect(Math.max(...outcomes.map((outcome) => outcome.ms))).toBeLessThan(5000)
      const expected = holdMs > 2500 ? 503 : 200
      for (const { answer } of outcomes) {
        expect(answer.status).toBe(expected)
        if (expected === 503) expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0)
      }
      expect((await grant(server, 99)).status).toBe(200)
      const refused = outcomes.filter(({ answer }) => answer.status === 503).length
      expect(a.query('select count(*) n from subscriptions')).toEqual([{ n: 13 - refused }])
    },
  )
})
