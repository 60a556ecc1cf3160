import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import * as v from 'valibot'
import { describe, expect, test } from 'vitest'
import { providerId } from '#db/values.ts'
import { GATEWAYS } from '#src/integrations/payments/index.ts'
import { example } from '#test/support/fakes/example-gateway/index.ts'
import { projectFiles } from '../../../../scripts/lint/layers.ts'

const ALL = [...GATEWAYS, example]
const keysOf = ({ enabledKey, settings }: (typeof ALL)[number]) => [
  enabledKey,
  ...settings.map(({ key }) => key),
]
/** What is there more than once. */
const repeated = (names: string[]) => names.filter((name, i) => names.indexOf(name) !== i)

test('no two gateways share an id, a setting or an address for notices', () => {
  expect(repeated(ALL.map(({ id }) => id))).toEqual([])
  expect(repeated(ALL.flatMap(keysOf))).toEqual([])
  const notices = ALL.flatMap(({ notices = [] }) => notices)
  expect(repeated(notices.map(({ name }) => name))).toEqual([])
  expect(repeated(ALL.flatMap(({ ownRoute }) => ownRoute?.name ?? []))).toEqual([])
})

describe.each(ALL)('$id', (gateway) => {
  const { id, settings, noticeName, notices = [] } = gateway

  test('has an id that rows take', () => {
    expect(v.is(providerId, id)).toBe(true)
  })

  test('is not complete with nothing set, and has a name all the same', () => {
    const shop = gateway.shop(() => '')
    expect(gateway.isComplete(shop)).toBe(false)
    expect(gateway.label(shop)).not.toBe('')
  })

  test('has no field twice, and leads only secrets of its own', () => {
    expect(repeated(settings.flatMap(({ name, aliases = [] }) => [name, ...aliases]))).toEqual([])
    const secrets = settings.filter(({ secret }) => secret).map(({ key }) => key)
    const led = settings.flatMap(({ leads }) => leads ?? [])
    expect(led.filter((key) => !secrets.includes(key))).toEqual([])
    // What says where a secret goes is never one that a backup brings alone.
    const addresses = settings.filter(({ isAddress }) => isAddress)
    expect(addresses.filter(({ leads }) => leads === undefined)).toEqual([])
  })

  test('is told an address for notices that it has', () => {
    const shop = gateway.shop((key) => settings.find((one) => one.key === key)?.fallback ?? '')
    const name = noticeName?.(shop) ?? id
    if (notices.length > 0) expect(notices.map((one) => one.name)).toContain(name)
  })
})

test.each(GATEWAYS)('$id is in the documents, with its addresses', ({ id, notices = [] }) => {
  const names = [id, ...notices.map(({ name }) => `/payments/webhook/${name}`)]
  for (const file of ['gateways', 'payments']) {
    const text = readFileSync(join(import.meta.dirname, `../../../../docs/${file}.md`), 'utf8')
    expect(
      names.filter((name) => !text.includes(`${name}\``)),
      file,
    ).toEqual([])
  }
})

/** What Telegram makes special: its own currency, and payments that only the bot hears of. */
const STARS_TOO = ['src/bot/stars.ts', 'src/web/assets/cabinet/buying.ts']

test('nothing else names a gateway or its settings', () => {
  const names = GATEWAYS.flatMap((gateway) => [
    ...keysOf(gateway),
    ...(gateway.notices ?? []).map(({ name }) => `/webhook/${name}`),
    ...["'", '"', '`'].map((quote) => `${quote}${gateway.id}${quote}`),
  ])
  const root = join(import.meta.dirname, '../../../..')
  const naming = [...projectFiles(root)].filter(
    ([path, text]) =>
      /^(?:src|db)\//.test(path) &&
      !path.startsWith('src/integrations/payments/') &&
      names.some((name) => text.includes(name)),
  )
  expect(naming.map(([path]) => path).sort()).toEqual(STARS_TOO)
})
