import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { fromPending, toPending, withoutServer } from '#src/lib/pending-env.ts'

const SERVER = 'postgres://shop:secret@db/shop'
const ADDRESS = `DATABASE_URL=${SERVER}`
let folder: string
let envFile: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'subpanel-pending-'))
  envFile = join(folder, '.env')
  writeFileSync(envFile, `A=0\n${ADDRESS}\n`)
})
afterAll(() => rmSync(folder, { recursive: true }))

test('beside a file it is the text as it is', () => {
  const place = { envFile, databaseUrl: null }
  expect(toPending(place, 'A=1\n')).toBe('A=1\n')
  expect(fromPending(place, 'A=1\n')).toBe('A=1\n')
  expect(fromPending(place, undefined)).toBe(undefined)
})

test('on a server it has no address, and gets that of this machine back', () => {
  const place = { envFile, databaseUrl: SERVER }
  const pending = toPending(place, `A=1\n${ADDRESS}\n`)
  expect(pending).not.toContain('secret')
  expect(fromPending(place, pending)).toBe(`A=1\n${ADDRESS}\n`)
  const elsewhere = { envFile: join(folder, 'other'), databaseUrl: SERVER }
  expect(fromPending(elsewhere, toPending(elsewhere, 'A=1\n'))).toBe('A=1\n')
})

test("another machine's is none of ours", () => {
  const place = { envFile, databaseUrl: SERVER }
  expect(
    fromPending({ envFile: '/other/.env', databaseUrl: SERVER }, toPending(place, 'A=1\n')),
  ).toBe(undefined)
  expect(fromPending(place, 'A=1\n')).toBe(undefined)
})

test.each([
  [`A=1\n${ADDRESS}\nB=2\n`, 'A=1\nB=2\n'],
  [` export DATABASE_URL = "postgresql://x:secret@y/z"\n${ADDRESS}`, ''],
  [
    `DATABASE_URL=" postgres://x:secret@y/z"\n# ${ADDRESS}\nDATABASE_URL=file:x\n`,
    'DATABASE_URL=file:x\n',
  ],
  ['DATABASE_URL=file:/srv/panel.db\n', 'DATABASE_URL=file:/srv/panel.db\n'],
  ['#DATABASE_URL=file:x\n', '#DATABASE_URL=file:x\n'],
])('of %j without a server is left %j', (text, left) => {
  expect(withoutServer(text)).toBe(left)
})
