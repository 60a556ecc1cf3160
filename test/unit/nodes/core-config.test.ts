import { describe, expect, test } from 'vitest'
import type { Node } from '#db/schema/index.ts'
import { coreParameters, servedNodes } from '#src/domain/nodes/core-config.ts'
import type { SoundNode } from '#src/domain/nodes/sound.ts'
import { configurationsOf } from '#src/domain/nodes/sync/programs.ts'

const WS = { type: 'ws', port: 8443, path: '/ws' } as const
const XHTTP = { type: 'xhttp', port: 443, path: '/xh' } as const
const GRPC = { type: 'grpc', port: 443, service_name: 'the service' } as const
const KEY = 'K'.repeat(43)

/** What came past the rules, as much as what they let in. */
const node = (fields: Partial<Node> = {}): SoundNode =>
  ({
    code: 'de1',
    port: 443,
    privateKey: KEY,
    publicKey: 'PUBLIC',
    shortId: '0123456789abcdef',
    sni: 'target.test',
    flow: 'xtls-rprx-vision',
    kind: 'managed',
    transportsJson: [],
    ...fields,
  }) as unknown as SoundNode

const target = (row: Node) => `${row.sni}:443`

/** The lines of each inbound. */
const inbounds = (...nodes: SoundNode[]) =>
  coreParameters(nodes, target)
    .split(/^inbound /m)
    .slice(1)
    .map((text) => `inbound ${text}`.trimEnd().split('\n'))
const tags = (...nodes: SoundNode[]) => inbounds(...nodes).map(([first]) => first)

describe('the parameters of a core', () => {
  test('are what the node program expects', () => {
    expect(coreParameters([node()], target).split('\n')).toEqual([
      'xray 2',
      'inbound de1.reality',
      'protocol vless',
      'port 443',
      'group de1',
      'flow xtls-rprx-vision',
      'network raw',
      'security reality',
      'target target.test:443',
      'server-name target.test',
      `private-key ${KEY}`,
      'short-id 0123456789abcdef',
      '',
    ])
  })

  test('have an inbound per node, and none without nodes', () => {
    const two = [node(), node({ code: 'B_2', port: 8443, flow: '' })]
    expect(tags(...two)).toEqual(['inbound de1.reality', 'inbound B_2.reality'])
    expect(inbounds(...two)[1]?.join()).not.toContain('flow')
    expect(coreParameters([], target)).toBe('xray 2\n')
  })

  test('may have a short id that is empty', () => {
    expect(coreParameters([node({ shortId: '' })], target)).toMatch(/^short-id ?$/m)
  })
})

describe('WS, XHTTP and gRPC', () => {
  test('XHTTP listens behind the REALITY port, on a socket of its own per node, without flow', () => {
    const rows = [node({ transportsJson: [XHTTP] }), node({ code: 'b', port: 444 })]
    const [reality, xhttp, other] = inbounds(...rows)
    expect(reality?.at(-1)).toBe('fallback de1.xhttp')
    expect(xhttp).toEqual([
      'inbound de1.xhttp',
      'protocol vless',
      'socket de1.xhttp',
      'group de1',
      'network xhttp',
      'path /xh',
      'security none',
    ])
    expect(other?.join()).not.toContain('fallback')
  })

  test('so does gRPC, by a service name', () => {
    const [reality, grpc] = inbounds(node({ transportsJson: [GRPC] }))
    expect(reality?.at(-1)).toBe('fallback de1.grpc')
    expect(grpc).toEqual([
      'inbound de1.grpc',
      'protocol vless',
      'socket de1.grpc',
      'group de1',
      'network grpc',
      'service-name the%20service',
      'security none',
    ])
  })

  test('WS has a port and the certificate of the node', () => {
    const [, ws] = inbounds(node({ transportsJson: [WS] }))
    expect(ws).toEqual([
      'inbound de1.ws',
      'protocol vless',
      'port 8443',
      'group de1',
      'network ws',
      'path /ws',
      'security tls',
      'certificate node',
      'alpn http/1.1',
      'min-version 1.2',
    ])
  })

  test('WS is left out where its port is in use, and where nobody made a certificate', () => {
    const transportsJson = [WS]
    const alone = ['inbound de1.reality']
    expect(tags(node({ port: 8443, transportsJson }))).toEqual(alone)
    expect(tags(node({ kind: 'local', transportsJson }))).toEqual(alone)
    const two = [node({ transportsJson }), node({ code: 'b', port: 444, transportsJson })]
    expect(tags(...two)).toEqual(['inbound de1.reality', 'inbound de1.ws', 'inbound b.reality'])
  })

  test('a path without its slash is the path of the lists, and a text in every case', () => {
    const pathOf = (path: string) =>
      inbounds(node({ transportsJson: [{ ...WS, path }] }))[1]?.find((line) => /^path/.test(line))
    expect(pathOf('ws')).toBe('path /ws')
    expect(pathOf('/a b"c%d\\ü')).toBe('path /a%20b%22c%25d%5C%C3%BC')
  })
})

describe('servedNodes', () => {
  test('a port belongs to the first node, one without a key is not served', () => {
    const rows = [
      node(),
      node({ code: 'b' }),
      node({ code: 'c', port: 1, privateKey: '' }),
      node({ code: 'd', port: 2 }),
    ]
    const { served, conflicts } = servedNodes(rows)
    expect(served.map((row) => row.code)).toEqual(['de1', 'd'])
    expect(conflicts.map((row) => row.code)).toEqual(['b', 'c'])
  })

  test.each([{ shortId: 'zz' }, { shortId: '012' }, { sni: '' }, { flow: 'XTLS_rprx' }])(
    'one that the core would refuse %j keeps no other from being served',
    (fields) => {
      const { served, conflicts } = servedNodes([node({ code: 'a', ...fields }), node()])
      expect(served.map((row) => row.code)).toEqual(['de1'])
      expect(conflicts.map((row) => row.code)).toEqual(['a'])
    },
  )

  const HYSTERIA = {
    hysteriaPassword: 'x',
    transportsJson: [{ type: 'hysteria2', port: 9999 }],
  } as unknown as Partial<Node>

  test("one that wants the port of Hysteria's API keeps no other from being served", () => {
    const ws = {
      ...HYSTERIA,
      transportsJson: [...(HYSTERIA.transportsJson ?? []), { ...WS, port: 9999 }],
    }
    const rows = [
      node({ ...HYSTERIA, code: 'a', port: 9999 }),
      node({ ...ws, code: 'b', port: 1 } as Partial<Node>),
      node({ ...HYSTERIA, code: 'c', port: 2 }),
      node({ code: 'd', port: 9999 }),
    ]
    const { served, conflicts } = servedNodes(rows)
    expect(conflicts.map((row) => row.code)).toEqual(['a', 'b'])
    expect(served.map((row) => row.code)).toEqual(['c', 'd'])
  })

  test.each(['abc', 'a\nport 1', '\uFFFEabcd', 'x'.repeat(257)])(
    'the disguise %j, with which Hysteria would not start, leaves out Hysteria alone',
    (hysteriaObfsPassword) => {
      const row = node({ ...HYSTERIA, hysteriaObfsPassword })
      expect(servedNodes([row]).conflicts).toEqual([])
      for (const program of [1, 2]) {
        const { core, hysteria } = configurationsOf(program, [row], target)
        expect(core).toContain('de1.reality')
        expect(hysteria).toBe('')
      }
    },
  )

  const LINE = 'x\nport 1'
  test.each([
    ['code', { code: LINE }],
    ['SNI', { sni: LINE }],
    ['SNI', { sni: 'a b' }],
    ['key', { privateKey: `${'K'.repeat(42)}"` }],
    ['short id', { shortId: `ab\nport 1` }],
    ['flow', { flow: LINE }],
    ['port', { port: 1.5 }],
    ['port', { port: '443\nport 1' as unknown as number }],
    ['path', { transportsJson: [{ ...WS, path: LINE }] }],
    ['path', { transportsJson: [{ ...XHTTP, path: '/\x1b' }] }],
    ['service name', { transportsJson: [{ ...GRPC, service_name: '\x1b' }] }],
    ['port of a transport', { transportsJson: [{ ...WS, port: LINE as unknown as number }] }],
    ['SNI as a target', { sni: '-.test' }],
  ] satisfies [string, Partial<Node>][])(
    'one whose %s is no such thing is not served, and no line is made of it',
    (_, fields) => {
      const row = node(fields as Partial<Node>)
      expect(servedNodes([row]).conflicts).toEqual([row])
      expect(() => coreParameters([row], target)).toThrow(/^a node's [a-z-]+ is none$/)
    },
  )

  test('a target that is none is told to no node', () => {
    expect(() => coreParameters([node()], () => '/run/x.sock')).toThrow("a node's target is none")
  })
})
