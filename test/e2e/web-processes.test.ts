/** WEB_PROCESSES=2: two processes answer on one port, and nobody can tell which. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { afterEach, describe, expect, test } from 'vitest'
import {
  type Area,
  createArea,
  freePort,
  isAlive,
  PASSWORD,
  PLAIN,
  RUNTIMES,
  type Runtime,
  type Server,
  startBlackHole,
} from '#test/support/drivers/process.ts'
import { type Line, openLines, webProcesses } from '#test/support/drivers/web-processes.ts'
import { until } from '#test/support/labs/lab.ts'

const areas: Area[] = []
const lines: Line[] = []
afterEach(async () => {
  for (const line of lines.splice(0)) line.close()
  await Promise.all(areas.splice(0).map((made) => made.close()))
})

const TWO = { WEB_PROCESSES: '2' }

async function startTwo(runtime: Runtime): Promise<{ a: Area; server: Server }> {
  const a = createArea({ ...PLAIN, ...TWO })
  areas.push(a)
  return { a, server: await a.startServer({ runtime }) }
}

/** A connection to each of the two. */
async function both(server: Server): Promise<[Line, Line]> {
  const opened = await openLines(server)
  lines.push(...opened)
  expect(opened).toHaveLength(2)
  return opened as [Line, Line]
}

const logIn = async (line: Line, password = PASSWORD, ip = '192.0.2.77') =>
  line.call('/admin/api/login', {
    body: { username: 'admin', password },
    headers: { 'x-real-ip': ip, 'content-type': 'application/json' },
  })

/** A session, as the header that has it. */
async function session(line: Line): Promise<{ cookie: string }> {
  const answer = await logIn(line)
  const cookie = /panel_admin=[^;]+/.exec(answer.headers.get('set-cookie') ?? '')?.[0]
  if (!cookie) throw new Error(`login: ${answer.status} ${answer.text}`)
  return { cookie }
}

/** Has a check of a node under way over this connection, which takes 5 s. `end`: the status of its answer, or that there is none. */
async function beginSlow(
  a: Area,
  server: Server,
  line: Line,
): Promise<{ end: Promise<number | 'cut'> }> {
  const port = await startBlackHole(a)
  const code = `hole${line.pid}`
  const keys = { public_key: '', short_id: '', sni: '' }
  const node = { code, label: 'Hole', address: '127.0.0.1', port, ...keys }
  expect((await server.admin('/nodes', node)).status).toBe(200)
  const headers = await session(line)
  const end = line.call(`/admin/api/nodes/${code}/check`, { body: {}, headers }).then(
    ({ status }) => status,
    () => 'cut' as const,
  )
  const to = `:${port.toString(16).toUpperCase().padStart(4, '0')} 02 `
  // Beside the three that keep the hole full.
  await until('it is under way', () => readFileSync('/proc/net/tcp', 'utf8').split(to).length > 4)
  return { end }
}

const APP = { 'user-agent': 'Happ/3.5.0' }

/** The path of a user's list. */
const listOf = async (server: Server, id: number) =>
  `/sub/${(await server.admin(`/users/${id}`)).json.token}`

const refuses = (url: string) =>
  fetch(`${url}/healthz`, { headers: { connection: 'close' } }).then(
    () => false,
    () => true,
  )

describe.each(RUNTIMES)('two web processes on %s', (runtime) => {
  test('both answer; what runs once runs in their parent', async () => {
    const { a, server } = await startTwo(runtime)
    const pids = webProcesses(server.pid)
    expect(pids).toHaveLength(2)
    const [one, two] = await both(server)
    expect([one.pid, two.pid]).toEqual(pids)
    expect(server.output()).toMatch(/ info listening host=127\.0\.0\.1 port=\d+ processes=2\n/)

    await until('the bot runs', () => server.output().includes('the bot idles'))
    const said = (text: string) => server.output().split(text).length - 1
    for (const once of ['role taken role=scheduler', 'the bot idles', 'Password', ' addresses '])
      expect([once, said(once)]).toEqual([once, 1])
    const owners = a.query<{ owner: string }>('select owner from leases')
    expect(owners.map(({ owner }) => owner.split(':')[1])).toEqual([
      String(server.pid),
      String(server.pid),
    ])
    expect(await server.stop()).toEqual({ code: 0, signal: null })
    for (const number of [1, 2])
      expect(server.output()).toMatch(new RegExp(`stopping signal=\\w+ process=${number}\\n`))
    expect(existsSync(`${a.database}-wal`)).toBe(false)
    expect(pids.filter(isAlive)).toEqual([])
  })

  test('a session counts in both, and so do wrong passwords', async () => {
    const { server } = await startTwo(runtime)
    const [one, two] = await both(server)
    const headers = await session(one)
    expect((await two.call('/admin/api/plans', { headers })).status).toBe(200)
    const statuses: number[] = []
    for (let i = 0; i < 7; i++)
      for (const line of [one, two])
        statuses.push((await logIn(line, `wrong guess ${i}`, '198.51.100.9')).status)
    expect(statuses).toEqual([...Array(10).fill(401), ...Array(4).fill(429)])
    expect((await two.call('/admin/api/logout', { body: {}, headers })).status).toBe(200)
    expect((await one.call('/admin/api/plans', { headers })).status).toBe(401)
  })

  test('what is counted in memory is counted for both', async () => {
    const { server } = await startTwo(runtime)
    const [one, two] = await both(server)
    const guide = { label: 'nl', address: 'nl.test', include_ws: false, include_hysteria2: false }
    const { json } = await server.admin('/nodes/provision-guide', guide)
    const path = `/nodes/register/${/install\/([\w-]+)\.sh/.exec(json.command)?.[1]}`
    const statuses: number[] = []
    for (let i = 0; i < 6; i++)
      for (const line of [one, two])
        statuses.push((await line.call(path, { body: { status: 'failed' } })).status)
    expect(statuses).toEqual([...Array(10).fill(200), 429, 429])
  })

  test('one that is killed is replaced, and few requests notice', async () => {
    const { a, server } = await startTwo(runtime)
    const granted = await server.admin('/users/7/grant', { node: 'de1', plan: '1m' })
    expect(granted.status).toBe(200)
    const path = await listOf(server, 7)
    const linkOf = async (line: Line) =>
      (await line.call(path, { headers: APP })).headers.get('profile-web-page-url')
    const [one] = await both(server)
    const link = await linkOf(one)
    expect(link).toContain('//sub.localhost')
    // Counts from the next start of the service, and not of one process.
    writeFileSync(a.envFile, `${readFileSync(a.envFile, 'utf8')}SUB_DOMAIN=other.test\n`)

    const ATONCE = 8
    let over = false
    const failures: string[] = []
    let answered = 0
    const asking = Array.from({ length: ATONCE }, async () => {
      while (!over) {
        await fetch(server.url + path, {
          headers: { connection: 'close', ...APP },
          signal: AbortSignal.timeout(5000),
        }).then(
          async (response) => {
            await response.text()
            if (response.status === 200) answered++
            else failures.push(String(response.status))
          },
          (error) => failures.push(String(error.cause?.code ?? error.name)),
        )
      }
    })
    const before = webProcesses(server.pid)
    await until('requests are answered', () => answered > 50)
    process.kill(before[0] as number, 'SIGKILL')
    const after = await until('another one is there', () => {
      const now = webProcesses(server.pid).filter((pid) => pid !== before[0])
      return now.length === 2 && now
    })
    const [renewed] = (await both(server)).filter(({ pid }) => pid !== before[1]) as [Line]
    expect(after).toContain(renewed.pid)
    expect(await linkOf(renewed)).toBe(link)
    const soFar = answered
    await until('and it goes on', () => answered > soFar + 50)
    over = true
    await Promise.all(asking)
    // Those that were under way in the one that was killed, or waited for it.
    console.log(`${runtime}: of ${answered} requests ${failures.length} failed: ${failures}`)
    expect(failures.length).toBeLessThanOrEqual(ATONCE)
    expect(server.output()).toContain(
      ' warn a web process has ended and is started again ended=1 reason=SIGKILL in=100ms\n',
    )
    expect(server.output().split('role taken role=scheduler')).toHaveLength(2)
  })

  test('a restore that was cut off is completed by the one that takes the place', async () => {
    const { a, server } = await startTwo(runtime)
    // As after the commit, before the env file is written.
    const restored = `${readFileSync(a.envFile, 'utf8')}BRAND_NAME=Restored\n`
    a.write('update instance set pending_env = ?', restored)
    process.kill(webProcesses(server.pid)[0] as number, 'SIGKILL')
    await until('it is complete', () => readFileSync(a.envFile, 'utf8') === restored)
    await until('and forgotten', () =>
      a.query('select 1 from instance where pending_env is null').at(0),
    )
  })

  test('one that ends at once is started ever more slowly; one on its own goes on', async () => {
    const { a, server } = await startTwo(runtime)
    // As after an update of the program under a running service.
    a.write("insert into __drizzle_migrations (hash, created_at) values ('newer', 9e12)")
    const [victim] = webProcesses(server.pid) as [number]
    const began = performance.now()
    process.kill(victim, 'SIGKILL')
    const refusal = 'subpanel: the program was changed while the service ran: restart it\n'
    const starts = () => server.output().split('is started again').length - 1
    await until('four starts', () => starts() === 4)
    expect(performance.now() - began).toBeGreaterThan(100 + 200 + 400)
    expect(server.output()).toContain(refusal)
    for (const ms of [100, 200, 400, 800]) expect(server.output()).toContain(` in=${ms}ms\n`)
    for (let i = 0; i < 20; i++) expect(await refuses(server.url)).toBe(false)
    a.write("delete from __drizzle_migrations where hash = 'newer'")
    await until('both are there', async () => (await openBoth(server)) === 2)
    expect(await server.stop()).toEqual({ code: 0, signal: null })
  })

  test('SIGTERM finishes what is under way in each', async () => {
    const { a, server } = await startTwo(runtime)
    const pids = webProcesses(server.pid)
    const slow = []
    for (const line of await both(server)) slow.push(await beginSlow(a, server, line))
    const began = performance.now()
    const exit = server.stop()
    await until('no more are taken', () => refuses(server.url))
    expect(await Promise.all(slow.map(({ end }) => end))).toEqual([200, 200])
    expect(await exit).toEqual({ code: 0, signal: null })
    expect(performance.now() - began).toBeLessThan(7000)
    expect(pids.filter(isAlive)).toEqual([])
  })

  test('a second SIGTERM ends both at once', async () => {
    const { a, server } = await startTwo(runtime)
    const pids = webProcesses(server.pid)
    const [one] = await both(server)
    const slow = await beginSlow(a, server, one)
    server.signal('SIGTERM')
    await until('it stops', () => server.output().includes('stopping'))
    await new Promise((resolve) => setTimeout(resolve, 400))
    const began = performance.now()
    server.signal('SIGTERM')
    expect(await server.exited).toEqual({ code: 1, signal: null })
    await until('all have ended', () => !pids.some(isAlive))
    expect(performance.now() - began).toBeLessThan(2500)
    expect(await slow.end).toBe('cut')
  })

  test('nobody listens without the parent: what is under way is finished', async () => {
    const { a, server } = await startTwo(runtime)
    const pids = webProcesses(server.pid)
    const [one] = await both(server)
    const slow = await beginSlow(a, server, one)
    const began = performance.now()
    process.kill(server.pid, 'SIGKILL')
    await until('nobody listens', () => refuses(server.url))
    expect(performance.now() - began).toBeLessThan(2000)
    expect(await slow.end).toBe(200)
    await until('they have ended', () => !pids.some(isAlive))
    const again = await a.startServer({ runtime, env: { PORT: new URL(server.url).port } })
    expect(await again.stop()).toEqual({ code: 0, signal: null })
  })

  test('a port that another service has is refused, whoever of the two shares it', async () => {
    const { server } = await startTwo(runtime)
    const { port } = new URL(server.url)
    const other = createArea(PLAIN)
    areas.push(other)
    const blocker = createServer()
    await new Promise<void>((done) => blocker.listen(0, '127.0.0.1', done))
    const blocked = String((blocker.address() as { port: number }).port)
    for (const env of [{ PORT: port, ...TWO }, { PORT: port }, { PORT: blocked, ...TWO }]) {
      const { code, output } = await other.run({ runtime, env })
      const lines = output.split('\n').filter((line) => line.startsWith('subpanel:'))
      const line = `subpanel: PORT ${env.PORT} is in use on 127.0.0.1, perhaps by another Subpanel: set PORT to another one`
      expect({ code, lines }).toEqual({ code: 1, lines: [line] })
    }
    await new Promise((done) => blocker.close(done))
    // Two that come at the same moment.
    const third = createArea(PLAIN)
    areas.push(third)
    const env = { PORT: String(await freePort()), ...TWO }
    const rivals = [other, third].map((one) => one.spawn({ runtime, env }))
    const won = await until('one listens', () =>
      rivals.find((one) => one.output().includes('listening')),
    )
    const lost = rivals.find((one) => one !== won)
    expect(await lost?.exited).toEqual({ code: 1, signal: null })
    expect(await won.stop()).toEqual({ code: 0, signal: null })
  })

  test('a restore by one is seen by the other at once', async () => {
    const { server } = await startTwo(runtime)
    const [one, two] = await both(server)
    const saveBrand = (name: string) => server.admin('/settings/brand', { brand_name: name })
    expect((await saveBrand('Before')).status).toBe(200)
    expect((await server.admin('/users/7/grant', { node: 'de1', plan: '1m' })).status).toBe(200)
    const archive = await server.download('/backup')
    expect((await saveBrand('After')).status).toBe(200)
    expect((await server.admin('/users/8/grant', { node: 'de1', plan: '1m' })).status).toBe(200)
    const [kept, lost] = [await listOf(server, 7), await listOf(server, 8)]

    const seen: { pid: number; asked: number; state: string }[] = []
    let over = false
    const look = async ({ pid, call }: Line) => {
      while (!over) {
        const asked = performance.now()
        const list = await call(kept, { headers: APP })
        const other = await call(lost, { headers: APP })
        const title = list.headers.get('profile-title')?.replace('base64:', '') ?? ''
        const brand = Buffer.from(title, 'base64').toString('utf8')
        seen.push({ pid, asked, state: `${brand} ${list.status} ${other.status}` })
      }
    }
    const looking = [one, two].map(look)
    const statesOf = (pid: number, from: number) => [
      ...new Set(seen.filter((s) => s.pid === pid && s.asked >= from).map((s) => s.state)),
    ]
    await until('both have been asked', () => [one, two].every(({ pid }) => statesOf(pid, 0)[0]))
    for (const { pid } of [one, two]) expect(statesOf(pid, 0)).toEqual(['After 200 200'])
    const answer = await server.restore(archive)
    const acknowledged = performance.now()
    expect(answer.status).toBe(200)
    await until('both have been asked since', () =>
      [one, two].every(
        ({ pid }) => seen.filter((s) => s.pid === pid && s.asked >= acknowledged).length > 20,
      ),
    )
    over = true
    await Promise.all(looking)
    for (const { pid } of [one, two])
      expect(statesOf(pid, acknowledged)).toEqual(['Before 200 404'])
    expect(await server.stop()).toEqual({ code: 0, signal: null })
  })
})

/** How many of the two can be reached. */
async function openBoth(server: Server): Promise<number> {
  if (webProcesses(server.pid).length < 2) return 0
  const opened = await openLines(server)
  for (const line of opened) line.close()
  return opened.length
}
