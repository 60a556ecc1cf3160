import { describe, expect, test } from 'vitest'
import type { Node } from '#db/schema.ts'
import { coreConfig, servedNodes } from '#src/domain/core-config.ts'

const WS = { type: 'ws', port: 8443, path: '/ws' } as const
const XHTTP = { type: 'xhttp', port: 443, path: '/xh' } as const

const node = (fields: Partial<Node> = {}): Node =>
  ({
    code: 'de1',
    port: 443,
    privateKey: 'PRIVATE',
    publicKey: 'PUBLIC',
    shortId: '0123456789abcdef',
    sni: 'target.test',
    flow: 'xtls-rprx-vision',
    kind: 'managed',
    transportsJson: [],
    ...fields,
  }) as unknown as Node

const target = (row: Node) => `${row.sni}:443`

/** The text as the node program fills it in. */
function filled(text: string): { inbounds: Record<string, never>[] } & Record<string, never> {
  return JSON.parse(
    text.replace(/^@clients .*@$/gm, '{"id":"x"}').replaceAll('@api@', '/api.sock,0660'),
  )
}

describe('coreConfig', () => {
  test('is what the node program and the core expect', () => {
    const text = coreConfig([node()], target)
    expect(text.split('\n').filter((line) => /^("tag"|"port"|@)/.test(line))).toEqual([
      '"tag":"de1.reality",',
      '"port":443,',
      '@clients de1 xtls-rprx-vision@',
    ])
    expect(filled(text)).toMatchObject({
      log: { access: 'none' },
      api: { listen: '/api.sock,0660', services: ['HandlerService', 'StatsService'] },
      policy: {
        levels: { 0: { statsUserUplink: true, statsUserDownlink: true, statsUserOnline: true } },
      },
      inbounds: [
        {
          protocol: 'vless',
          streamSettings: {
            realitySettings: {
              target: 'target.test:443',
              serverNames: ['target.test'],
              privateKey: 'PRIVATE',
              shortIds: ['0123456789abcdef'],
              minClientVer: '1.0.0',
            },
          },
        },
      ],
    })
  })

  test('has an inbound per node, and none without nodes', () => {
    const two = filled(coreConfig([node(), node({ code: 'B_2', port: 8443, flow: '' })], target))
    expect(two.inbounds.map((inbound) => inbound.tag)).toEqual(['de1.reality', 'B_2.reality'])
    expect(coreConfig([node({ flow: '' })], target)).toContain('\n@clients de1@\n')
    expect(filled(coreConfig([], target)).inbounds).toEqual([])
  })

  test('never lets a field out of its string', () => {
    const nasty = 'a"},{"x":"\n@clients evil@\n'
    const text = coreConfig([node({ sni: nasty, shortId: nasty })], target)
    expect(text).not.toMatch(/^@clients evil/m)
    expect(filled(text).inbounds).toHaveLength(1)
  })
})

describe('WS and XHTTP', () => {
  const inbounds = (...nodes: Node[]) =>
    // biome-ignore lint/suspicious/noExplicitAny: Xray's config is checked field by field
    filled(coreConfig(nodes, target)).inbounds as any[]
  const tags = (...nodes: Node[]) => inbounds(...nodes).map(({ tag }) => tag)

  test('XHTTP listens behind the REALITY port, on a socket of its own per node, without flow', () => {
    const rows = [node({ transportsJson: [XHTTP] }), node({ code: 'b', port: 444 })]
    const [reality, xhttp, other] = inbounds(...rows)
    expect(reality.settings.fallbacks).toEqual([{ dest: '@subpanel.de1.xhttp', xver: 2 }])
    expect(xhttp).toMatchObject({
      tag: 'de1.xhttp',
      listen: '@subpanel.de1.xhttp',
      streamSettings: { xhttpSettings: { path: '/xh' }, sockopt: { acceptProxyProtocol: true } },
    })
    expect(xhttp).not.toHaveProperty('port')
    expect(other.settings).not.toHaveProperty('fallbacks')
    const clients = coreConfig(rows, target).match(/^@clients.*@$/gm)
    expect(clients).toEqual([
      '@clients de1 xtls-rprx-vision@',
      '@clients de1@',
      '@clients b xtls-rprx-vision@',
    ])
  })

  test('WS has a port and the certificate of the node', () => {
    const [, ws] = inbounds(node({ transportsJson: [WS] }))
    expect(ws).toMatchObject({
      tag: 'de1.ws',
      port: 8443,
      streamSettings: {
        network: 'ws',
        security: 'tls',
        tlsSettings: {
          certificates: [{ certificateFile: '@dir@/tls/node.crt', keyFile: '@dir@/tls/node.key' }],
        },
        wsSettings: { path: '/ws' },
      },
    })
  })

  test('WS is left out where its port is in use, and where nobody made a certificate', () => {
    const transportsJson = [WS]
    expect(tags(node({ port: 8443, transportsJson }))).toEqual(['de1.reality'])
    expect(tags(node({ kind: 'local', transportsJson }))).toEqual(['de1.reality'])
    const two = [node({ transportsJson }), node({ code: 'b', port: 444, transportsJson })]
    expect(tags(...two)).toEqual(['de1.reality', 'de1.ws', 'b.reality'])
  })

  test('a path without its slash is the path of the lists', () => {
    const [, ws] = inbounds(node({ transportsJson: [{ ...WS, path: 'ws' }] }))
    expect(ws.streamSettings.wsSettings.path).toBe('/ws')
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
})
