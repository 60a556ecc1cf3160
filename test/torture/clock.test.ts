/** A clock that is set while the service runs, by libfaketime: nobody loses access, nobody loses time. */
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import {
  type Area,
  PLAIN,
  RUNTIMES,
  type Server,
  writeStubCore,
} from '#test/support/drivers/process.ts'
import { fillUsers, useAreas, verdict } from '#test/support/drivers/torture.ts'
import { until } from '#test/support/labs/lab.ts'

const area = useAreas()
const LIBRARIES = ['/usr/lib/x86_64-linux-gnu', '/usr/lib/aarch64-linux-gnu', '/usr/lib'].map(
  (folder) => `${folder}/faketime/libfaketime.so.1`,
)
const DAY_MS = 86_400_000
const timestamp = (ms: number) => new Date(ms).toISOString().slice(0, 19)

function libfaketime(): string {
  const found = LIBRARIES.find((path) => existsSync(path))
  if (!found) throw new Error('libfaketime is needed for this test: apt-get install faketime')
  return found
}

function setClock(a: Area, offset: string): void {
  writeFileSync(join(a.dir, 'clock.new'), `${offset}\n`)
  renameSync(join(a.dir, 'clock.new'), join(a.dir, 'clock'))
}

const clients = (a: Area) => {
  const file = join(a.dir, 'data/node/clients')
  return existsSync(file) ? readFileSync(file, 'utf8').split('\n').length - 1 : 0
}

/** A service with 60 clients on its node, of which `expiring` run out in ten days. */
async function withClients(runtime: (typeof RUNTIMES)[number], expiring: number) {
  const a = area({ ...PLAIN, LOCAL_NODE: 'on', SYNC_INTERVAL_MS: '600' })
  setClock(a, '+0')
  const env = {
    LD_PRELOAD: libfaketime(),
    FAKETIME_TIMESTAMP_FILE: join(a.dir, 'clock'),
    FAKETIME_NO_CACHE: '1',
    DONT_FAKE_MONOTONIC: '1',
    FAKETIME_DONT_FAKE_MONOTONIC: '1',
    XRAY_BIN: writeStubCore(a.dir),
  }
  await (await a.startServer({ runtime, env })).stop()
  fillUsers(a, 60, timestamp(Date.now() + 800 * DAY_MS))
  const soon = timestamp(Date.now() + 10 * DAY_MS)
  const server = await a.startServer({ runtime, env })
  await until('the node has its clients', () => clients(a) === 60)
  const users = Array.from({ length: expiring }, (_, i) => i + 1)
  expireAt(a, users, soon)
  return { a, server }
}

function expireAt(a: Area, users: number[], at: string): void {
  a.write(`update subscriptions set expires_at = ? where tg_id in (${users.join(',')})`, at)
}

/** Sets the clock and waits until the sync that noticed it has ended; the clients on the node then. */
async function jump(a: Area, offset: string): Promise<number> {
  const from = a.lines.length
  setClock(a, offset)
  await until(
    'the sync after the jump',
    () => {
      const lines = a.lines.slice(from).map((line) => line.text)
      const noticed = lines.findIndex((text) => /the clock was set job=sync/.test(text))
      return noticed >= 0 && lines.slice(noticed).some((text) => /job ended job=sync/.test(text))
    },
    15_000,
  )
  return clients(a)
}

/** Waits for `count` more syncs. */
async function syncs(a: Area, count: number): Promise<void> {
  const from = a.lines.length
  await until(
    'more syncs',
    () =>
      a.lines.slice(from).filter((line) => /job ended job=sync/.test(line.text)).length >= count,
    20_000,
  )
}

const blocked = (a: Area) => a.query<{ n: number }>('select sync_blocked n from nodes')[0]?.n

async function expectHealthy(a: Area, server: Server): Promise<void> {
  expect((await server.call('/healthz')).status).toBe(200)
  expect(await server.stop()).toEqual({ code: 0, signal: null })
  expect(server.output()).not.toMatch(/ error /)
  expect(verdict(a.database)).toBe('ok')
}

describe.each(RUNTIMES)('on %s', (runtime) => {
  test('30 days ahead: nothing is removed right after, and never by the mass', async () => {
    const { a, server } = await withClients(runtime, 10)
    // Ten would pass the brake: only that the jump was noticed keeps them.
    expect(await jump(a, '+30d')).toBe(60)
    expect(await jump(a, '+0')).toBe(60)
    await syncs(a, 2)
    expect(clients(a)).toBe(60)

    expireAt(
      a,
      Array.from({ length: 50 }, (_, i) => i + 1),
      timestamp(Date.now() + 10 * DAY_MS),
    )
    expect(await jump(a, '+30d')).toBe(60)
    await syncs(a, 2)
    expect([clients(a), blocked(a)]).toEqual([60, 1])
    expect(server.output()).toContain('removals held back')
    expect(server.output()).toMatch(/the clock was set job=cleanup by="?\+?\d+s/)
    await jump(a, '+0')
    await syncs(a, 1)
    expect([clients(a), blocked(a)]).toEqual([60, 0])
    await expectHealthy(a, server)
  })

  test('a year back: jobs go on, nobody loses a client or time', async () => {
    const { a, server } = await withClients(runtime, 10)
    const uuid = '00000000-0000-4000-8000-000000000060'
    const expiry = () =>
      a.query<{ at: string }>('select expires_at at from subscriptions where uuid = ?', uuid)[0]?.at
    const before = expiry()
    expect((await server.admin(`/subscriptions/${uuid}/hold`, {})).status).toBe(200)
    expect(await jump(a, '-365d')).toBe(59)
    expect((await server.admin(`/subscriptions/${uuid}/resume`, {})).status).toBe(200)
    expect(expiry()).toBe(before)
    expect((await server.admin('/users/500/grant', { node: 'de1', plan: '1m' })).status).toBe(200)
    await syncs(a, 2)
    expect(clients(a)).toBe(61)
    expect(await jump(a, '+0')).toBe(61)
    await expectHealthy(a, server)
  })

  test.each(['UTC', 'Asia/Tehran', 'America/New_York'])(
    'with TZ=%s days and timestamps are those of UTC',
    async (TZ) => {
      const a = area()
      const server = await a.startServer({ runtime, env: { TZ } })
      const began = Date.now()
      const granted = await server.admin('/users/1/grant', { node: 'de1', plan: '1m' })
      const expires = Date.parse(`${granted.json.expires_at}Z`)
      expect(Math.abs(expires - (began + 30 * DAY_MS))).toBeLessThan(10_000)
      expect(Math.abs(Date.parse(`${granted.json.created_at}Z`) - began)).toBeLessThan(10_000)
      for (const hours of [1, 23, 25, 47, 49, 24 * 120 + 1]) {
        expireAt(a, [1], timestamp(Date.now() + hours * 3_600_000))
        const card = await server.admin('/users/1')
        expect([hours, card.json.subscriptions[0].days_left]).toEqual([
          hours,
          Math.floor(hours / 24),
        ])
      }
      const held = await server.admin(`/subscriptions/${granted.json.uuid}/hold`, {})
      expect(Math.abs(Date.parse(`${held.json.held_at}Z`) - Date.now())).toBeLessThan(10_000)
      const log =
        server
          .output()
          .split('\n')
          .find((line) => line.includes('listening')) ?? ''
      expect(Math.abs(Date.parse(`${log.slice(0, 19)}Z`) - began)).toBeLessThan(10_000)
      expect(await server.stop()).toEqual({ code: 0, signal: null })
    },
  )
})
