/** Writes the tables of settings in docs/deploying.md, between their markers, from the declarations: src/settings and the gateways. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { GATEWAYS } from '#src/integrations/payments/index.ts'
import type { GatewayDescriptor } from '#src/ports/payment-gateway.ts'
import type { Setting } from '#src/settings/setting.ts'
import { START } from '#src/settings/start.ts'
import { type SettingsTable, settingsTable } from '#src/settings/table.ts'
import { withPart } from './marked-part.ts'

const FILE = join(import.meta.dirname, '..', '..', 'docs', 'deploying.md')

const rowOf = ({ key, fallback = '', docsDefault, docs }: Setting) =>
  `| \`${key}\` | ${docsDefault ?? (fallback === '' ? '' : `\`${fallback}\``)} | ${docs} |`

const tableOf = (settings: Iterable<Setting>) =>
  ['| name | default | meaning |', '| --- | --- | --- |', ...[...settings].map(rowOf)].join('\n')

/** The variables that move the gateways' APIs, but those that settings are already. */
const addressesOf = (gateways: readonly GatewayDescriptor[]): Setting[] =>
  gateways.flatMap(({ apiUrl, docs }) =>
    apiUrl && !START.some(({ key }) => key === apiUrl.key)
      ? [{ ...apiUrl, docs: `address of the API of ${docs}` }]
      : [],
  )

/** The text with its tables as these settings make them. */
export function withTables(
  text: string,
  gateways: readonly GatewayDescriptor[],
  { all }: SettingsTable,
): string {
  const tables = { start: [...START, ...addressesOf(gateways)], live: all.values() }
  let next = text
  for (const [name, settings] of Object.entries(tables)) {
    next = withPart('docs/deploying.md', next, `settings: ${name}`, tableOf(settings))
  }
  return next
}

/** docs/deploying.md as it is, and as it should be. */
export function readDocs(): { present: string; wanted: string } {
  const present = readFileSync(FILE, 'utf8')
  return { present, wanted: withTables(present, GATEWAYS, settingsTable(GATEWAYS)) }
}

if (import.meta.main) {
  const { present, wanted } = readDocs()
  if (present !== wanted) writeFileSync(FILE, wanted)
  console.log(`docs/deploying.md: ${present === wanted ? 'as it should be' : 'written anew'}`)
}
