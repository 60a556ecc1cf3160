import { describe, expect, test } from 'vitest'
import type { Node } from '#db/schema/index.ts'
import { hysteriaAuth } from '#src/domain/nodes/hysteria-auth.ts'
import { hysteriaParameters } from '#src/domain/nodes/hysteria-config.ts'
import type { SoundNode } from '#src/domain/nodes/sound.ts'
import { hysteriaConfig } from '#src/domain/nodes/sync/program-1.ts'
import { valuesOf } from '#src/domain/nodes/sync/values.ts'
import { UUID } from '#test/fixtures/lists/samples.ts'

/** What came past the rules, as much as what they let in. */
const node = (fields: Partial<Node> = {}): SoundNode =>
  ({
    code: 'n1',
    kind: 'managed',
    hysteriaPassword: 'node password',
    hysteriaObfsPassword: 'obfs password',
    transportsJson: [{ type: 'hysteria2', port: 8444 }],
    ...fields,
  }) as unknown as SoundNode

describe('the parameters of Hysteria', () => {
  test('are what the node program expects', () => {
    expect(hysteriaParameters(node())).toBe('hysteria 2\nport 8444\nobfs obfs%20password\n')
  })

  test('have no obfs where there is none', () => {
    for (const hysteriaObfsPassword of [null, '']) {
      expect(hysteriaParameters(node({ hysteriaObfsPassword }))).toBe('hysteria 2\nport 8444\n')
    }
  })

  test('let no password out of its line', () => {
    expect(hysteriaParameters(node({ hysteriaObfsPassword: 'a"}- b: %0A' }))).toBe(
      'hysteria 2\nport 8444\nobfs a%22}-%20b:%20%250A\n',
    )
    for (const hysteriaObfsPassword of ['a\nhop 1-65535', 'abc', 'x'.repeat(257)]) {
      const broken = node({ hysteriaObfsPassword })
      expect(() => hysteriaParameters(broken)).toThrow("a node's obfs is none")
    }
  })

  test('have the range of ports where there is one, which is one', () => {
    expect(hysteriaParameters(node({ hysteriaHop: '20000-30000' }))).toBe(
      'hysteria 2\nport 8444\nobfs obfs%20password\nhop 20000-30000\n',
    )
    expect(hysteriaParameters(node({ hysteriaHop: null }))).not.toContain('hop')
    for (const hysteriaHop of ['1-2\nx', '2-1', '20000'])
      expect(() => hysteriaParameters(node({ hysteriaHop }))).toThrow("a node's hop is none")
  })

  test('never hold the password that all others are made of', () => {
    expect(hysteriaParameters(node())).not.toContain('node')
  })

  test.each([
    ['without the transport', { transportsJson: [] }],
    ['without a password', { hysteriaPassword: null }],
    ['that is not managed', { kind: 'external' as const }],
  ])('are empty for a node %s, whose clients have no password either', (_, fields) => {
    expect(hysteriaParameters(node(fields))).toBe('')
    expect(valuesOf(node(fields), 2)(UUID)).toBe('n1')
  })
})

describe('the configuration for program 1', () => {
  test('is what the node program and Hysteria expect', () => {
    const lines = hysteriaConfig(node()).split('\n')
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
    const text = hysteriaConfig(node())
    for (const what of ['127.0.0.0/8', '10.0.0.0/8', '192.168.0.0/16', 'fc00::/7', 'all, tcp/25']) {
      expect(text).toContain(`    - "reject(${what})"\n`)
    }
    expect(text.endsWith('    - "direct(all)"\n')).toBe(true)
  })

  test('has a page for strangers where there is no obfs, and lets no password out of its string', () => {
    expect(hysteriaConfig(node({ hysteriaObfsPassword: null }))).toContain('\nmasquerade: ')
    const nasty = 'a"}- b: "c'
    const text = hysteriaConfig(node({ hysteriaObfsPassword: nasty }))
    expect(text).toContain(`{password: ${JSON.stringify(nasty)}}}\n`)
    expect(() => hysteriaConfig(node({ hysteriaObfsPassword: 'a\n- b' }))).toThrow('obfs')
  })

  test('is empty where there is no Hysteria', () => {
    expect(hysteriaConfig(node({ transportsJson: [] }))).toBe('')
  })
})

test('a client has its group and the password of its list as value', () => {
  const auth = hysteriaAuth('node password', UUID)
  expect(valuesOf(node(), 2)(UUID)).toBe(`n1 auth=${auth}`)
  expect(valuesOf(node(), 2)(UUID)).toBe(`n1 auth=${auth}`)
  const other = valuesOf(node({ hysteriaPassword: 'another' }), 2)(UUID)
  expect(other).not.toBe(`n1 auth=${auth}`)
})
