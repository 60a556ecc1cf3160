/** What the node program makes of parameters: the configurations that program 1 was given, and what it refuses. */
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Node } from '#db/schema/index.ts'
import { coreParameters } from '#src/domain/nodes/core-config.ts'
import { hysteriaParameters } from '#src/domain/nodes/hysteria-config.ts'
import type { SoundNode } from '#src/domain/nodes/sound.ts'
import { coreConfig, hysteriaConfig } from '#src/domain/nodes/sync/program-1.ts'
import { archiveWith } from '#test/support/archives/hostile-archives.ts'
import { restoreInto } from '#test/support/calls/restores.ts'
import { findCore } from '#test/support/cores.ts'
import {
  AWKS,
  envWithAwk,
  type NodeCaller,
  startCalledNode,
} from '#test/support/drivers/node-caller.ts'
import { OWNER } from '#test/support/drivers/node-driver.ts'
import { ROOT } from '#test/support/drivers/process.ts'
import { A, B } from '#test/support/labs/imported-inbounds.ts'
import { type Lab, type Target, until } from '#test/support/labs/lab.ts'
import type { NodeServer } from '#test/support/labs/node-lab.ts'
import { HOSTILE_TEXTS } from '#test/support/rows/full-rows.ts'
import { unchecked } from '#test/support/unchecked.ts'
import { createFileWorld } from '#test/support/worlds/file-world.ts'

let lab: Lab
let target: Target
let server: NodeServer
let row: SoundNode
let node: NodeCaller

beforeAll(async () => {
  ;({ lab, target, server, row, node } = await startCalledNode({ hysteria: true }))
})
afterAll(() => lab?.close())

/** What program 1 made of a text, for clients of one group, `UUID AUTH` each. */
function asProgram1(text: string, uuids: string[]): string {
  const client = (uuid: string, flow?: string) =>
    JSON.stringify({ id: uuid, email: uuid, ...(flow ? { flow } : {}) })
  const socket = join(server.dir, '../run/api.sock')
  return text
    .replace(/^@clients \S+?(?: (\S+))?@$/gm, (_, flow) =>
      uuids.map((uuid) => client(uuid, flow)).join(','),
    )
    .replaceAll('@api@', `${socket},0660`)
    .replaceAll('@dir@', server.dir)
}

/** What program 1 did not block. */
const MORE_BLOCKED = ['168.63.129.16/32', '2002::/16']

/** The networks that Hysteria blocks by the lines of its configuration. */
const blockedBy = (yaml: string[]) =>
  yaml.flatMap((line) => /reject\(([^ ,]+)\)/.exec(line)?.slice(1) ?? [])

describe.each(AWKS)('by %s', (awk) => {
  const env = () => envWithAwk(lab, server, awk)

  test('our own inbounds are rendered as program 1 rendered them, but for what clients must not reach', async () => {
    const local = unchecked<Node>({
      ...row,
      kind: 'local',
      code: 'B_2',
      port: 8445,
      flow: '',
      shortId: '',
    })
    const bare = unchecked<Node>({ ...row, transportsJson: [] })
    await node.apply(
      [
        ['+', A, row.code, 'auth=abc.~'],
        ['+', B, row.code],
      ],
      'none',
      env(),
    )
    let rule: unknown
    for (const nodes of [[row], [row, local], [bare], []]) {
      const answer = await node.configure(
        coreParameters(nodes, () => target.address),
        env(),
      )
      expect(answer).toMatchObject({ ok: true, live: true })
      const former = coreConfig(nodes, () => target.address)
      // The second has no clients.
      const text = former.replace(/^@clients B_2.*@$/gm, '')
      const config = JSON.parse(asProgram1(text, [A, B]))
      rule = node.config().outbounds[0].settings.finalRules[1]
      config.outbounds[0].settings.finalRules.push(rule)
      expect(node.config()).toEqual(config)
      expect(node.read('hy2-users')).toBe(`abc.~ ${A}\n`)
    }
    for (const obfs of ['a "quoted" pass\\word of the näde %', null]) {
      const other = unchecked<Node>({ ...row, hysteriaObfsPassword: obfs })
      expect(await node.hysteria(hysteriaParameters(other), env())).toMatchObject({
        ok: true,
        live: true,
      })
      const conf = readFileSync(server.conf, 'utf8')
      const secret = /^HYSTERIA_SECRET=(.*)$/m.exec(conf)?.[1] as string
      const former = hysteriaConfig(other)
        .replaceAll('@dir@', server.dir)
        .replaceAll('@auth@', join(ROOT, 'templates/hy2-auth'))
        .replaceAll('@api@', '127.0.0.1:9999')
        .replaceAll('@secret@', secret)
      const isMore = (line: string) => MORE_BLOCKED.some((what) => line.includes(what))
      const yaml = node.read('hysteria.yaml').split('\n')
      expect(yaml.filter((line) => !isMore(line)).join('\n')).toBe(former)
      expect(yaml.filter(isMore)).toHaveLength(MORE_BLOCKED.length)
      expect(rule).toEqual({ action: 'block', ip: blockedBy(yaml) })
    }
  })
})

describe("what the rows of somebody's archive make of a core's configuration", () => {
  type Json = Record<string, unknown> & { inbounds: unknown[] }

  /** The names and the kinds of what is in a value; of lists what they hold, each once. */
  function shapeOf(value: unknown): unknown {
    if (Array.isArray(value)) return [...new Set(value.map((one) => JSON.stringify(shapeOf(one))))]
    if (value === null || typeof value !== 'object') return typeof value
    return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, shapeOf(one)]))
  }

  /** What Xray is given for the local and for the managed node, after Xray itself has read it. */
  async function configurationsAfter(text: string): Promise<Json[]> {
    const w = await createFileWorld()
    const managed = w.remote('nl1')
    try {
      await restoreInto(w, await archiveWith(text))
      await w.s.nodeSync.syncAll({ force: true, remove: true })
      const configurations: Json[] = []
      for (const parameters of [w.node.given, managed.given]) {
        const answer = await node.configure(parameters)
        expect([parameters, answer]).toEqual([parameters, expect.objectContaining({ ok: true })])
        configurations.push(node.config())
      }
      return configurations
    } finally {
      w.close()
    }
  }

  let plain: Json[]
  beforeAll(async () => {
    plain = await configurationsAfter('a plain text')
    expect(plain.map(({ inbounds }) => inbounds.length)).toEqual([1, 1])
  })

  test.each(HOSTILE_TEXTS)('%s: the known shape', async (_name, text) => {
    for (const [i, { inbounds, ...rest }] of (await configurationsAfter(text)).entries()) {
      const { inbounds: known, ...own } = plain[i] as Json
      expect(rest).toEqual(own)
      expect(shapeOf(known)).toEqual(expect.arrayContaining(shapeOf(inbounds) as unknown[]))
    }
  })
})

test('a refusal names the line and the key, never the value', async () => {
  const text = coreParameters([row], () => target.address)
  const refused = async (from: string | RegExp, to: string, message: string) =>
    expect(await node.configure(text.replace(from, to))).toMatchObject({
      ok: false,
      error: 'bad-config',
      message,
    })
  await refused('port 443', 'port 70000', 'line 4: port')
  await refused('network raw', 'network raw\nnetwork ws', 'line 8: network')
  await refused(/group .*\n/, '', 'line 2: group is missing')
  await refused(/target .*\n/, '', 'line 2: target is missing')
  await refused('security reality', 'security none', 'line 9: target')
  await refused('protocol vless', 'protocol vless\nSECRET x', 'line 4: no key')
  await refused('xray 2', 'xray 3', 'line 1: xray')
  await refused(/fallback .*/, 'fallback nobody', 'line 13: fallback')
  expect(await node.hysteria('hysteria 2\nport 443\nobfs a b\n')).toMatchObject({
    error: 'bad-config',
    message: 'line 3: obfs',
  })
})

test("clients of program 1 are taken over once, and its configuration runs on until there is one of program 2's", async () => {
  await node.call(['retire', OWNER])
  for (const name of ['program', 'core.params']) rmSync(join(server.dir, name), { force: true })
  const auth = 'x'.repeat(43)
  const former = [`${A} ${row.code} ${auth}`, `${B} ${row.code}`]
  writeFileSync(join(server.dir, 'clients'), `${former.join('\n')}\n`)
  writeFileSync(join(server.dir, 'base.json'), '{}')
  writeFileSync(join(server.dir, 'config.json'), '{}')
  const status = await node.call(['status'])
  expect(status).toMatchObject({ ok: true, count: 2, config: '', live: false })
  expect((await node.call(['list'])).lines).toEqual([
    [A, row.code, `auth=${auth}`],
    [B, row.code],
  ])
  expect(await node.configure(coreParameters([row], () => target.address))).toMatchObject({
    ok: true,
    live: true,
  })
  expect(existsSync(join(server.dir, 'base.json'))).toBe(false)
  expect(await node.call(['status'])).toMatchObject({ live: true, clients: status.clients })
  expect(await server.held()).toEqual([A, B])
  rmSync(join(server.dir, 'clients'))
  expect(await node.call(['status'])).toMatchObject({ ok: true, count: 0, live: true })
  expect(await server.held()).toEqual([])
})

describe("a range of Hysteria's ports", () => {
  /** Tools that write down what they are told; those of `broken` fail. */
  function tools(broken: string[]) {
    const folder = join(lab.dir, `tools-${broken.join('-')}`)
    mkdirSync(folder, { recursive: true })
    const log = join(folder, 'log')
    writeFileSync(log, '')
    for (const name of ['nft', 'iptables', 'ip6tables']) {
      // Of iptables nothing is there yet that could be removed.
      const end = broken.includes(name) ? 'exit 1' : `case "$*" in *-D*|*-F*) exit 1 ;; esac`
      const script = `#!/bin/sh\n{ echo "${name} $*"; [ "${name}" != nft ] || cat; } >>${log}\n${end}\n`
      writeFileSync(join(folder, name), script, { mode: 0o755 })
    }
    const told = () => readFileSync(log, 'utf8')
    return {
      env: { PATH: `${folder}:${server.env.PATH}` },
      told,
      forget: () => writeFileSync(log, ''),
    }
  }
  const text = (more = '') => `hysteria 2\nport 443\n${more}`

  test('is redirected by nftables, again after a start of the machine, and no more when it goes', async () => {
    const { env, told, forget } = tools([])
    expect(await node.hysteria(text('hop 20000-30000\n'), env)).toMatchObject({
      live: true,
      hop: true,
    })
    expect(told()).toContain('udp dport 20000-30000 redirect to :443')
    expect(told()).not.toMatch(/tables .*-A/)
    forget()
    expect(await node.call(['prestart', 'hysteria'], '', env)).toEqual({ ok: true, hop: true })
    expect(told()).toContain('udp dport 20000-30000 redirect to :443')
    forget()
    const without = await node.hysteria(text(), env)
    expect(without).toMatchObject({ live: true })
    expect(without).not.toHaveProperty('hop')
    expect(told()).toContain('delete table inet subpanel')
    expect(told()).not.toContain('redirect')
    forget()
    expect(await node.call(['prestart', 'hysteria'], '', env)).toEqual({ ok: true })
    expect(told()).toBe('')
  })

  test('is redirected by iptables where there is no nftables, and is told where neither works', async () => {
    const old = tools(['nft'])
    expect(await node.hysteria(text('hop 20000-30000\n'), old.env)).toMatchObject({ hop: true })
    for (const tool of ['iptables', 'ip6tables'])
      expect(old.told()).toContain(
        `${tool} -w 5 -t nat -A SUBPANEL-HOP -m addrtype --dst-type LOCAL -p udp --dport 20000:30000 -j REDIRECT --to-ports 443`,
      )
    const none = tools(['nft', 'iptables', 'ip6tables'])
    expect(await node.hysteria(text('hop 20000-40000\n'), none.env)).toMatchObject({
      ok: true,
      hop: false,
    })
    expect(await node.hysteria('', tools([]).env)).toMatchObject({ ok: true })
  })
})

test('a supervisor with a pid file starts the core anew, and nothing else is ended', async () => {
  const state = join(lab.dir, 'embedded')
  const conf = join(lab.dir, 'embedded.conf')
  mkdirSync(join(state, 'tls'), { recursive: true })
  chmodSync(state, 0o755)
  for (const name of ['node.crt', 'node.key'])
    copyFileSync(join(server.dir, 'tls', name), join(state, 'tls', name))
  const pidFile = join(state, 'core.pid')
  const settings = [`XRAY_BIN=${findCore('xray')}`, 'SUPERVISOR=pidfile', `CORE_PID=${pidFile}`]
  writeFileSync(conf, `${settings.join('\n')}\n`)
  chmodSync(lab.dir, 0o711)
  const env = { SUBPANEL_NODE_DIR: state, SUBPANEL_NODE_CONF: conf }
  const bystander = lab.spawn('sleep', ['60'], { machine: server.machine })
  writeFileSync(pidFile, `${bystander.pid}\n`)
  const text = 'xray 2\ninbound a\nprotocol vless\nport 3001\ngroup g\nnetwork raw\nsecurity none\n'
  expect(await node.configure(text, env)).toMatchObject({ ok: true, restarted: false, live: false })
  expect(existsSync(`/proc/${bystander.pid}`)).toBe(true)
  const loop = `while :; do rm -f ${state}/api.sock; ${findCore('xray')} run -c ${state}/config.json & echo $! >${pidFile}; wait; done`
  const supervisor = lab.spawn('sh', ['-c', loop], { machine: server.machine })
  await until('it is up', async () => (await node.call(['status'], '', env)).core.up)
  const { core } = await node.call(['status'], '', env)
  expect(await node.configure(text.replace('3001', '3002'), env)).toMatchObject({
    restarted: true,
    live: true,
  })
  expect((await node.call(['status'], '', env)).core.epoch).not.toBe(core.epoch)
  // The next start of the supervisor would find another core than the one that runs.
  const moved = join(lab.dir, 'xray-moved')
  copyFileSync(findCore('xray'), moved)
  writeFileSync(conf, `${settings.join('\n').replace(findCore('xray'), moved)}\n`)
  expect(await node.configure(text.replace('3001', '3003'), env)).toMatchObject({
    restarted: true,
    live: true,
  })
  process.kill(-supervisor.pid, 'SIGKILL')
  bystander.signal('SIGKILL')
})
