/**
 * What the management key is worth (SECURITY.md): whoever has it runs no command and writes no file on a server but those of
 * the node program, which runs as root there.
 */
import { spawn } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join, resolve } from 'node:path'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { findCore } from '#test/support/cores.ts'
import { attacks, CLIENT, withHeader, xrayText } from '#test/support/drivers/node-attacks.ts'
import { ROOT } from '#test/support/drivers/process.ts'
import {
  createLab,
  type Lab,
  startTarget,
  startXrayClient,
  type Target,
} from '#test/support/labs/lab.ts'
import { addServer, type NodeServer } from '#test/support/labs/node-lab.ts'

/** Another file to attack. */
const PROGRAM = process.env.NODE_PROGRAM ?? join(ROOT, 'templates/node-agent.sh')
const OWNER = 'panel-1'
/** All that may be in the state folder (docs/node-program.md). */
const STATE =
  `owner clients program core.params config.json hysteria.params hysteria.yaml hy2-users dirty unread
  unread.hysteria seen acked pending lock tls`.split(/\s+/)
// biome-ignore lint/suspicious/noExplicitAny: answers of the program are checked field by field
type Answer = any

let lab: Lab
let target: Target
let server: NodeServer
let outside: string
let keys: { d: string; x: string }

beforeAll(async () => {
  lab = createLab()
  target = await startTarget(lab)
  server = addServer(lab, 1, { hysteria: true, sni: target.serverName })
  outside = join(lab.dir, 'outside')
  mkdirSync(outside, { mode: 0o777 })
  chmodSync(outside, 0o777)
  // Whoever runs it was reached.
  const hook = join(lab.dir, 'hook.sh')
  writeFileSync(hook, `#!/bin/sh\ntouch ${outside}/hook\n`, { mode: 0o755 })
  const pair = (await crypto.subtle.generateKey('X25519', true, ['deriveBits'])) as CryptoKeyPair
  keys = (await crypto.subtle.exportKey('jwk', pair.privateKey)) as typeof keys
  await lab.exec(join(server.dir, '../systemctl'), ['boot'], { machine: server.machine })
  expect(await configure()).toMatchObject({ ok: true, live: true })
  expect(await hysteria()).toMatchObject({ ok: true, live: true })
  expect(await add('auth=abcdefgh')).toMatchObject({ ok: true, live: true })
})
afterAll(() => lab?.close())

/** Calls the program as sshd does for the management key. */
async function call(words: string, input: string | Buffer = '', env = {}): Promise<Answer> {
  const options = { machine: server.machine, input, env: { ...server.env, ...env } }
  const { stdout } = await lab.exec('bash', [PROGRAM], {
    ...options,
    env: { ...options.env, SSH_ORIGINAL_COMMAND: words },
  })
  return JSON.parse(stdout)
}

const parameters = () => `xray 2
inbound n1.reality
protocol vless
port 443
group n1
flow xtls-rprx-vision
network raw
security reality
target ${target.address}
server-name ${target.serverName}
private-key ${keys.d}
short-id ab
`
const configure = () => call('configure', withHeader(parameters(), OWNER))
const hysteria = () => call('hysteria', withHeader('hysteria 2\nport 443\n', OWNER))
const add = (...words: string[]) => {
  const header = { owner: OWNER, from: 'any', to: '', force: false, lines: 1 }
  const operation = ['+', CLIENT, 'n1', ...words]
  return call('apply', `${JSON.stringify(header)}\n${JSON.stringify(operation)}\n`)
}

/** What is on the server beside the program's state, the service of a unit and its logs. */
const rest = () =>
  ['etc', 'units', 'ssh', '.'].flatMap((folder) =>
    readdirSync(join(server.dir, '..', folder)).map((name) => {
      const path = join(server.dir, '..', folder, name)
      return folder === '.' ? name : `${name} ${readFileSync(path, 'utf8')}`
    }),
  )

/** Every text in a JSON value, with the keys that lead to it. */
function textsOf(value: unknown, path = ''): [path: string, text: string][] {
  if (typeof value === 'string') return [[path, value]]
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, inner]) =>
    textsOf(inner, Array.isArray(value) ? path : `${path}.${key}`),
  )
}

/** What stands in the cores' configurations names no file but the node's certificate, and no command but our own. */
function expectHarmlessFiles() {
  const config = JSON.parse(readFileSync(join(server.dir, 'config.json'), 'utf8'))
  expect(Object.keys(config).sort()).toEqual(
    ['api', 'inbounds', 'log', 'outbounds', 'policy', 'routing', 'stats'].sort(),
  )
  expect(config.log).toEqual({ loglevel: 'warning', access: 'none' })
  const own = ['.inbounds.streamSettings.tlsSettings.certificates', '.api.listen']
  const may = /\.(path|host|serviceName|Host)$|\.certificates\.(certificate|key)$/
  for (const [path, text] of textsOf(config))
    if (/^[/.]/.test(text) && !may.test(path))
      expect(own.some((begin) => path.startsWith(begin))).toBe(true)
  for (const { listen } of config.inbounds)
    if (listen !== undefined) expect(listen).toMatch(/^@subpanel\.|^[0-9.]+$/)
  const yaml = readFileSync(join(server.dir, 'hysteria.yaml'), 'utf8').split('\n')
  expect(yaml.map((line) => line.split(':')[0])).toEqual(
    expect.arrayContaining(['listen', 'tls', 'auth', 'trafficStats', 'acl']),
  )
  expect(
    yaml.filter((line) =>
      /^auth: \{type: command, command: "[^"]*\/templates\/hy2-auth"\}$/.test(line),
    ),
  ).toHaveLength(1)
  expect(yaml.filter((line) => /command/.test(line))).toHaveLength(1)
}

/** Nothing happened outside, and inside nothing but what the program keeps there. */
function expectNothing() {
  expect(readdirSync(outside)).toEqual([])
  expect(readdirSync(server.dir).filter((name) => !STATE.includes(name))).toEqual([])
  expect(existsSync(join(server.dir, 'tls/node.key'))).toBe(true)
  expect(readdirSync(join(server.dir, 'tls')).sort()).toEqual(['node.crt', 'node.key'])
}

test('the texts that the attacks are made of are taken without them', async () => {
  const web = { transport: 'network ws\npath /a\nsecurity none', target: '', identity: '' }
  const tls = { transport: 'network raw\nsecurity tls', target: 'certificate node', identity: '' }
  for (const parts of [{}, web, tls, { rest: 'fallback port=80 path=/a sni=a' }])
    expect(await call('configure', withHeader(xrayText(parts), OWNER))).toMatchObject({ ok: true })
  expect(await add('auth=abcdefgh', 'flow=none', 'secret.trojan=a%22')).toMatchObject({ ok: true })
  expect(
    await call('hysteria', withHeader('hysteria 2\nport 443\nobfs abc%22\n', OWNER)),
  ).toMatchObject({ ok: true })
})

test('no configuration, client, header or word of a caller runs a command or names a file', {
  timeout: 600_000,
}, async () => {
  const before = rest()
  const all = attacks(OWNER, server.dir, outside)
  const told: Record<string, number> = {}
  for (const attack of all) {
    const answer = await call(attack.words, attack.input)
    const outcome = answer.ok ? 'taken as harmless' : answer.error
    told[outcome] = (told[outcome] ?? 0) + 1
    expect([attack.name, outcome]).toEqual([
      attack.name,
      expect.stringMatching(/^(taken as harmless|bad-config|bad-input|unknown-verb)$/),
    ])
    expect([attack.name, readdirSync(outside)]).toEqual([attack.name, []])
    expectNothing()
    expectHarmlessFiles()
  }
  console.log(`${all.length} attacks: ${JSON.stringify(told)}`)
  expect(all.length).toBeGreaterThan(140)
  expect(rest()).toEqual(before)
})

test('afterwards the server serves', async () => {
  expect(await configure()).toMatchObject({ ok: true })
  expect(await hysteria()).toMatchObject({ ok: true })
  expect(await add('auth=abcdefgh')).toMatchObject({ ok: true })
  expect(await call('status')).toMatchObject({
    live: true,
    core: { up: true },
    hysteria: { up: true },
  })
  const settings = {
    address: server.address,
    port: 443,
    id: CLIENT,
    encryption: 'none',
    flow: 'xtls-rprx-vision',
  }
  const identity = { serverName: target.serverName, publicKey: keys.x, shortId: 'ab' }
  const streamSettings = {
    network: 'tcp',
    security: 'reality',
    realitySettings: { ...identity, fingerprint: 'chrome' },
  }
  const outbound = { protocol: 'vless', settings, streamSettings }
  const client = await startXrayClient(lab, findCore('xray'), outbound, target.pageUrl)
  expect(await client.read()).toBe('hello')
})

/** Paths that a traced call and its children opened to write, made, moved or removed, and programs that they started. */
function traced(file: string): { written: string[]; started: string[] } {
  const written: string[] = []
  const started: string[] = []
  for (const line of readFileSync(file, 'utf8').split('\n')) {
    const [, name, text = ''] = /^\d+ +(\w+)\((.*)\) = \d+/.exec(line) ?? []
    if (!name || (/^open/.test(name) && !/O_WRONLY|O_RDWR|O_CREAT/.test(text))) continue
    // Of a path the folder that it is seen from stands before it, where there is one: 3</a/folder>, "name"
    const named = text.matchAll(/(?:<([^>]*)>, )?"((?:[^"\\]|\\.)*)"/g)
    const paths = Array.from(named, ([, folder = '', path = '']) => resolve(folder, path))
    if (name === 'execve') started.push(paths[0] as string)
    else written.push(...paths)
  }
  return { written, started }
}

test('the system calls of all that tell of no other file and no other program', {
  timeout: 600_000,
}, async () => {
  // Nobody is restarted: the trace would follow the cores for ever.
  const conf = readFileSync(server.conf, 'utf8')
  writeFileSync(server.conf, conf.replace('SUPERVISOR=systemd', 'SUPERVISOR=none'))
  const file = join(lab.dir, 'trace')
  const calls =
    'openat,open,creat,rename,renameat,renameat2,link,linkat,symlink,symlinkat,mkdir,mkdirat,unlink,unlinkat,rmdir,mknod,mknodat,truncate,chmod,fchmodat,chown,fchownat,execve'
  const written = new Set<string>()
  const started = new Set<string>()
  for (const { words, input } of attacks(OWNER, server.dir, outside)) {
    const args = [
      '-f',
      '-y',
      '-qq',
      '-s',
      '400',
      '-e',
      `trace=${calls}`,
      '-e',
      'signal=none',
      '-o',
      file,
      'bash',
      PROGRAM,
    ]
    const env = { ...server.env, SSH_ORIGINAL_COMMAND: words }
    await lab.exec('strace', args, { machine: server.machine, input, env })
    const seen = traced(file)
    for (const path of seen.written) written.add(path)
    for (const path of seen.started) started.add(path)
  }
  writeFileSync(server.conf, conf)
  const foreign = [...written].filter(
    (path) => !path.startsWith(`${server.dir}/`) && !/^\/dev\/(null|tty)$/.test(path),
  )
  expect(foreign).toEqual([])
  expect([...written].some((path) => /\/state\/\.call\.\d+\/config\.json$/.test(path))).toBe(true)
  const programs = new Set([...started].map((path) => path.split('/').at(-1)))
  const known = `bash awk gawk mawk chgrp chmod cat cmp comm cut date env flock grep head id mkdir mv openssl nproc readlink
    realpath rm sed setpriv sha256sum sleep sort ss stat sync tail timeout tr true wc xray hysteria iptables ip6tables nft`
  expect([...programs].filter((name) => !known.split(/\s+/).includes(name as string))).toEqual([])
  expect(await configure()).toMatchObject({ ok: true, live: true })
  expect(await hysteria()).toMatchObject({ ok: true, live: true })
  expect(await add('auth=abcdefgh')).toMatchObject({ ok: true, live: true })
})

afterEach(() => {
  rmSync(join(server.dir, 'node.conf'), { force: true })
})

test('settings in the state folder are not read, and the program says what to do where there are no others', async () => {
  const hostile = `XRAY_BIN=${join(lab.dir, 'hook.sh')}\nSUPERVISOR=none\nCORE_RESTART=touch ${outside}/restart\n`
  writeFileSync(join(server.dir, 'node.conf'), hostile)
  expect(await call('status')).toMatchObject({ ok: true, live: true })
  renameSync(server.conf, `${server.conf}.away`)
  const message = expect.stringMatching(/run the install command again as root/)
  for (const words of ['status', 'version', 'list', 'retire panel-1'])
    expect(await call(words)).toMatchObject({ ok: false, error: 'fault', message })
  renameSync(`${server.conf}.away`, server.conf)
  rmSync(join(server.dir, 'node.conf'))
  expectNothing()
})

test('settings that others may write, or that contradict themselves, are not used', async () => {
  const conf = readFileSync(server.conf, 'utf8')
  const refused = async (message: RegExp) =>
    expect(await call('configure', withHeader(parameters(), OWNER))).toMatchObject({
      ok: false,
      error: 'fault',
      message: expect.stringMatching(message),
    })
  chmodSync(server.conf, 0o620)
  await refused(/others than root may write .*node\.conf/)
  chmodSync(server.conf, 0o600)
  const folder = join(server.conf, '..')
  chmodSync(folder, 0o777)
  await refused(/others than root may write .*etc/)
  chmodSync(folder, 0o755)
  chmodSync(server.dir, 0o770)
  await refused(/others than root may write .*state/)
  chmodSync(server.dir, 0o750)
  for (const [line, message] of [
    ['XRAY_BIN=/bin/sh', /XRAY_BIN stands twice/],
    ['SUPERVISOR=touch x', /SUPERVISOR/],
    ['API_SOCK=../x', /API_SOCK/],
    ['HYSTERIA_API=0.0.0.0:9999', /HYSTERIA_API/],
  ] as const) {
    const [key] = line.split('=')
    const others = key === 'XRAY_BIN' ? conf : conf.replace(new RegExp(`^${key}=.*\n`, 'm'), '')
    writeFileSync(server.conf, `${others}${line}\n`)
    await refused(message)
  }
  writeFileSync(server.conf, `${conf}CORE_RESTART=touch ${outside}/restart\nUNKNOWN=x\n`)
  expect(await call('status')).toMatchObject({ ok: true, live: true })
  writeFileSync(server.conf, conf)
  expectNothing()
})

test.each(STATE.filter((name) => name !== 'tls'))(
  'a link in the place of %s leads nowhere',
  async (name) => {
    const path = join(server.dir, name)
    const away = join(lab.dir, 'away')
    const goal = join(lab.dir, 'goal')
    if (existsSync(path)) renameSync(path, away)
    writeFileSync(goal, 'as it was')
    symlinkSync(goal, path)
    for (const words of ['status', 'list', `retire ${OWNER}`])
      expect(await call(words)).toMatchObject({
        ok: false,
        error: 'fault',
        message: `${name} is a symbolic link`,
      })
    expect(readFileSync(goal, 'utf8')).toBe('as it was')
    rmSync(path)
    if (existsSync(away)) renameSync(away, path)
    expect(await call('status')).toMatchObject({ ok: true })
  },
)

test('many callers at once, some of whom are cut off, leave nothing else behind', async () => {
  const list = attacks(OWNER, server.dir, outside).filter(({ words }) =>
    /^(apply|configure|hysteria)$/.test(words),
  )
  const callers = Array.from({ length: 6 }, async (_, caller) => {
    for (const { words, input } of list.filter((_, i) => i % 6 === caller).slice(0, 8)) {
      const env = { ...process.env, ...server.env, SSH_ORIGINAL_COMMAND: words }
      const args = ['netns', 'exec', `${lab.name}-${server.machine}`, 'bash', PROGRAM]
      const child = spawn('ip', args, { env, stdio: ['pipe', 'ignore', 'ignore'] })
      child.stdin.on('error', () => {})
      child.stdin.end(input)
      const ended = new Promise((resolve) => child.once('exit', resolve))
      if (caller % 2 === 0) setTimeout(() => child.kill('SIGKILL'), 40 * caller + 30)
      await ended
    }
  })
  await Promise.all(callers)
  expect(await configure()).toMatchObject({ ok: true })
  expect(await call('status')).toMatchObject({ ok: true, live: true })
  expectNothing()
})
