/** What nodes of the former node program are told must stay byte for byte what it was: another text would start their cores anew. */
import { describe, expect, test } from 'vitest'
import type { Node } from '#db/schema/index.ts'
import { hysteriaAuth } from '#src/domain/nodes/hysteria-auth.ts'
import type { SoundNode } from '#src/domain/nodes/sound.ts'
import { coreConfig, hysteriaConfig } from '#src/domain/nodes/sync/program-1.ts'
import { configurationsOf, outdatedProgram } from '#src/domain/nodes/sync/programs.ts'
import { valuesOf } from '#src/domain/nodes/sync/values.ts'
import { sha256Hex } from '#src/lib/crypto.ts'
import { UUID } from '#test/fixtures/lists/samples.ts'

const WS = { type: 'ws', port: 8443, path: '/ws' } as const
const XHTTP = { type: 'xhttp', port: 443, path: 'xh' } as const
const HYSTERIA = { type: 'hysteria2', port: 8444 } as const

/** What came past the rules, as much as what they let in. */
const node = (fields: Partial<Node> = {}): SoundNode =>
  ({
    code: 'de1',
    port: 443,
    privateKey: 'K'.repeat(43),
    shortId: '0123456789abcdef',
    sni: 'target.test',
    flow: 'xtls-rprx-vision',
    kind: 'managed',
    hysteriaPassword: 'p',
    hysteriaObfsPassword: 'obfs "password"',
    transportsJson: [],
    ...fields,
  }) as unknown as SoundNode

const target = (row: Node) => `${row.sni}:443`

describe('the texts of commit f588ccf', () => {
  const local = node({ code: 'B_2', port: 8444, flow: '', kind: 'local', shortId: '' })
  const all = node({ transportsJson: [WS, XHTTP, HYSTERIA] })
  const hysteria = (fields: Partial<Node>) =>
    hysteriaConfig(node({ transportsJson: [HYSTERIA], ...fields }))

  test.each([
    [
      coreConfig([all, local], target),
      '0130ea000cfe690db382f51da769fd418a14a9f2de76021a41bcb3ba5f1c5af6',
    ],
    [coreConfig([], target), 'f3e441e98e47b1fc58ba6d78fdfd2da2ac23a934d774d74d67a43a852689e1de'],
    [hysteria({}), 'aad3374184538d5eea5eb8005738b09a4985462d4c74c8074d2aa4eff7f48db4'],
    // It knows no range of ports.
    [
      hysteria({ hysteriaHop: '20000-30000' }),
      'aad3374184538d5eea5eb8005738b09a4985462d4c74c8074d2aa4eff7f48db4',
    ],
    [
      hysteria({ hysteriaObfsPassword: null }),
      'ca74faea5cd356cdcd5a8512f1dcfe90075ded2b20dd81491e375128992afcb0',
    ],
  ])('%#', (text, sha) => {
    expect(sha256Hex(text)).toBe(sha)
  })
})

test('values that no rule has seen are refused here as well', () => {
  const line = 'zz@\n]}\n@clients x'
  expect(() => coreConfig([node({ code: line })], target)).toThrow("a node's inbound is none")
  const port = { ...HYSTERIA, port: '1"\nauth: {}' as unknown as number }
  expect(() => hysteriaConfig(node({ transportsJson: [port] }))).toThrow("a node's port is none")
})

test('each program gets configurations and clients in its own form', () => {
  const row = node({ transportsJson: [HYSTERIA] })
  const auth = hysteriaAuth('p', UUID)
  expect(valuesOf(row, 1)(UUID)).toBe(`de1 ${auth}`)
  expect(valuesOf(row, 2)(UUID)).toBe(`de1 auth=${auth}`)
  expect(configurationsOf(1, [row], target).core).toMatch(/^\{"log"/)
  expect(configurationsOf(1, [row], target).hysteria).toMatch(/^listen: /)
  expect(configurationsOf(2, [row], target).core).toMatch(/^xray 2\n/)
  expect(configurationsOf(2, [row], target).hysteria).toMatch(/^hysteria 2\n/)
})

test('a managed node that runs it is outdated, and says what it lacks', () => {
  const outdated = { program: 1, lacks: ['own-configuration'] }
  expect(outdatedProgram({ kind: 'managed', program: 1 })).toEqual(outdated)
  const hops = { kind: 'managed', program: 1, hysteriaHop: '1-2' } as const
  expect(outdatedProgram(hops)?.lacks).toEqual(['own-configuration', 'port-hopping'])
  for (const program of [null, 2, 3]) {
    expect(outdatedProgram({ kind: 'managed', program })).toBe(null)
  }
  expect(outdatedProgram({ kind: 'local', program: 1 })).toBe(null)
})
