import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createRuleFiles } from '#src/integrations/files/rule-files.ts'
import type { RuleFiles } from '#src/ports/rule-files.ts'

const RULES = Buffer.from('SRS\x01rules')
const ADDRESS = 'https://rules.test/r'
const MINUTE = 60_000

let folder: string
let nowMs: number
/** What the address answers. */
let answer: { status: number; body: Uint8Array } | Error
let asked: string[]
let files: RuleFiles

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'subpanel-rule-files-'))
  mkdirSync(join(folder, 'rules'))
  nowMs = 0
  answer = { status: 200, body: RULES }
  asked = []
  files = createRuleFiles({
    config: { coresDir: folder },
    clock: { monotonicMs: () => nowMs },
    async outbound({ url }) {
      asked.push(url)
      if (answer instanceof Error) throw answer
      return { ...answer, complete: true }
    },
  })
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const put = (name: string, bytes: string | Buffer) =>
  writeFileSync(join(folder, 'rules', name), bytes)
const settled = () => new Promise((done) => setTimeout(done, 5))

describe('our own', () => {
  test('are missing while they are not there, or are no rule files', async () => {
    put('a.srs', RULES)
    put('b.srs', '<html>')
    expect(files.missing(['a.srs', 'b.srs', 'c.srs'], null)).toEqual(['b.srs', 'c.srs'])
    expect(await files.look(['a.srs', 'b.srs', 'c.srs'], null)).toEqual(['b.srs', 'c.srs'])
    expect(files.read('b.srs')).toBeNull()
    expect(Buffer.from(files.read('a.srs') ?? []).equals(RULES)).toBe(true)
  })

  test('are read anew when they are others, and looked for again after a while', () => {
    expect(files.missing(['a.srs'], null)).toEqual(['a.srs'])
    put('a.srs', Buffer.from('SRS\x01other rules'))
    expect(files.missing(['a.srs'], null)).toEqual(['a.srs'])
    nowMs += 10_000
    expect(files.missing(['a.srs'], null)).toEqual([])
    put('a.srs', RULES)
    expect(Buffer.from(files.read('a.srs') ?? []).toString('latin1')).toBe('SRS\x01rules')
  })
})

describe('at an address', () => {
  const missing = () => files.missing(['a.srs'], ADDRESS)

  test('are missing after two looks that have not found them, and back after one that has', async () => {
    answer = { status: 404, body: Buffer.from('none') }
    expect(missing()).toEqual([])
    await settled()
    expect(missing()).toEqual([])
    nowMs += MINUTE
    missing()
    await settled()
    expect(missing()).toEqual(['a.srs'])
    answer = { status: 200, body: RULES }
    nowMs += MINUTE
    missing()
    await settled()
    expect(missing()).toEqual([])
    expect(asked).toEqual(Array(3).fill(`${ADDRESS}/a.srs`))
  })

  test('are asked for once in ten minutes while they are there', async () => {
    for (let i = 0; i < 5; i++) missing()
    await settled()
    nowMs += 9 * MINUTE
    missing()
    await settled()
    expect(asked).toHaveLength(1)
    nowMs += MINUTE
    missing()
    await settled()
    expect(asked).toHaveLength(2)
  })

  test('are looked at now where an admin waits: a page, a redirect and no answer are none', async () => {
    expect(await files.look(['a.srs'], ADDRESS)).toEqual([])
    for (const other of [
      { status: 200, body: Buffer.from('<html>') },
      { status: 302, body: RULES },
      new Error('no connection'),
    ]) {
      answer = other
      expect(await files.look(['a.srs'], ADDRESS)).toEqual(['a.srs'])
    }
  })
})
