/** What docs/api.md lists by hand: that it has all that the sources declare. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { LIST_FORMATS } from '#src/domain/lists/formats.ts'
import { EVENTS } from '#src/domain/notify/events.ts'
import { allOperations } from '#src/http/admin/operations.ts'
import { GATEWAYS } from '#src/integrations/payments/index.ts'
import { LIVE } from '#src/settings/live.ts'
import type { LiveSetting } from '#src/settings/setting.ts'
import { settingsTable } from '#src/settings/table.ts'

const docs = readFileSync(join(import.meta.dirname, '../../../docs/api.md'), 'utf8')
const live: readonly LiveSetting[] = LIVE
const config = { adminPath: 'admin', gateways: GATEWAYS, settings: settingsTable(GATEWAYS) }

/** Names of parameters are for readers. */
const plain = (path: string) => path.replace(/\{\w+\}/g, '{}')

/** What the rows of tables begin with: their methods, and their paths, of which some are only how another one ends. */
const rows = docs.split('\n').flatMap((line) => {
  const first = /^\| (`.*?) \|/.exec(line)?.[1]
  if (!first) return []
  const spans = [...first.matchAll(/`([^`]+)`/g)].map((match) => plain(match[1] ?? ''))
  return { methods: first, ends: spans.map((span) => span.replace(/^[A-Z]+ ?|^…\//g, '')) }
})

test('every route of the admin API', () => {
  const isNamed = (method: string, path: string) =>
    docs.includes(`\`${method} ${path}\``) ||
    rows.some(
      ({ methods, ends }) =>
        methods.includes(method) && ends.some((end) => path === end || path.endsWith(`/${end}`)),
    )
  const routes = allOperations(config).map(({ method, path }) => ({
    method: method.toUpperCase(),
    path: plain(path).replace('/admin/api/', ''),
  }))
  expect(routes.length).toBeGreaterThan(80)
  expect(routes.filter(({ method, path }) => !isNamed(method, path))).toEqual([])
})

test.each<[string, string, readonly string[]]>([
  ['every event', 'Events', EVENTS.filter((name) => name !== 'webhook.test')],
  ['every list format', 'Lists', LIST_FORMATS],
  ['every field of settings', 'Settings', live.flatMap(({ field }) => field?.name ?? [])],
])('%s', (_what, title, names) => {
  const [, after = ''] = docs.split(`\n## ${title}\n`)
  const [part = ''] = after.split('\n## ')
  const isNamed = (name: string) => new RegExp(`\\b${name.replace('.', '\\.')}\\b`).test(part)
  expect(names.length).toBeGreaterThan(4)
  expect(names.filter((name) => !isNamed(name))).toEqual([])
})

test('every address for notices', () => {
  const line = docs.split('\n').find((one) => one.startsWith('Notices of gateways'))
  const names = GATEWAYS.flatMap(({ notices = [] }) => notices.map(({ name }) => name))
  expect(names.filter((name) => !new RegExp(`\\b${name}\\b`).test(line ?? ''))).toEqual([])
})
