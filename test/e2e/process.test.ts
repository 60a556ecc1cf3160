/** One process from its first start to its end: what it writes, prints and refuses, and how it stops. */
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { dirname, join } from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import {
  type Area,
  childrenOf,
  createArea,
  freePort,
  isAlive,
  PLAIN,
  ROOT,
  RUNTIMES,
  runtimeBinary,
  type Server,
  type StartOptions,
  startBlackHole,
} from '#test/support/drivers/process.ts'
import { until } from '#test/support/labs/lab.ts'

const areas: Area[] = []
function area(defaults: Record<string, string> = PLAIN): Area {
  const made = createArea(defaults)
  areas.push(made)
  return made
}
afterEach(async () => {
  await Promise.all(areas.splice(0).map((made) => made.close()))
})

const mode = (path: string) => (statSync(path).mode & 0o777).toString(8)
const lines = (text: string) => text.split('\n').filter(Boolean)

/** A start that is refused: exit 1 and one line that matches. */
async function expectRefusal(a: Area, options: StartOptions, line: RegExp) {
  const { code, output } = await a.run(options)
  expect({ code, lines: lines(output) }).toEqual({ code: 1, lines: [expect.stringMatching(line)] })
}

describe.each(RUNTIMES)('first start on %s', (runtime) => {
  test('creates everything owner-only and prints the password once', async () => {
    const a = area({})
    const server = await a.startServer({ runtime, umask: '0000' })
    const password = /Password\s+(\S+)/.exec(server.stdout())?.[1] ?? ''
    expect(server.output().split(password)).toHaveLength(2)
    expect(password).toMatch(/^[a-z2-7]{20}$/)
    expect(server.stdout().match(/http:\/\/(panel|site|sub)\.localhost:\d+\//g)).toHaveLength(3)
    const data = join(a.dir, 'data')
    expect(mode(data)).toBe('700')
    expect(mode(a.envFile)).toBe('600')
    const files = readdirSync(data).filter((name) => name.startsWith('panel.db'))
    expect(files.sort()).toEqual(['panel.db', 'panel.db-shm', 'panel.db-wal', 'panel.db.lock'])
    for (const name of files) expect([name, mode(join(data, name))]).toEqual([name, '600'])
    const [row] = a.query<{ value: string }>('select instance_id value from instance')
    expect(readFileSync(a.envFile, 'utf8')).toContain(`INSTANCE_ID=${row?.value}\n`)
    const login = await server.call('/admin/api/login', { body: { username: 'admin', password } })
    expect([login.status, login.json]).toEqual([200, { ok: true }])

    // Without Xray: a line that says what to run, metrics that say so, and no request that fails.
    await until('the line', () => server.output().includes('npm run cores'))
    expect(mode(join(data, 'node'))).toBe('700')
    const cookie = (login.headers.get('set-cookie') ?? '').split(';')[0] as string
    const admin = (path: string, body?: unknown) =>
      server.call(`/admin/api${path}`, { headers: { cookie }, body })
    const metrics = await admin('/nodes/de1/metrics')
    expect(metrics.json.error).toContain('npm run cores')
    const granted = await admin('/users/7/grant', { node: 'de1', plan: '1m' })
    expect(granted.status).toBe(200)
    for (const verb of ['hold', 'resume', 'reset-traffic', 'revoke'])
      expect((await admin(`/subscriptions/${granted.json.uuid}/${verb}`, {})).status).toBe(200)
    for (const path of ['/nodes', '/traffic', '/users/7', '/subscriptions', '/plans', '/audit'])
      expect([path, (await admin(path)).status]).toEqual([path, 200])
    expect((await admin('/sync', {})).status).toBe(200)
    expect(server.output()).not.toMatch(/ error |request failed/)
    expect(await server.stop()).toEqual({ code: 0, signal: null })
    expect(existsSync(`${a.database}-wal`)).toBe(false)

    const again = await a.startServer({ runtime })
    expect(again.stdout()).toBe('')
    expect(again.output()).not.toContain('Password')
    expect(await again.stop()).toEqual({ code: 0, signal: null })
  })

  test('refuses bad values with one line that names them', async () => {
    const a = area()
    const bad: Record<string, string> = {
      PORT: '65536',
      DATA_DIR: '/dev/null/data',
      ENV_FILE: '/dev/null/env',
      DATABASE_URL: 'postgres://localhost',
      SUB_DOMAIN: 'https://sub.test/',
      SITE_DOMAIN: '-site',
      PANEL_DOMAIN: 'a b',
      PUBLIC_SCHEME: 'ftp',
      ADMIN_PATH: 'a//b',
      PANEL_PASSWORD: 'seven77',
      TRUSTED_PROXIES: '10.0.0.0/33',
      HOST_ISOLATION: 'yes',
      WEB_PROCESSES: '0',
      LOG_LEVEL: 'loud',
      DEFAULT_LANG: 'xx',
      CURRENCY: 'roubles',
      TIMEZONE: 'Mars/Olympus',
      LOCAL_NODE: 'maybe',
      LOCAL_NODE_ADDRESS: 'two words',
      LOCAL_NODE_PORT: '0',
      LOCAL_NODE_SNI: 'http://x',
      LOCAL_NODE_TARGET: 'host-without-port',
      LOCAL_CORE: 'none',
      SYNC_INTERVAL_MS: '1.5',
      PAYMENTS_ENABLED: 'perhaps',
      HWID_FALLBACK_LIMIT: 'many',
      WEBHOOK_URL: 'not a url',
    }
    const work = Object.entries(bad).map(([key, value]) =>
      expectRefusal(a, { runtime, env: { PORT: '0', [key]: value } }, new RegExp(`\\b${key}\\b`)),
    )
    await Promise.all(work)
    await expectRefusal(a, { runtime, env: { PANEL_PASSWORD: 'x'.repeat(1025) } }, /PANEL_PASSWORD/)
    // The whole list: test/unit/process/config.test.ts.
    for (const path of ['/sub/x', 'assets', 'admin/api'])
      await expectRefusal(a, { runtime, env: { ADMIN_PATH: path } }, /ADMIN_PATH/)
    expect(existsSync(a.database)).toBe(false)
  })

  test('a long password works; a port that is taken gives one line', async () => {
    const a = area()
    const password = `${'p'.repeat(1000)} "'\\$#=ü`
    const server = await a.startServer({ runtime, env: { PANEL_PASSWORD: password } })
    expect(server.stdout()).toContain('Panel          http://panel.localhost')
    expect(server.stdout()).toContain('the one in PANEL_PASSWORD')
    expect(server.stdout()).not.toContain('ppp')
    expect(server.stdout()).not.toContain('easy to guess')
    const body = { username: ' ADMIN ', password }
    expect((await server.call('/admin/api/login', { body })).status).toBe(200)
    const blocker = createServer()
    await new Promise<void>((done) => blocker.listen(0, '127.0.0.1', done))
    const { port } = blocker.address() as { port: number }
    await expectRefusal(a, { runtime, env: { PORT: String(port) } }, new RegExp(`PORT.*${port}`))
    await new Promise((done) => blocker.close(done))
  })

  test('LOCAL_NODE_* is applied at each start', async () => {
    const a = area()
    const de1 = () => a.query('select address, port, sni, enabled from nodes')
    const start = async (env: Record<string, string>) =>
      (await a.startServer({ runtime, env })).stop()
    await start({ PANEL_DOMAIN: 'panel.test:8443', LOCAL_NODE_PORT: '2054' })
    expect(de1()).toEqual([{ address: 'panel.test', port: 2054, sni: 'dl.google.com', enabled: 0 }])
    const env = { LOCAL_NODE_ADDRESS: '192.0.2.7', LOCAL_NODE_SNI: 'www.test', LOCAL_NODE: 'on' }
    await start(env)
    expect(de1()).toEqual([{ address: '192.0.2.7', port: 2054, sni: 'www.test', enabled: 1 }])
    await start({})
    expect(de1()).toMatchObject([{ sni: 'dl.google.com', enabled: 0 }])
  })

  test.runIf(process.getuid?.() === 0)('a core that would be root is warned of', async () => {
    const env = { LOCAL_NODE: 'on', XRAY_BIN: '/nonexistent/xray' }
    const server = await area().startServer({ runtime, env })
    await until('the warning', () => server.output().includes(' warn the core runs as root'))
    await server.stop()
  })
})

describe.each(RUNTIMES)('which env file belongs to which database, on %s', (runtime) => {
  const OTHER = '99999999-9999-4999-8999-999999999999'
  const idOf = (a: Area) => /^INSTANCE_ID=(.+)$/m.exec(readFileSync(a.envFile, 'utf8'))?.[1] ?? ''
  const once = async (a: Area, args: string[] = []) =>
    (await a.startServer({ runtime, args })).stop()

  test('refuses an env file without its database, or with another one; --init overrides', async () => {
    const a = area()
    writeFileSync(a.envFile, `INSTANCE_ID=${OTHER}\n`)
    const missing = new RegExp(`\\.env.*${OTHER}.*panel\\.db`)
    await expectRefusal(a, { runtime }, missing)
    expect(existsSync(a.database)).toBe(false)
    mkdirSync(join(a.dir, 'data'), { recursive: true })
    writeFileSync(a.database, '')
    await expectRefusal(a, { runtime }, missing)
    expect(statSync(a.database).size).toBe(0)
    await once(a, ['--init'])
    const own = idOf(a)
    expect(own).not.toBe(OTHER)

    writeFileSync(a.envFile, `INSTANCE_ID=${OTHER}\n`)
    await expectRefusal(a, { runtime }, new RegExp(`${OTHER}.*panel\\.db.*${own}`))
    await once(a, ['--init'])
    expect(idOf(a)).toBe(own)
  })

  test('rebuilds a lost env file around the id; a hand-written one keeps its lines', async () => {
    const a = area()
    await once(a)
    const own = idOf(a)
    const hand = `# my notes\nexport BRAND_NAME="A 'b' #c"\nSUB_DOMAIN=sub.test\n\nUNKNOWN = x\n`
    writeFileSync(a.envFile, hand, { mode: 0o644 })
    await once(a)
    expect(readFileSync(a.envFile, 'utf8')).toBe(`${hand}INSTANCE_ID=${own}\n`)
    expect(mode(a.envFile)).toBe('600')
    const b = area()
    writeFileSync(b.envFile, 'PORT=0\nLOG_LEVEL=info')
    await once(b)
    expect(readFileSync(b.envFile, 'utf8')).toMatch(/^PORT=0\nLOG_LEVEL=info\nINSTANCE_ID=/)
  })
})

describe.each(RUNTIMES)('signals on %s', (runtime) => {
  const headers = { 'x-real-ip': '192.0.2.9' }
  const login = { body: { username: 'nobody', password: 'wrong wrong' }, headers }

  test('SIGTERM finishes the requests under way and exits 0', async () => {
    const a = area()
    const server = await a.startServer({ runtime })
    const port = await addHole(a, server, 'hole')
    const slow = Promise.all([
      ...Array.from({ length: 8 }, () => server.call('/admin/api/login', login)),
      server.admin('/nodes/hole/check', {}),
    ])
    // The reserved attempts are in the database once the requests are in.
    const count = 'select count(*) n from login_attempts'
    await until('all are in', () => a.query<{ n: number }>(count)[0]?.n === 8 && isDialling(port))
    const began = performance.now()
    const exit = server.stop()
    const answers = await slow
    expect(answers.map((answer) => answer.status)).toEqual([...Array(8).fill(401), 200])
    expect(answers.at(-1)?.json).toEqual({ alive: false })
    await expect(server.call('/healthz')).rejects.toThrow()
    expect(await exit).toEqual({ code: 0, signal: null })
    // The check takes 5 s; what keeps its connection open must not hold the end up.
    expect(performance.now() - began).toBeLessThan(7000)
    expect(existsSync(`${a.database}-wal`)).toBe(false)
  })

  test('a second SIGTERM ends at once, a doubled SIGINT counts once', async () => {
    const a = area()
    const busy = async () => {
      const server = await a.startServer({ runtime })
      const port = await addHole(a, server, `hole${server.pid}`)
      const slow = server.admin(`/nodes/hole${server.pid}/check`, {}).then(
        (answer) => answer.status,
        () => 'cut',
      )
      await until('the check is under way', () => isDialling(port))
      return { server, slow }
    }
    const first = await busy()
    first.server.signal('SIGTERM')
    await until('it stops', () => first.server.output().includes('stopping'))
    const began = performance.now()
    await until('300 ms', () => performance.now() - began > 400)
    first.server.signal('SIGTERM')
    expect(await first.server.exited).toEqual({ code: 1, signal: null })
    expect(performance.now() - began).toBeLessThan(2500)
    expect(await first.slow).toBe('cut')

    const second = await busy()
    second.server.signal('SIGINT')
    await until('it stops', () => second.server.output().includes('stopping'))
    second.server.signal('SIGINT')
    expect(await second.slow).toBe(200)
    expect(await second.server.exited).toEqual({ code: 0, signal: null })
  })

  test('the start script leaves no orphan', async () => {
    const a = area()
    const bun = runtimeBinary('bun')
    const command = runtime === 'node' ? ['npm', 'start'] : [bun, 'run', 'start']
    const env = {
      PORT: String(await freePort()),
      DATA_DIR: join(a.dir, 'data'),
      ENV_FILE: a.envFile,
      PATH: `${join(ROOT, 'node_modules/.bin')}:${dirname(bun)}:${process.env.PATH}`,
      npm_config_update_notifier: 'false',
    }
    const server = await a.startServer({ command, cwd: ROOT, env })
    const family = (pid: number): number[] => [pid, ...childrenOf(pid).flatMap(family)]
    const pids = family(server.pid)
    expect(server.output()).toContain(`port=${env.PORT}`)
    await server.stop()
    expect(server.output()).toContain('stopping')
    await until('all have ended', () => !pids.some(isAlive))
    await expect(server.call('/healthz')).rejects.toThrow()
    const [row] = a.query<{ n: number }>('select count(*) n from leases where expires_at > 0')
    expect(row?.n).toBe(0)
  })
})

/** Adds a node at whose port every dial takes its whole time; the port. */
async function addHole(a: Area, server: Server, code: string): Promise<number> {
  const port = await startBlackHole(a)
  const fields = {
    code,
    label: 'Hole',
    address: '127.0.0.1',
    public_key: '',
    short_id: '',
    sni: '',
  }
  expect((await server.admin('/nodes', { ...fields, port })).status).toBe(200)
  return port
}

/** Whether a connection to the black hole waits beside its own three. */
function isDialling(port: number): boolean {
  const to = `:${port.toString(16).toUpperCase().padStart(4, '0')} 02 `
  return readFileSync('/proc/net/tcp', 'utf8').split(to).length > 4
}
