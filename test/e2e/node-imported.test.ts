/** Inbounds as other panels have them: the node program renders them, the real Xray takes them, and client apps connect. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Node } from '#db/schema/index.ts'
import { findCore } from '#test/support/cores.ts'
import {
  type Answer,
  AWKS,
  envWithAwk,
  type NodeCaller,
  startCalledNode,
} from '#test/support/drivers/node-caller.ts'
import { OWNER } from '#test/support/drivers/node-driver.ts'
import {
  A,
  B,
  C,
  importedOutbounds,
  importedParameters,
  KEY_16,
  OTHER_ID,
  USER_KEY_16,
} from '#test/support/labs/imported-inbounds.ts'
import { type Lab, startXrayClient, type Target, until } from '#test/support/labs/lab.ts'
import type { NodeServer } from '#test/support/labs/node-lab.ts'

let lab: Lab
let target: Target
let server: NodeServer
let row: Node
let node: NodeCaller

beforeAll(async () => {
  ;({ lab, target, server, row, node } = await startCalledNode({ hysteria: false }))
})
afterAll(() => lab?.close())

const imported = () => importedParameters(server, row, target)

test.each(AWKS)('every inbound is taken and holds its clients, by %s', async (awk) => {
  const env = envWithAwk(lab, server, awk)
  await node.call(['retire', OWNER])
  const secrets = [`secret.shadowsocks=${USER_KEY_16}`, 'secret.trojan=p%20%22%C3%A9%22<&>']
  await node.apply(
    [
      ['+', A, 'g1', ...secrets],
      ['+', B, 'g2'],
      ['+', C, 'g1', 'flow=none', `secret.vless=${OTHER_ID}`],
    ],
    'none',
    env,
  )
  const answer = await node.configure(imported(), env)
  expect(answer).toMatchObject({ ok: true, restarted: true, live: true })
  expect(await node.call(['version'])).toMatchObject({ tested: true })
  const told = node.config().inbounds.map((inbound: Answer) => [inbound.tag, inbound])
  const of = Object.fromEntries(told) as Record<string, Answer>
  expect(of.vmess.streamSettings.wsSettings).toEqual({ path: '/п x', host: 'a.example' })
  const [{ certificate, key }] = of.vmess.streamSettings.tlsSettings.certificates
  expect(`${certificate.join('\n')}\n`).toBe(server.certificate)
  expect(key.join('\n')).toContain('PRIVATE KEY')
  expect(of.names.streamSettings.realitySettings).toMatchObject({
    serverNames: [target.serverName, 'second.example'],
    shortIds: ['', 'ab', '0123456789abcdef'],
    maxTimeDiff: 60_000,
  })
  expect(of.trojan.settings.clients[0]).toEqual({ email: A, password: 'p "é"<&>' })
  expect(of.trojan.settings.fallbacks).toEqual([
    { dest: '@subpanel.behind', xver: 2, alpn: 'http/1.1', path: '/b', name: 'x.example' },
    { dest: '127.0.0.1:8080' },
  ])
  expect(of.behind.streamSettings.sockopt).toEqual({ acceptProxyProtocol: true })
  expect(of.names.settings.clients).toEqual([
    { email: A, id: A, flow: 'xtls-rprx-vision' },
    { email: C, id: OTHER_ID },
  ])
  expect(of.vmess.settings.clients.map(({ email }: Answer) => email)).toEqual([A, B, C])
  // Whom nobody knows, so that it stays an inbound of many; the others have no key.
  expect(of.ss2022.settings.clients).toEqual([
    { email: '-', password: expect.stringMatching(/^[A-Za-z0-9+/]{22}==$/) },
    { email: A, password: USER_KEY_16 },
  ])
  const stranger = of.ss2022.settings.clients[0].password
  expect(of['ss2022-none'].settings.clients).toHaveLength(1)
  expect(of['ss2022-all'].settings.clients).toBe(undefined)
  expect(await node.call(['status'])).toMatchObject({ live: true, count: 3 })
  await node.apply([['-', B]], 'any', env)
  expect(node.read('config.json')).not.toContain(stranger)
})

const NAMES = [
  'VMess, WS, TLS',
  'Trojan, gRPC, REALITY',
  'Shadowsocks',
  'Shadowsocks 2022',
  'VLESS, HTTPUpgrade, TLS',
  'VLESS, REALITY, vision',
  'VLESS, REALITY, a flow and an id of their own',
  'VLESS, XHTTP behind REALITY',
  'Trojan, TLS',
  'VMess, an HTTP header',
  'VLESS, XHTTP, TLS',
  'VLESS, gRPC, REALITY',
]

describe('clients of imported inbounds', () => {
  const CLIENTS = [
    ['+', A, 'g1', `secret.shadowsocks=${USER_KEY_16}`, 'secret.trojan=p%20%22%C3%A9%22<&>'],
    ['+', C, 'g1', 'flow=none', `secret.vless=${OTHER_ID}`],
  ]
  beforeAll(async () => {
    // Given to a core that runs without clients: by its API, not by its configuration.
    await node.apply([], 'none')
    expect(await node.configure(imported())).toMatchObject({ ok: true })
    expect(await node.apply(CLIENTS)).toMatchObject({ added: 2, live: true })
  })

  test.each(NAMES)('%s', async (name) => {
    const outbound = importedOutbounds(server, row, target)[name] as object
    const client = await startXrayClient(lab, findCore('xray'), outbound, target.pageUrl)
    await until(`${name} gets the page`, async () => (await client.read()) === 'hello', 20_000)
  })

  test('who is removed is out of all of them, and what changes of one is changed in all', async () => {
    const api = async (tag: string) => {
      const args = ['api', 'inbounduser', '-s', `unix://${join(server.dir, '../run/api.sock')}`]
      const { stdout } = await lab.exec(findCore('xray'), [...args, `-tag=${tag}`], {
        machine: server.machine,
      })
      const users = JSON.parse(stdout).users ?? []
      return users
        .filter(({ email }: Answer) => email !== '-')
        .map(({ email, account }: Answer) => [
          email,
          account.password ?? account.key ?? account.id,
          account.flow ?? '',
        ])
        .sort()
    }
    const changed = await node.apply([
      ['+', A, 'g1', 'flow=none', `secret.shadowsocks=${KEY_16}`, 'secret.trojan=new'],
    ])
    expect(changed).toMatchObject({ added: 1, removed: 1, live: true })
    expect(await api('names')).toEqual([
      [A, A, ''],
      [C, OTHER_ID, ''],
    ])
    expect(await api('ss2022')).toEqual([[A, KEY_16, '']])
    expect(await api('trojan')).toEqual([
      [A, 'new', ''],
      [C, C, ''],
    ])
    expect(await api('vmess')).toEqual([
      [A, A, ''],
      [C, C, ''],
    ])

    // What drifted behind the program's back is seen when a call was cut off: secrets and flows too.
    const file = join(lab.dir, 'drift.json')
    const settings = { clients: [{ email: A, password: 'drifted' }] }
    writeFileSync(
      file,
      JSON.stringify({ inbounds: [{ tag: 'trojan', port: 1, protocol: 'trojan', settings }] }),
    )
    const socket = `unix://${join(server.dir, '../run/api.sock')}`
    for (const args of [
      ['rmu', '-s', socket, '-tag=trojan', A],
      ['adu', '-s', socket, file],
    ])
      await lab.exec(findCore('xray'), ['api', ...args], { machine: server.machine })
    expect(await api('trojan')).toEqual([
      [A, 'drifted', ''],
      [C, C, ''],
    ])
    writeFileSync(join(server.dir, 'dirty'), '')
    expect(await node.call(['status'])).toMatchObject({ live: true })
    expect(await api('trojan')).toEqual([
      [A, 'new', ''],
      [C, C, ''],
    ])

    expect(
      await node.apply([
        ['-', A],
        ['-', C],
      ]),
    ).toMatchObject({ removed: 2, live: true })
    for (const tag of [
      'names',
      'names-xhttp',
      'ss',
      'ss2022',
      'trojan',
      'trojan-grpc',
      'vmess',
      'behind',
    ])
      expect([tag, await api(tag)]).toEqual([tag, []])
    const many = Array.from({ length: 400 }, (_, i) => {
      const uuid = `${String(i).padStart(8, '0')}-0000-4000-8000-000000000000`
      return ['+', uuid, 'g1', `secret.shadowsocks=${USER_KEY_16}`]
    })
    expect(await node.apply(many)).toMatchObject({ added: 400, live: true })
    expect(await node.apply([], 'none')).toMatchObject({ removed: 400, live: true })
  })
})
