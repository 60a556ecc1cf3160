import { describe, expect, test } from 'vitest'
import type { Node } from '#db/schema.ts'
import { valuesOf } from '#src/domain/client-values.ts'
import { hysteriaConfig } from '#src/domain/hysteria-config.ts'
import { hysteriaAuth } from '#src/domain/list-entries.ts'
import { UUID } from '#test/fixtures/lists/samples.ts'

const node = (fields: Partial<Node> = {}): Node =>
  ({
    code: 'n1',
    kind: 'managed',
    hysteriaPassword: 'node password',
    hysteriaObfsPassword: 'obfs password',
    transportsJson: [{ type: 'hysteria2', port: 8444 }],
    ...fields,
  }) as unknown as Node

describe('hysteriaConfig', () => {
  test('is what the node program and Hysteria expect', () => {
    const lines = (hysteriaConfig(node()) as string).split('\n')
    expect(lines.slice(0, 6)).toEqual([
      'listen: ":8444"',
      'tls: {cert: "@dir@/tls/node.crt", key: "@dir@/tls/node.key", sniGuard: disable}',
      'obfs: {type: salamander, salamander: {password: "obfs password"}}',
      'auth: {type: command, command: "@auth@"}',
      'trafficStats: {listen: "@api@", secret: "@secret@"}',
      'acl:',
    ])
    expect(lines.at(-1)).toBe('')
  })

  test('blocks the machine, its networks and mail', () => {
    const text = hysteriaConfig(node()) as string
    for (const what of ['127.0.0.0/8', '10.0.0.0/8', '192.168.0.0/16', 'fc00::/7', 'all, tcp/25']) {
      expect(text).toContain(`    - "reject(${what})"\n`)
    }
    expect(text.endsWith('    - "direct(all)"\n')).toBe(true)
  })

  test('never holds the password that all others are made of', () => {
    expect(hysteriaConfig(node())).not.toContain('node password')
  })

  test('has a page for strangers where there is no obfs, and lets no password out of its string', () => {
    expect(hysteriaConfig(node({ hysteriaObfsPassword: null }))).toContain('\nmasquerade: ')
    const nasty = 'a"}\n- b: "c'
    const text = hysteriaConfig(node({ hysteriaObfsPassword: nasty })) as string
    expect(text).toContain(`{password: ${JSON.stringify(nasty)}}}\n`)
    expect(text).not.toMatch(/^- b/m)
  })

  test.each([
    ['without the transport', { transportsJson: [] }],
    ['without a password', { hysteriaPassword: null }],
    ['that is not managed', { kind: 'external' as const }],
  ])('is null for a node %s, whose clients have no password either', (_, fields) => {
    expect(hysteriaConfig(node(fields))).toBe(null)
    expect(valuesOf(node(fields))(UUID)).toBe('n1')
  })
})

test('a client has its group and the password of its list as value', () => {
  const auth = hysteriaAuth('node password', UUID)
  expect(valuesOf(node())(UUID)).toBe(`n1 ${auth}`)
  expect(valuesOf(node())(UUID)).toBe(`n1 ${auth}`)
  const other = valuesOf(node({ hysteriaPassword: 'another' }))(UUID)
  expect(other).not.toBe(`n1 ${auth}`)
})
