import { describe, expect, test } from 'vitest'
import type { Node } from '#db/schema.ts'
import { coreConfig, servedNodes } from '#src/domain/core-config.ts'

const node = (fields: Partial<Node> = {}): Node =>
  ({
    code: 'de1',
    port: 443,
    privateKey: 'PRIVATE',
    publicKey: 'PUBLIC',
    shortId: '0123456789abcdef',
    sni: 'target.test',
    flow: 'xtls-rprx-vision',
    ...fields,
  }) as Node

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
