/** How far a request, a notice and a pass go through our files. The walks are taken by a script, since only Node counts what ran. */
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { beforeAll, expect, test } from 'vitest'
import { ROOT, runtimeBinary } from '#test/support/drivers/process.ts'

interface Found {
  walks: { name: string; files: string[]; chain: string[] }[]
  written: boolean
}

let found: Found
beforeAll(async () => {
  const script = join(ROOT, 'scripts/docs/walks.ts')
  const { stdout } = await promisify(execFile)(runtimeBinary('node'), [script, '--json'])
  found = JSON.parse(stdout)
}, 60_000)

test('none goes through more files than a reader keeps in mind', () => {
  const lengths = found.walks.map(({ chain }) => chain.length)
  expect(lengths).toHaveLength(3)
  const [list, notice, pass] = lengths
  expect(list).toBeLessThanOrEqual(6)
  expect(notice).toBeLessThanOrEqual(10)
  expect(pass).toBeLessThanOrEqual(10)
})

test('each begins where it should and reaches what it is for', () => {
  const [list, notice, pass] = found.walks.map(({ files }) => files)
  expect(list).toContain('src/domain/lists/shared-lists.ts')
  expect(notice).toContain('src/domain/payments/grant.ts')
  expect(pass).toContain('src/domain/nodes/sync/clients.ts')
})

test('docs/architecture.md has the table of walks; else run: node scripts/docs/walks.ts', () => {
  expect(found.written).toBe(true)
})
