/** A shop whose database is on a PostgreSQL server: several processes, archives of both engines, a server that goes away. */
import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { pause } from '#src/lib/pause.ts'
import { type Area, PASSWORD, PLAIN, RUNTIMES, type Server } from '#test/support/drivers/process.ts'
import { useAreas } from '#test/support/drivers/torture.ts'
import { until } from '#test/support/labs/lab.ts'
import { type PostgresServer, startPostgres } from '#test/support/labs/postgres-server.ts'
import { onDatabase } from '#test/support/worlds/postgres-databases.ts'

const area = useAreas()
let postgres: PostgresServer
beforeAll(async () => {
  postgres = await startPostgres()
})
afterAll(() => postgres.stop())

/** An area whose database is a new one on the server. */
async function onServer(): Promise<Area> {
  return area({ ...PLAIN, DATABASE_URL: await postgres.createDatabase() })
}

const grant = async (server: Server, user: number): Promise<string> => {
  const { status, json } = await server.admin(`/users/${user}/grant`, { node: 'de1', plan: '1m' })
  expect(status).toBe(200)
  return json.uuid
}
const linkOf = async (server: Server, user: number): Promise<string> =>
  `/sub/${(await server.admin(`/users/${user}`)).json.token}`
const listOf = async (server: Server, path: string) => {
  const headers = { 'user-agent': 'Happ/3.5.0' }
  const { status, text } = await server.call(path, { headers })
  return [status, Buffer.from(text, 'base64').toString()] as const
}
const users = async (server: Server) =>
  (await server.admin('/users')).json.map(({ tg_id }: { tg_id: number }) => tg_id).sort()

/** Connections of one stranger. */
const CROWD = 800

describe.each(RUNTIMES)('on %s', (runtime) => {
  const web = `entry/${runtime}.ts`
  const script = (a: Area, name: string, ...args: string[]) =>
    a.run({ runtime, entry: `../scripts/${name}.ts`, args })

  test('two processes are one shop: sessions, changes and a restore are seen by both', async () => {
    const a = await onServer()
    const first = await a.startServer({ runtime })
    const second = await a.startServer({ runtime, entry: web })
    const uuid = await grant(first, 7)
    const link = await linkOf(second, 7)
    expect(await listOf(second, link)).toEqual([200, expect.stringContaining(uuid)])
    const archive = await first.download('/backup')
    await grant(second, 8)
    // The name that lists have is kept in memory.
    expect((await second.admin('/settings/brand', { brand_name: 'After' })).status).toBe(200)
    expect(await users(first)).toEqual([7, 8])
    const { status, json } = await first.restore(archive)
    expect([status, json.restored_db]).toEqual([200, true])
    expect(await users(first)).toEqual([7])
    expect(await users(second)).toEqual([7])
    await until('the name of before', async () => {
      const settings = await second.admin('/settings/brand')
      return settings.json.brand_name !== 'After'
    })
    expect((await script(a, 'verify')).output).toBe('all is well\n')
  })

  test('several web processes of one machine, too', async () => {
    const a = await onServer()
    const server = await a.startServer({ runtime, env: { WEB_PROCESSES: '2' } })
    const uuid = await grant(server, 7)
    const link = await linkOf(server, 7)
    for (let i = 0; i < 8; i++)
      expect(await listOf(server, link)).toEqual([200, expect.stringContaining(uuid)])
    expect((await server.stop()).code).toBe(0)
  })

  test('archives of a file and of a server are the same', async () => {
    const [file, server] = [area(), await onServer()]
    const ofFile = await file.startServer({ runtime })
    const uuid = await grant(ofFile, 7)
    const link = await linkOf(ofFile, 7)
    const ofServer = await server.startServer({ runtime })
    await grant(ofServer, 9)
    expect((await ofServer.restore(await ofFile.download('/backup'))).status).toBe(200)
    expect(await users(ofServer)).toEqual([7])
    expect(await listOf(ofServer, link)).toEqual([200, expect.stringContaining(uuid)])
    await grant(ofServer, 8)
    expect((await ofFile.restore(await ofServer.download('/backup'))).status).toBe(200)
    expect(await users(ofFile)).toEqual([7, 8])
    expect(await listOf(ofFile, link)).toEqual([200, expect.stringContaining(uuid)])
    for (const a of [file, server]) expect((await script(a, 'verify')).output).toBe('all is well\n')
  })

  test('commands work with it, and a shop moves to it and back', async () => {
    const a = area()
    const before = await a.startServer({ runtime })
    await grant(before, 7)
    const link = await linkOf(before, 7)
    const list = await listOf(before, link)
    const url = await postgres.createDatabase()
    const busy = await script(a, 'move', url)
    expect([busy.code, busy.output]).toEqual([
      1,
      expect.stringMatching(/the service is running: stop/),
    ])
    await before.stop()
    const trial = await a.run({
      runtime,
      entry: '../scripts/move.ts',
      args: ['-', '--dry-run'],
      stdin: `${url}\n`,
    })
    expect([trial.code, trial.stdout]).toEqual([0, expect.stringMatching(/Nothing was kept\.\n$/)])
    const moved = await script(a, 'move', url)
    expect([moved.code, moved.output]).toEqual([0, expect.stringContaining('each the same')])
    expect(moved.output).not.toContain('postgres://')
    // What would sell on from the file that was left behind.
    const forgotten = await a.run({ runtime })
    expect([forgotten.code, forgotten.output]).toEqual([
      1,
      `subpanel: the shop went from ${a.database} to a server (npm run move): set DATABASE_URL to it. What the file had then is in ${a.database}.moved-…\n`,
    ])
    for (const command of ['verify', 'backup', 'reset-admin'])
      expect((await script(a, command)).output).toMatch(/^the shop went from .+: set DATABASE_URL/)
    writeFileSync(a.envFile, `${readFileSync(a.envFile, 'utf8')}DATABASE_URL=${url}\n`)
    const after = await a.startServer({ runtime })
    expect(await listOf(after, link)).toEqual(list)
    await grant(after, 8)
    const archive = join(a.dir, 'b.tar.gz')
    expect((await script(a, 'backup', archive)).output).toBe(`${archive}\n`)
    expect((await script(a, 'verify', archive)).output).toBe('all is well\n')
    // Whoever finds a backup shall not get at the server by it.
    expect(execFileSync('tar', ['xzOf', archive]).includes('postgres://')).toBe(false)
    await grant(after, 9)
    expect((await script(a, 'restore', archive)).code).toBe(0)
    expect(readFileSync(a.envFile, 'utf8')).toContain(`DATABASE_URL=${url}\n`)
    const { stdout } = await script(a, 'reset-admin')
    const password = /: (\S+)\n/.exec(stdout)?.[1] ?? ''
    const login = await after.call('/admin/api/login', { body: { username: 'admin', password } })
    expect(login.status).toBe(200)
    await after.stop()
    expect((await script(a, 'move', `file:${a.database}`)).code).toBe(0)
    const env = { DATABASE_URL: `file:${a.database}` }
    const again = await a.startServer({ runtime, env })
    expect(await listOf(again, link)).toEqual(list)
    expect((await again.stop()).code).toBe(0)
    expect((await a.run({ runtime, entry: '../scripts/verify.ts', env })).output).toBe(
      'all is well\n',
    )
  })

  test('a refused restore into a new database leaves the shop in the file, and may be tried again', async () => {
    const a = area()
    const before = await a.startServer({ runtime })
    await grant(before, 7)
    const link = await linkOf(before, 7)
    const list = await listOf(before, link)
    const archive = join(a.dir, 'b.tar.gz')
    writeFileSync(archive, await before.download('/backup'))
    await before.stop()
    const shop = readFileSync(a.database)
    const env = { DATABASE_URL: await postgres.createDatabase() }
    const restore = (file: string) =>
      a.run({ runtime, entry: '../scripts/restore.ts', args: [file], env })
    const damaged = join(a.dir, 'damaged.tar.gz')
    writeFileSync(damaged, readFileSync(archive).subarray(0, 5000))
    expect((await restore(damaged)).code).toBe(1)
    expect(readFileSync(a.database).equals(shop)).toBe(true)
    const done = await restore(archive)
    expect([done.code, done.output]).toEqual([0, expect.stringMatching(/^Restored\./)])
    const after = await a.startServer({ runtime, env })
    expect(await listOf(after, link)).toEqual(list)
  })

  test('while the server is away all is refused for a moment, and goes on by itself', async () => {
    const a = await onServer()
    const server = await a.startServer({ runtime })
    await grant(server, 7)
    const link = await linkOf(server, 7)
    await postgres.restart(async () => {
      const refused = await server.admin('/users/8/grant', { node: 'de1', plan: '1m' })
      expect([refused.status, refused.headers.get('x-error-code')]).toEqual([503, 'database-away'])
      expect(refused.headers.get('retry-after')).toBe('5')
      expect((await listOf(server, link))[0]).toBe(503)
      expect((await server.call('/healthz')).status).toBe(200)
    })
    await until('a list', async () => (await listOf(server, link))[0] === 200, 5000)
    await grant(server, 8)
    expect(server.output()).not.toMatch(/postgres:\/\/|insert into|select /i)
    expect((await server.stop()).code).toBe(0)
  })

  test('with STALE_LISTS_MB lists go on meanwhile, also while it is frozen', async () => {
    const a = await onServer()
    const server = await a.startServer({ runtime, env: { STALE_LISTS_MB: '4' } })
    await grant(server, 7)
    await grant(server, 8)
    const [link, other] = [await linkOf(server, 7), await linkOf(server, 8)]
    const fetched = async () => {
      const { status, text, headers } = await server.call(link, {
        headers: { 'user-agent': 'Happ/3.5.0' },
      })
      return { status, text, stale: headers.get('x-stale') }
    }
    const before = await fetched()
    expect([before.status, before.stale]).toEqual([200, null])
    const expectStale = async () => {
      const { stale, ...list } = await fetched()
      expect(list).toEqual({ status: 200, text: before.text })
      expect(Number(stale)).toBeLessThan(60)
      // Whose list was never fetched is not known.
      expect((await listOf(server, other))[0]).toBe(503)
    }
    await postgres.restart(expectStale)
    await until('a fresh list', async () => (await fetched()).stale === null, 5000)
    await postgres.frozen(async () => {
      const began = performance.now()
      await fetched()
      expect(performance.now() - began).toBeLessThan(4000)
      await expectStale()
    })
    await until('a fresh list', async () => (await fetched()).stale === null, 5000)
    expect((await server.stop()).code).toBe(0)
  })

  test('a crowd of strangers keeps nobody waiting', async () => {
    const a = await onServer()
    const server = await a.startServer({ runtime, env: { STALE_LISTS_MB: '4' } })
    await grant(server, 7)
    const link = await linkOf(server, 7)
    let over = false
    const times: Record<'429' | '401' | '503' | 'grant' | 'list', number[]> = {
      ...{ 429: [], 401: [], 503: [], grant: [], list: [] },
    }
    const timed = async <T>(nameOf: (value: T) => keyof typeof times, work: () => Promise<T>) => {
      const began = performance.now()
      const value = await work()
      times[nameOf(value)].push(Math.round(performance.now() - began))
      return value
    }
    const stranger = async () => {
      const body = { username: 'admin', password: 'a guess' }
      const headers = { 'x-real-ip': '203.0.113.9' }
      while (!over) {
        const { status } = await timed(
          (answer: { status: number }) => String(answer.status) as '429' | '401' | '503',
          () => server.call('/admin/api/login', { body, headers }),
        )
        // Who is told to come again does.
        if (status === 503) await pause(500)
      }
    }
    const crowd = Array.from({ length: CROWD }, stranger)
    for (let i = 0; i < 10; i++) {
      await pause(300)
      await timed(
        () => 'grant',
        () => grant(server, 100 + i),
      )
      const { status, headers } = await timed(
        () => 'list',
        () => server.call(link),
      )
      expect([status, headers.get('x-stale')]).toEqual([200, null])
    }
    over = true
    await Promise.all(crowd)
    const middle = (of: keyof typeof times) =>
      times[of].sort((a, b) => a - b)[times[of].length >> 1] as number
    console.log(
      `${runtime}: ${times[401].length} guesses heard, ${times[429].length} refused, ${times[503].length} sent away; in the middle a refusal took ${middle('429')} ms, a grant ${middle('grant')}, a list ${middle('list')}`,
    )
    expect(times[401]).toHaveLength(10)
    // In one line a grant, which asks more often than they do, took longer than they did.
    expect(middle('grant')).toBeLessThan(middle('429') / 2)
    expect(middle('list')).toBeLessThan(middle('429') / 2)
    expect(server.output()).not.toContain('cannot be reached')
  })

  test.each<[string, (i: number) => [path: string, options: object]]>([
    ['looks for links', (i) => [`/api/cabinet/${`${i}`.padStart(43, 'x')}/shop`, {}]],
    ['brings sessions', (i) => ['/admin/api/users', { headers: { cookie: `panel_admin=${i}` } }]],
    [
      'guesses passwords',
      () => ['/admin/api/login', { body: { username: 'admin', password: 'a guess' } }],
    ],
  ])('a crowd that %s and never waits turns nobody else away', async (_what, asked) => {
    const a = await onServer()
    const server = await a.startServer({ runtime })
    await grant(server, 7)
    const link = (await linkOf(server, 7)).replace('/sub/', '/api/cabinet/')
    const login = (device = '') =>
      server.call('/admin/api/login', {
        body: { username: 'admin', password: PASSWORD, panel: true },
        headers: { 'x-real-ip': '192.0.2.77', cookie: device },
      })
    const known = /panel_device=[^;]+/.exec((await login()).headers.get('set-cookie') ?? '')?.[0]
    let over = false
    const statuses = new Map<number, number>()
    const stranger = async () => {
      for (let i = 0; !over; i++) {
        const [path, options] = asked(i)
        const { headers } = options as { headers?: object }
        const { status } = await server.call(path, {
          ...options,
          headers: { 'x-real-ip': '203.0.113.9', ...headers },
        })
        statuses.set(status, (statuses.get(status) ?? 0) + 1)
      }
    }
    const crowd = Array.from({ length: CROWD }, stranger)
    await pause(1000)
    const answers: number[][] = []
    for (let i = 0; i < 5; i++) {
      const all = [
        server.admin('/users'),
        server.call(`${link}/shop`),
        server.admin(`/users/${100 + i}/grant`, { node: 'de1', plan: '1m' }),
        login(known),
      ]
      answers.push((await Promise.all(all)).map(({ status }) => status))
      await pause(200)
    }
    over = true
    await Promise.all(crowd)
    console.log(`${runtime}: the crowd got ${[...statuses].join(' ')}`)
    expect(answers).toEqual(answers.map(() => [200, 200, 200, 200]))
  })

  test('rows of a megabyte are backed up and moved as all others are', async () => {
    const a = await onServer()
    const server = await a.startServer({ runtime })
    await grant(server, 7)
    // Not by `a.write`, whose connection stays, and is one of ours to a move.
    await onDatabase(a.server as string, (client) =>
      client.query(
        `insert into payments (id, tg_id, node, plan, provider, external_id, amount, currency, days, shop_id, created_at, source, order_json)
         select 'fat-' || i, 7, 'de1', '1m', 'provider_b', 'fat-' || i, 199, 'RUB', 30, 'merchant', '2026-01-01T00:00:00', 'bot', repeat('x', 1000000)
         from generate_series(1, 300) i`,
      ),
    )
    expect((await server.admin('/backup')).status).toBe(200)
    expect((await server.stop()).code).toBe(0)
    const moved = await script(a, 'move', `file:${join(a.dir, 'moved.db')}`)
    expect([moved.code, moved.output]).toEqual([0, expect.stringContaining('each the same')])
  })
})
