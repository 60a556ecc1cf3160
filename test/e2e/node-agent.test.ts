/** The node program against the real Xray, a real client and the tools of a real machine. */
import { createHash, randomUUID } from 'node:crypto'
import {
  appendFileSync,
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from 'node:fs'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { findCore } from '#test/support/cores.ts'
import type { ExecOptions, Lab, ProxiedReader, Target } from '#test/support/labs/lab.ts'
import { createLab, startTarget, startXrayClient, until } from '#test/support/labs/lab.ts'
import { addStandIn, openForCore, type StandIn } from '#test/support/labs/node-lab.ts'

const PROGRAM = resolve(import.meta.dirname, '../../templates/node-agent.sh')
const OWNER = 'panel-1'
const SHORT_ID = '0123456789abcdef'
const TAGS = ['vless-reality', 'vless-xhttp', 'vless-ws']
// biome-ignore lint/suspicious/noExplicitAny: answers of the program are checked field by field
type Answer = any

let lab: Lab
let target: Target
let xray: string
let dir: string
let machine: StandIn
let keys: { d: string; x: string }

beforeAll(async () => {
  xray = findCore('xray')
  lab = createLab()
  chmodSync(lab.dir, 0o711)
  target = await startTarget(lab)
  const usages: KeyUsage[] = ['deriveBits']
  const pair = (await crypto.subtle.generateKey('X25519', true, usages)) as CryptoKeyPair
  keys = (await crypto.subtle.exportKey('jwk', pair.privateKey)) as typeof keys
})
afterAll(() => lab?.close())

/** Every test starts with a configured node, a running core and no clients. */
beforeEach(async () => {
  await stopCore()
  const home = join(lab.dir, `node-${randomUUID().slice(0, 8)}`)
  dir = join(home, 'state')
  mkdirSync(join(dir, 'tls'), { recursive: true })
  copyFileSync(target.certificateFile, join(dir, 'tls/node.crt'))
  copyFileSync(target.keyFile, join(dir, 'tls/node.key'))
  openForCore(dir)
  openForCore(join(dir, 'tls'), 'node.crt', 'node.key')
  machine = addStandIn(home, dir, [`XRAY_BIN=${xray}`])
  machine.addUnit('xray', [
    `ExecStartPre=/bin/bash ${PROGRAM} prestart`,
    `ExecStart=${xray} run -c ${dir}/config.json`,
    'Restart=no',
  ])
  expect(await configure(parameters())).toMatchObject({ ok: true, restarted: true, live: true })
})

const corePid = () => machine.mainPid('xray')
const startCore = () => lab.exec(machine.systemctl, ['start', 'subpanel-xray'])

async function stopCore() {
  if (dir) await lab.exec(machine.systemctl, ['stop', 'subpanel-xray'])
}

async function call(words: string[], input = '', options: ExecOptions = {}): Promise<Answer> {
  const env = { ...machine.env, ...options.env }
  const result = await lab.exec('bash', [PROGRAM, ...words], { ...options, input, env })
  expect(result).toMatchObject({ code: 0, stderr: '' })
  expect(result.stdout).toMatch(/^[^\n]+\n$/)
  return { ...JSON.parse(result.stdout), ms: result.ms, bytes: result.stdout.length }
}

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')
const clientsFile = (uuids: string[]) => [...uuids.toSorted(), ''].join(' vless\n')
const revisionOf = (uuids: string[]) => sha256(clientsFile(uuids))
const newUuids = (count: number) => Array.from({ length: count }, () => randomUUID())
const adds = (uuids: string[], group = 'vless') => uuids.map((u) => `["+","${u}","${group}"]`)
const removes = (uuids: string[]) => uuids.map((u) => `["-","${u}"]`)

function request(operations: string[], header: object = {}): string {
  const called = { owner: OWNER, node: undefined }
  const fields = { ...called, from: 'any', to: '', force: false, lines: operations.length }
  return [JSON.stringify({ ...fields, ...header }), ...operations, ''].join('\n')
}

const apply = (operations: string[], header: object = {}) =>
  call(['apply'], request(operations, header))

function configure(base: string, header: object = {}): Promise<Answer> {
  const lines = base.split('\n').length - 1
  const fields = { owner: OWNER, node: undefined, config: sha256(base), lines }
  return call(['configure'], `${JSON.stringify({ ...fields, ...header })}\n${base}`)
}

/** An Xray `api` command's output; used to look at and to change the core behind the program. */
const api = async (command: string, ...args: string[]) =>
  (await lab.exec(xray, ['api', command, '-s', `unix://${dir}/api.sock`, ...args])).stdout

async function usersOf(tag: string): Promise<string[]> {
  const users = JSON.parse(await api('inbounduser', `-tag=${tag}`)).users ?? []
  return users.map((user: { email: string }) => user.email).toSorted()
}

/** REALITY with XHTTP behind its port, and WS; all hold the group `vless`. */
function parameters(shortId = SHORT_ID): string {
  return `xray 2
inbound vless-reality
protocol vless
port 443
group vless
flow xtls-rprx-vision
network raw
security reality
target ${target.address}
server-name ${target.serverName}
private-key ${keys.d}
short-id ${shortId}
fallback vless-xhttp
inbound vless-xhttp
protocol vless
socket xhttp
group vless
network xhttp
path /x
security none
inbound vless-ws
protocol vless
port 8443
group vless
network ws
path /w
security tls
certificate node
`
}

/** A client app of one user that connects from an address of its own. */
function startClient(uuid: string, sendThrough = '45.45.45.47'): Promise<ProxiedReader> {
  const address = sendThrough.includes(':') ? 'server6.test' : 'server.test'
  const settings = { address, port: 443, id: uuid, encryption: 'none', flow: 'xtls-rprx-vision' }
  const identity = { serverName: target.serverName, publicKey: keys.x, shortId: SHORT_ID }
  const realitySettings = { ...identity, fingerprint: 'chrome' }
  const streamSettings = { network: 'tcp', security: 'reality', realitySettings }
  const outbound = { protocol: 'vless', sendThrough, settings, streamSettings }
  return startXrayClient(lab, xray, outbound, target.pageUrl)
}

async function expectUsers(uuids: string[]) {
  for (const tag of TAGS) expect(await usersOf(tag)).toEqual(uuids.toSorted())
}

test('an added client reads pages and is counted; what is acknowledged is not sent again', async () => {
  const [uuid, other] = newUuids(2) as [string, string]
  const to = revisionOf([uuid, other])
  const added = await apply(adds([uuid, other]), { from: revisionOf([]), to })
  expect(added).toMatchObject({ ok: true, clients: to, count: 2, added: 2, removed: 0, live: true })
  expect(readFileSync(join(dir, 'clients'), 'utf8')).toBe(clientsFile([uuid, other]))
  await expectUsers([uuid, other])
  const proxy = await startClient(uuid)
  expect(await proxy.read()).toBe('hello')
  expect(await proxy.read('/bytes/100000')).toHaveLength(100_000)

  // A core may count a moment after its client has the bytes.
  const first = await until('all is counted', async () => {
    const answer = await call(['status'])
    return answer.counters?.[0]?.[2] > 100_000 ? answer : null
  })
  expect(first).toMatchObject({ ok: true, owner: OWNER, clients: to, count: 2, live: true })
  expect(first.config).toBe(sha256(parameters()))
  expect(first.core).toMatchObject({ up: true, version: expect.stringMatching(/^\d+\.\d+\.\d+$/) })
  expect(first.counters).toEqual([[uuid, expect.any(Number), expect.any(Number)]])
  expect(first.counters[0][1]).toBeGreaterThan(100)
  const second = await call(['status', first.reading])
  expect(second).toMatchObject({ reading: first.reading, counters: [] })
  await proxy.read()
  const third = await call(['status', first.reading])
  expect(third.counters).toHaveLength(1)
  const repeated = await call(['status', first.reading])
  expect(repeated.counters).toEqual(third.counters)
  expect((await call(['status', repeated.reading])).counters).toEqual([])
  expect((await call(['status', 'something-else'])).counters).toEqual(third.counters)
  expect((await call(['status', repeated.reading])).counters).toEqual([])
})

test.each([
  ['IPv4', '45.45.45.47'],
  ['IPv6', '2001:db8::47'],
])('a removed client is cut off within 2 s, its neighbour is not (%s)', async (_, from) => {
  const [uuid, other] = newUuids(2) as [string, string]
  await apply(adds([uuid, other]))
  const proxy = await startClient(uuid, from)
  const neighbour = await startClient(other, '45.45.45.48')
  const streams = [await proxy.openStream(), await proxy.openStream()]
  const kept = await neighbour.openStream()

  const begin = performance.now()
  const removed = await apply(removes([uuid]))
  expect(removed).toMatchObject({ added: 0, removed: 1, count: 1, live: true, dropped: 2 })
  await Promise.all(streams.map((stream) => stream.exited))
  const ms = Math.round(performance.now() - begin)
  console.log(`remove: answer ${Math.round(removed.ms)} ms, streams ended after ${ms} ms`)
  expect(ms).toBeLessThan(2000)
  expect(await proxy.read()).toBe('')
  expect(await neighbour.read()).toBe('hello')
  const length = kept.output().length
  await until('the other stream goes on', () => kept.output().length > length)
  expect((await call(['drop', other])).dropped).toBeGreaterThanOrEqual(1)
  await kept.exited
  expect(await neighbour.read()).toBe('hello')
})

test('works without the right to close sockets and without ss; says so without flock', async () => {
  const [uuid, other] = newUuids(2) as [string, string]
  await apply(adds([uuid, other]))
  const stream = await (await startClient(uuid)).openStream()
  const { env } = machine
  // A process of the lab has its own mounts.
  const hide = (tool: string) => `mount --bind /dev/null $(command -v ${tool}) && bash ${PROGRAM}`
  const run = async (script: string, input = ''): Promise<Answer> =>
    JSON.parse((await lab.exec('sh', ['-c', script], { env, input })).stdout)
  const unprivileged = `setpriv --bounding-set -net_admin --inh-caps -net_admin bash ${PROGRAM}`
  expect(await run(`${unprivileged} drop ${uuid}`)).toMatchObject({ ok: true, dropped: 0 })
  const removed = await run(`${hide('ss')} apply`, request(removes([uuid])))
  expect(removed).toMatchObject({ ok: true, removed: 1, live: true, dropped: 0 })
  const refused = await run(`${hide('flock')} apply`, request(removes([other])))
  expect(refused).toMatchObject({ ok: false, error: 'fault' })
  await expectUsers([other])
  expect((await call(['drop', uuid])).dropped).toBe(1)
  await stream.exited
})

test('a node with a name is changed under this name only', async () => {
  const [uuid] = newUuids(1) as [string]
  await apply(adds([uuid]))
  const names = ['clients', 'config.json', 'core.params', 'owner']
  const state = () => names.map((name) => readFileSync(join(dir, name), 'utf8'))
  const before = state()
  appendFileSync(machine.conf, 'NODE=near\n')
  const other = parameters().replace('short-id ab', 'short-id cd')
  const calls = (node: object, last: string[]) => [
    apply(removes([uuid]), { ...node, force: true }),
    configure(other, node),
    call(
      ['hysteria'],
      `${JSON.stringify({ owner: OWNER, ...node, config: sha256(''), lines: 0 })}\n`,
    ),
    call(['retire', OWNER, ...last]),
  ]
  for (const answers of [calls({}, []), calls({ node: 'far' }, ['far'])]) {
    for (const answer of answers) {
      expect(await answer).toMatchObject({
        ...{ ok: false, error: 'other-node', message: 'this is the node near' },
      })
    }
  }
  expect(state()).toEqual(before)
  await expectUsers([uuid])
  expect(await call(['status'])).toMatchObject({ node: 'near', live: true })
  expect(await apply(removes([uuid]), { node: 'near' })).toMatchObject({ removed: 1, live: true })
  expect(await configure(other, { node: 'near' })).toMatchObject({ ok: true, live: true })
  expect(await call(['retire', OWNER, 'near'])).toMatchObject({ ok: true })
  appendFileSync(machine.conf, 'NODE=far\n')
  expect(await call(['status'])).toMatchObject({ error: 'fault' })
})

test('refusals change nothing', async () => {
  const [uuid, next] = newUuids(2) as [string, string]
  const clients = (await apply(adds([uuid]))).clients
  const names = ['clients', 'config.json', 'core.params', 'owner']
  const state = () => names.map((name) => readFileSync(join(dir, name), 'utf8'))
  const before = state()
  const add = adds([next])
  const refused = async (error: string, answer: Promise<Answer>) =>
    expect(await answer).toMatchObject({ ok: false, error, message: expect.any(String) })

  const stale = apply(add, { from: sha256('x') })
  await refused('stale', stale)
  expect((await stale).clients).toBe(clients)
  await refused('owner', apply(removes([uuid]), { owner: 'panel-2' }))
  await refused('owner', apply([], { owner: 'panel-2', from: 'none' }))
  await refused('owner', configure(parameters(), { owner: 'panel-2' }))
  for (const field of [
    { to: sha256('x') },
    { lines: 2 },
    { lines: -1 },
    { owner: 'a b' },
    { x: 1 },
  ])
    await refused('bad-input', apply(add, field))
  await refused('bad-input', call(['apply'], ''))
  await refused('bad-input', call(['apply'], request(add).slice(0, -1)))
  for (const line of [
    '',
    `["+","${next}"]`,
    `["+","${next.toUpperCase()}","vless"]`,
    `["+","${next}","a b"]`,
    `["+","${next}","vless"] `,
    `["+","$(touch ${dir}/pwned)","vless"]`,
    `["-","${next}","vless"]`,
    `["*","${next}"]`,
    `["-","${next}\\u0000"]`,
  ])
    await refused('bad-input', apply([...add, line]))
  await refused('bad-input', configure(parameters(), { config: sha256('x') }))
  await refused('bad-config', configure(parameters().replace('ol vless', 'ol nonsense')))
  await refused('bad-config', configure(parameters().replace('group vless', 'group a" b')))
  await refused('unknown-verb', call(['reboot']))
  await refused('unknown-verb', call(['status', 'a', 'b']))
  await refused('bad-input', call(['status', '$(id)']))
  await refused('bad-input', call(['drop', 'x']))

  expect(state()).toEqual(before)
  expect(readdirSync(dir).filter((name) => /pwned|dirty|^\.call/.test(name))).toEqual([])
  await expectUsers([uuid])
  const added = await apply(add, { owner: 'panel-2' })
  expect(added).toMatchObject({ ok: true, added: 1 })
  expect(await apply([], { owner: 'panel-2', force: true })).toMatchObject({ ok: true })
  expect((await call(['status'])).owner).toBe('panel-2')
})

test('a killed core starts again after prestart, serves at once and is another epoch', async () => {
  const [uuid] = newUuids(1) as [string]
  await apply(adds([uuid]))
  const proxy = await startClient(uuid)
  await proxy.read('/bytes/50000')
  const before = await call(['status'])
  expect(before.counters).toHaveLength(1)

  process.kill(corePid(), 'SIGKILL')
  const [late] = newUuids(1) as [string]
  expect(await apply(adds([late]))).toMatchObject({ ok: true, added: 1, live: false, dropped: 0 })
  const down = await call(['status', before.reading])
  expect(down).toMatchObject({ live: false, counters: [], count: 2 })
  expect(down.core).toMatchObject({ up: false, uptime_s: null, epoch: null })
  expect(existsSync(join(dir, 'api.sock'))).toBe(true)
  await startCore()
  expect(await until('the page is served', () => proxy.read())).toBe('hello')
  const after = await call(['status', down.reading])
  expect(after).toMatchObject({ live: true, core: { up: true } })
  expect(after.core.epoch).not.toBe(before.core.epoch)
  expect(after.counters).toEqual([[uuid, expect.any(Number), expect.any(Number)]])
  expect(after.counters[0][2]).toBeLessThan(before.counters[0][2])
  expect((await call(['status'])).core.epoch).toBe(after.core.epoch)
  expect(await call(['prestart'])).toMatchObject({ ok: true, live: true })
  await expectUsers([uuid, late])
})

test('status repairs what an interrupted call left and what drifted', async () => {
  const [a, b, stranger] = newUuids(3) as [string, string, string]
  await apply(adds([a, b]))
  writeFileSync(join(dir, 'dirty'), '')
  writeFileSync(join(dir, 'config.json'), '{}')
  await api('rmu', '-tag=vless-ws', a)
  const client = { id: stranger, email: stranger, flow: 'xtls-rprx-vision' }
  const settings = { decryption: 'none', clients: [client] }
  const inbound = { tag: 'vless-reality', port: 1, protocol: 'vless', settings }
  writeFileSync(join(dir, 'adu.json'), JSON.stringify({ inbounds: [inbound] }))
  await api('adu', join(dir, 'adu.json'))
  const stream = await (await startClient(stranger)).openStream()
  expect(await call(['status'])).toMatchObject({ live: true })
  await stream.exited
  await expectUsers([a, b])
  expect(readFileSync(join(dir, 'config.json'), 'utf8')).toContain(a)
  expect(readdirSync(dir)).not.toContain('dirty')

  await api('rmu', '-tag=vless-reality', b)
  expect(await call(['status'])).toMatchObject({ live: true })
  expect(await usersOf('vless-reality')).toEqual([a, b].toSorted())
})

test('a hanging core is reported as down in bounded time and repaired when it goes on', async () => {
  const [a, b] = newUuids(2) as [string, string]
  await apply(adds([a]))
  process.kill(corePid(), 'SIGSTOP')
  const status = await call(['status'])
  console.log(`status of a hanging core: ${Math.round(status.ms)} ms`)
  expect(status).toMatchObject({ ok: true, count: 1, live: false, core: { up: false } })
  expect(status.ms).toBeLessThan(4000)
  expect(await apply([...adds([b]), ...removes([a])])).toMatchObject({ count: 1, live: false })
  process.kill(corePid(), 'SIGCONT')
  expect(await call(['status'])).toMatchObject({ live: true, core: { up: true } })
  await expectUsers([b])
})

test('the words also come from a forced command or the first line of a socket left open', async () => {
  const env = { SSH_ORIGINAL_COMMAND: 'version' }
  expect(await call([], '', { env })).toMatchObject({ ok: true, program: 2 })
  const [uuid] = newUuids(1) as [string]
  const input = join(lab.dir, 'input')
  writeFileSync(input, `apply\n${request(adds([uuid]))}`)
  const open = `coproc { exec bash ${PROGRAM} >${input}.out; }; cat ${input} >&"\${COPROC[1]}"; wait`
  const result = await lab.exec('bash', ['-c', open], {
    env: machine.env,
    timeoutMs: 5000,
  })
  expect(result.code).toBe(0)
  expect(JSON.parse(readFileSync(`${input}.out`, 'utf8'))).toMatchObject({ added: 1, live: true })
})

test('small answers: list, metrics, version, prestart during a locked call, no binary', async () => {
  const [uuid] = newUuids(1) as [string]
  await apply(adds([uuid], 'vless'))
  expect((await call(['list'])).lines).toEqual([[uuid, 'vless']])
  const metrics = await call(['metrics'])
  expect(metrics).toMatchObject({ core_up: true, clients: 1, mem_total_mb: expect.any(Number) })
  expect(metrics.mem_used_mb).toBeLessThan(metrics.mem_total_mb)
  const lock = lab.spawn('flock', [join(dir, 'lock'), 'sleep', '60'])
  expect(await call(['prestart'])).toMatchObject({ live: true })
  process.kill(-lock.pid, 'SIGKILL')
  writeFileSync(machine.conf, 'XRAY_BIN=/nonexistent\n')
  expect(await call(['version'])).toMatchObject({ ok: true, core_version: null })
  expect(await configure(parameters())).toMatchObject({ ok: false, error: 'no-core' })
  expect(await apply(removes([uuid]))).toMatchObject({ ok: true, count: 0, live: false })
})

test('10,000 clients', async () => {
  const uuids = newUuids(10_000)
  const added = await apply(adds(uuids), { from: 'none', to: revisionOf(uuids) })
  expect(added).toMatchObject({ ok: true, added: 10_000, count: 10_000, live: true })
  const status = await call(['status'])
  expect(status).toMatchObject({ count: 10_000, live: true, counters: [] })
  expect(status.bytes).toBeLessThan(1024)
  const one = await apply(adds(newUuids(1)))
  const removed = await apply(removes(uuids.slice(0, 5000)))
  expect(removed).toMatchObject({ removed: 5000, count: 5001, live: true })
  writeFileSync(join(dir, 'dirty'), '')
  const repaired = await call(['status'])
  expect(await configure(parameters())).toMatchObject({ ok: true, restarted: false, live: true })
  const whole = await configure(parameters('ab'))
  expect(whole).toMatchObject({ ok: true, restarted: true, live: true })
  const ms = (answer: Answer) => `${Math.round(answer.ms)} ms`
  console.log(
    `10,000 clients in ${TAGS.length} inbounds: all added ${ms(added)}, status ${ms(status)} and ` +
      `${status.bytes} bytes, one added ${ms(one)}, 5,000 removed ${ms(removed)}, ` +
      `compared ${ms(repaired)}, configured ${ms(whole)}`,
  )
  // Wanted are 6 s; beside other suites it fails beyond three times that.
  expect(added.ms).toBeLessThan(process.env.FULL === '1' ? 6000 : 18_000)
})

test('shellcheck finds nothing', async () => {
  const programs = [PROGRAM, resolve(PROGRAM, '../hy2-auth')]
  expect(await lab.exec('shellcheck', programs)).toMatchObject({ code: 0, stdout: '' })
})
