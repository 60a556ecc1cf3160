/** What the node program says of states that a call left half done, and what it takes from a caller who tries its limits. */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { Node } from '#db/schema/index.ts'
import { coreParameters } from '#src/domain/nodes/core-config.ts'
import { xrayText } from '#test/support/drivers/node-attacks.ts'
import {
  AWKS,
  envWithAwk,
  type NodeCaller,
  startCalledNode,
} from '#test/support/drivers/node-caller.ts'
import { OWNER } from '#test/support/drivers/node-driver.ts'
import { ROOT } from '#test/support/drivers/process.ts'
import { A, B } from '#test/support/labs/imported-inbounds.ts'
import type { Lab, Target } from '#test/support/labs/lab.ts'
import type { NodeServer } from '#test/support/labs/node-lab.ts'
import { unchecked } from '#test/support/unchecked.ts'

let lab: Lab
let target: Target
let server: NodeServer
let row: Node
let node: NodeCaller

beforeAll(async () => {
  ;({ lab, target, server, row, node } = await startCalledNode({ hysteria: true }))
})
afterAll(() => lab?.close())

const systemctl = (...args: string[]) =>
  lab.exec(join(server.dir, '../systemctl'), args, { machine: server.machine })
const parameters = (fields: Partial<Node> = {}) =>
  coreParameters([unchecked<Node>({ ...row, ...fields })], () => target.address)
const status = () => node.call(['status'])
const pathOf = (name: string) => join(server.dir, name)

describe('a configuration that the core has not read', () => {
  const former = parameters
  const present = () => parameters({ port: 8450 })
  let config: string
  beforeEach(async () => {
    expect(await node.configure(former())).toMatchObject({ ok: true })
    await node.configure(parameters({ port: 8449 }))
    expect(await node.configure(former())).toMatchObject({ restarted: true, live: true })
    config = (await status()).config
  })

  test('is not said to be in place when the restart failed, and is given again', async () => {
    const folder = join(lab.dir, 'no-systemctl')
    mkdirSync(folder)
    writeFileSync(join(folder, 'systemctl'), '#!/bin/sh\nexit 1\n', { mode: 0o755 })
    const env = { PATH: `${folder}:${server.env.PATH}` }
    expect(await node.configure(present(), env)).toMatchObject({ ok: false, error: 'fault' })
    expect(await status()).toMatchObject({ config: '', live: false, core: { up: true } })
    expect(await node.configure(present(), env)).toMatchObject({ ok: false, error: 'fault' })
    expect(await node.configure(present())).toMatchObject({ restarted: true, live: true })
    const after = await status()
    expect(after).toMatchObject({ live: true, core: { up: true } })
    expect(after.config).not.toBe(config)
    expect(await node.configure(present())).toMatchObject({ restarted: false, live: true })
  })

  test('is given again when a call was killed between its files and the restart', async () => {
    writeFileSync(pathOf('unread'), '')
    writeFileSync(pathOf('dirty'), '')
    expect(await status()).toMatchObject({ config: '', live: false, core: { up: true } })
    expect(await node.configure(former())).toMatchObject({ restarted: true, live: true })
    expect(await status()).toMatchObject({ config, live: true })
  })

  test('is in place once another run of the core began, whoever started it', async () => {
    writeFileSync(pathOf('unread'), 'a-run-that-ended\n')
    expect(await status()).toMatchObject({ config, live: true })
    expect(await node.configure(former())).toMatchObject({ restarted: false, live: true })
  })

  test('is not asked for again and again where nobody restarts the core at our word', async () => {
    const conf = readFileSync(server.conf, 'utf8')
    writeFileSync(server.conf, conf.replace('SUPERVISOR=systemd', 'SUPERVISOR=none'))
    expect(await node.configure(present())).toMatchObject({ ok: true, restarted: false })
    const given = await status()
    expect(given).toMatchObject({ config: expect.stringMatching(/^[0-9a-f]{64}$/), live: false })
    expect(given.config).not.toBe(config)
    await systemctl('restart', 'subpanel-xray.service')
    await expect.poll(status, { timeout: 10_000 }).toMatchObject({ live: true })
    writeFileSync(server.conf, conf)
  })
})

test('clients that only files were told of are not live: the core runs what program 1 had made', async () => {
  expect(await node.configure(parameters())).toMatchObject({ ok: true })
  for (const name of ['core.params', 'dirty']) rmSync(pathOf(name), { force: true })
  expect(await node.apply([['+', A, row.code]])).toMatchObject({ ok: true, live: false })
  expect(existsSync(pathOf('dirty'))).toBe(true)
  expect(await status()).toMatchObject({ live: false, config: '' })
  expect(existsSync(pathOf('dirty'))).toBe(true)
  expect(await node.apply([['+', B, row.code]])).toMatchObject({ ok: true, live: false })
  expect(await node.configure(parameters())).toMatchObject({ restarted: true, live: true })
  expect(await server.held()).toEqual([A, B])
  expect(await node.apply([], 'none')).toMatchObject({ live: true })
})

describe('a node without cores', () => {
  const folder = () => join(lab.dir, 'bare')
  const bare = (settings: string[]) => {
    const [dir, conf] = [join(folder(), 'state'), join(folder(), 'node.conf')]
    rmSync(folder(), { recursive: true, force: true })
    mkdirSync(dir, { recursive: true, mode: 0o700 })
    writeFileSync(conf, `${['XRAY_BIN=/bin/true', ...settings].join('\n')}\n`, { mode: 0o600 })
    return { SUBPANEL_NODE_DIR: dir, SUBPANEL_NODE_CONF: conf }
  }
  const SECRET = `HYSTERIA_SECRET=${'s'.repeat(16)}`
  const taken = async (text: string, env: Record<string, string>) =>
    (await node.configure(text, env)).ok

  test.each([
    ['127.0.0.1:9999', false],
    ['127.1:9999', false],
    ['127.0.0.53:9999', false],
    ['0:9999', false],
    ['2130706433:9999', false],
    ['0x7f.1:9999', false],
    ['0177.0.0.1:9999', false],
    ['LOCALHOST:9999', false],
    ['a.localhost.:9999', false],
    ['[::1]:9999', false],
    ['[::]:9999', false],
    ['[0:0:0:0:0:ffff:7f00:1]:9999', false],
    ['45.45.45.46:9999', true],
    ['site.test:9999', true],
    ['[2001:db8::1]:9999', true],
    ['127.0.0.1:443', true],
  ])('the target %s where Hysteria is: %s', async (address, is) => {
    const text = xrayText({ target: `target ${address}` })
    expect(await taken(text, bare([SECRET]))).toBe(is)
    expect(await taken(text, bare([]))).toBe(true)
  })

  test('the port of the API of Hysteria is any other where there is no Hysteria', async () => {
    for (const text of [
      xrayText({ head: 'protocol vless\nport 9999\ngroup n1' }),
      xrayText({ rest: 'fallback port=9999' }),
    ]) {
      expect(await taken(text, bare([]))).toBe(true)
      expect(await taken(text, bare([SECRET]))).toBe(false)
    }
  })

  test.each(['443', '-:443', '.:443', ':443', 'a:', '[]:443'])(
    'the target %j is none',
    async (address) => {
      expect(await taken(xrayText({ target: `target ${address}` }), bare([]))).toBe(false)
    },
  )

  const web = (path: string) =>
    xrayText({
      ...{ transport: `network ws\npath /${path}\nsecurity none`, target: '', identity: '' },
    })
  test.each([
    ['%EF%BF%BE', false],
    ['%EF%BF%BF', false],
    ['%EF%BF%BD', true],
    ['%EF%BE%BF', true],
    ['%EE%BF%BF', true],
    ['%EF%BC%80%F0%9F%BF%BF', true],
  ])('the text %s: %s', async (path, is) => {
    for (const awk of AWKS) {
      const env = { ...envWithAwk(lab, server, awk), ...bare([]) }
      expect(await taken(web(path), env)).toBe(is)
    }
  })

  test.each(['list:x', 'list:x 00', 'status:1', 'LIST', '-', 'drop:1'])(
    'the verb %j is unknown',
    async (words) => {
      const env = { ...bare([]), SSH_ORIGINAL_COMMAND: words }
      expect(await node.call([], '', env)).toMatchObject({ ok: false, error: 'unknown-verb' })
    },
  )

  test('a key comes at most 64 times in an inbound', async () => {
    const repeated = (line: string, count: number) => Array(count).fill(line).join('\n')
    const ids = (count: number) =>
      xrayText({
        identity: `server-name a.test\nprivate-key ${'A'.repeat(43)}\n${repeated('short-id ab', count)}`,
      })
    const fallbacks = (count: number) => xrayText({ rest: repeated('fallback port=80', count) })
    for (const make of [ids, fallbacks]) {
      expect(await taken(make(64), bare([]))).toBe(true)
      expect(await taken(make(65), bare([]))).toBe(false)
    }
    expect(await taken(ids(80_000), bare([]))).toBe(false)
  })

  /** Seconds of the processor that a call of the program costs. */
  function costOf(words: string[], env: Record<string, string>): number {
    const script = `TIMEFORMAT='%U %S'; time bash '${ROOT}/templates/node-agent.sh' ${words.join(' ')} >/dev/null`
    const options = { env: { ...process.env, ...server.env, ...env }, encoding: 'utf8' } as const
    const { stderr } = spawnSync('bash', ['-c', script], options)
    return stderr.split(/\s+/).reduce((sum, number) => sum + Number(number), 0)
  }

  describe.each(AWKS)('the largest parameters, read by %s,', (awk) => {
    const base64 = (label: string, lines: number) =>
      Buffer.from(
        `-----BEGIN ${label}-----\n${`${'A'.repeat(64)}\n`.repeat(lines)}-----END ${label}-----\n`,
      ).toString('base64')
    const certificate = `certificate ${base64('CERTIFICATE', 175)} ${base64('PRIVATE KEY', 8)}`
    const paths = Array(5)
      .fill(`fallback port=80 path=/${'%D0%90'.repeat(511)}`)
      .join('\n')
    const inbounds = (lines: string) =>
      `xray 2\n${Array.from({ length: 64 }, (_, i) => `inbound a${i}\nprotocol vless\nport ${1000 + i}\ngroup n1\nnetwork raw\nsecurity tls\n${lines}\n`).join('')}`

    test.each([
      ['certificates', inbounds(certificate)],
      ['encoded texts', inbounds(`certificate node\n${paths}`)],
    ])('of %s, leave the node manageable', async (_, text) => {
      expect(text.length).toBeGreaterThan(900_000)
      expect(text.length).toBeLessThan(1_048_576)
      const env = { ...envWithAwk(lab, server, awk), ...bare([]) }
      expect(await node.configure(text, env)).toMatchObject({ ok: true })
      rmSync(join(env.SUBPANEL_NODE_DIR, 'dirty'))
      expect(costOf(['status'], env)).toBeLessThan(1)
      const more = `${text}${'sniffing on\n'.repeat(20_000)}`
      expect(await node.configure(more, env)).toMatchObject({ ok: false })
    })
  })

  test('takes no more clients than can be listed', async () => {
    const env = bare([])
    const lines = (count: number) =>
      Array.from(
        { length: count },
        (_, i) => `["+","${i.toString(16).padStart(8, '0')}-0000-4000-8000-000000000000","n"]\n`,
      ).join('')
    const header = { owner: OWNER, from: 'none', to: '', force: true }
    const apply = (count: number) =>
      node.call(['apply'], `${JSON.stringify({ ...header, lines: count })}\n${lines(count)}`, env)
    expect(await apply(500_001)).toEqual({
      ...{ ok: false, error: 'bad-input', message: 'more than 500000 clients' },
    })
    expect(await node.call(['status'], '', env)).toMatchObject({ count: 0 })
    expect(await apply(100)).toMatchObject({ ok: true, count: 100 })
  })
})
