/** A setting is one declaration: everything else has it from there. */
import { afterEach, describe, expect, test } from 'vitest'
import { loadConfig } from '#src/config.ts'
import { acceptedRows, mergeEnv } from '#src/domain/installation/restored-env.ts'
import { createDocument } from '#src/http/openapi.ts'
import { GATEWAYS } from '#src/integrations/payments/index.ts'
import { integer } from '#src/lib/values.ts'
import { hidden, whole } from '#src/settings/kinds.ts'
import { LIVE } from '#src/settings/live.ts'
import type { LiveSetting } from '#src/settings/setting.ts'
import { settingsTable } from '#src/settings/table.ts'
import { createWorld, type World } from '#test/support/worlds/world.ts'
import { withTables } from '../../../scripts/docs/settings.ts'

const RADIUS: LiveSetting = {
  key: 'BRAND_RADIUS',
  ...whole([0, 40], { place: { form: 'brand', name: 'radius' }, shown: integer(0, 40) }),
  fallback: '8',
  docs: 'how round corners are',
}
const SEAL: LiveSetting = {
  key: 'BRAND_SEAL',
  ...hidden(64, { form: 'brand', name: 'has_seal' }),
  docs: 'what pages are sealed with',
}
const settings = [...LIVE, RADIUS, SEAL]
const table = settingsTable(GATEWAYS, settings)
const known = { gateways: GATEWAYS, settings: table }
const BRAND = '/admin/api/settings/brand'

let w: World | undefined
afterEach(() => {
  w?.close()
  w = undefined
})
const begin = async (environment: Record<string, string> = {}) => {
  w = await createWorld({ settings, environment })
  return w
}

test('a start reads it, and refuses what it can not be', () => {
  const load = (environment: Record<string, string>) =>
    loadConfig({ ENV_FILE: '/nonexistent/.env', ...environment }, '/', GATEWAYS, settings)
  expect(load({ BRAND_RADIUS: ' 9 ' }).live).toEqual({ BRAND_RADIUS: '9' })
  expect(() => load({ BRAND_RADIUS: '41' })).toThrow(
    'BRAND_RADIUS must be a whole number from 0 to 40',
  )
  expect(load({ BRAND_RADIUS: '9' }).fixedKeys).toEqual(['BRAND_RADIUS'])
})

describe('its form', () => {
  test('shows its default, else what the environment says, and never a secret', async () => {
    const without = await begin()
    expect((await without.admin(BRAND)).json).toMatchObject({ radius: 8, has_seal: false })
    without.close()
    const answer = await (await begin({ BRAND_RADIUS: '9', BRAND_SEAL: 'wax-1' })).admin(BRAND)
    expect(answer.json).toEqual({
      brand_name: 'Subpanel',
      brand_hue: 255,
      radius: 9,
      has_seal: true,
    })
    expect(answer.text).not.toContain('wax-1')
  })

  test('saves it as a row that wins, noted by its name, and refuses what it can not be', async () => {
    const world = await begin({ BRAND_RADIUS: '9' })
    const saved = await world.admin(BRAND, { body: { radius: 20 } })
    expect([saved.status, saved.json.radius]).toEqual([200, 20])
    expect(world.rows("select value from settings where key = 'BRAND_RADIUS'")).toEqual([
      { value: '20' },
    ])
    expect(world.rows("select object from audit_log where action = 'settings.change'")).toEqual([
      { object: 'BRAND_RADIUS' },
    ])
    const refused = await world.admin(BRAND, { body: { radius: 41 } })
    expect([refused.status, refused.json]).toEqual([
      400,
      { error: 'radius must be a whole number from 0 to 40' },
    ])
    const hiddenOne = await world.admin(BRAND, { body: { has_seal: true } })
    expect([hiddenOne.status, hiddenOne.json.error]).toEqual([400, 'nothing to change'])
  })

  test('is described', async () => {
    const { paths } = createDocument((await begin()).config)
    const { get, post } = JSON.parse(JSON.stringify(paths[BRAND]))
    const numbers = { type: 'integer', minimum: 0, maximum: 40 }
    expect(get.responses[200].content['application/json'].schema).toMatchObject({
      properties: { radius: numbers, has_seal: { type: 'boolean' } },
      required: ['brand_name', 'brand_hue', 'radius', 'has_seal'],
    })
    const body = post.requestBody.content['application/json'].schema
    expect(body).toMatchObject({ properties: { radius: numbers } })
    expect(JSON.stringify(body)).not.toContain('seal')
  })
})

describe('a restore', () => {
  const rows = (value: string) => [{ key: 'BRAND_RADIUS', value }]
  const merge = (text: string, one = table) =>
    mergeEnv('', text, { settings: one, rows: new Set(), fixed: new Set() })

  test('takes its row where the panel would have', () => {
    expect(acceptedRows(known, rows('20'))).toEqual(new Set(['BRAND_RADIUS']))
    expect(acceptedRows(known, rows('41'))).toEqual(new Set())
    const usual = { gateways: GATEWAYS, settings: settingsTable(GATEWAYS) }
    expect(acceptedRows(usual, rows('20'))).toEqual(new Set())
  })

  test('takes its line of the env file where a start would', () => {
    expect(merge('BRAND_RADIUS=20\n')).toMatchObject({ text: 'BRAND_RADIUS=20\n', dropped: [] })
    expect(merge('BRAND_RADIUS=41\n')).toMatchObject({ text: '', dropped: ['BRAND_RADIUS'] })
    const usual = merge('BRAND_RADIUS=20\n', settingsTable(GATEWAYS))
    expect(usual).toMatchObject({ text: '', dropped: ['BRAND_RADIUS'] })
  })
})

test('the table of the documents has it', () => {
  const empty = ['start', 'live']
    .map((name) => `<!-- settings: ${name} --><!-- end of settings: ${name} -->`)
    .join('\n')
  expect(withTables(empty, GATEWAYS, table)).toContain(
    '| `BRAND_RADIUS` | `8` | how round corners are |\n| `BRAND_SEAL` |  | what pages are sealed with |\n',
  )
})
