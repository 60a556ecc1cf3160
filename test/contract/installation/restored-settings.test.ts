import { statSync, writeFileSync } from 'node:fs'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { archiveOf, logInTo, restoreInto } from '#test/support/calls/restores.ts'
import { putSettings } from '#test/support/rows/records.ts'
import { createFileWorld, type FileWorld } from '#test/support/worlds/file-world.ts'

let w: FileWorld
beforeEach(async () => {
  w = await createFileWorld()
})
afterEach(() => w.close())

describe('settings of a restored backup', () => {
  test('live settings come from the backup at once, this machine keeps its own', async () => {
    w.close()
    w = await createFileWorld({
      env: 'PORT=4000\nBRAND_NAME=Old\nLEGAL_INN=1\nXRAY_BIN=/opt/xray\n',
    })
    const brand = async () => (await w.call('/', { host: 'site.test' })).text
    expect(await brand()).toContain('Old')
    const env = [
      'BRAND_NAME="  Restored  "',
      'HWID_FALLBACK_LIMIT=9',
      'CURRENCY=EUR',
      'SITE_DOMAIN=other.test',
      'PORT=5000',
      'XRAY_BIN=/tmp/evil',
      'NODE_OPTIONS=--require=/tmp/evil.js',
      'LD_PRELOAD=/tmp/evil.so',
      'PATH=/tmp',
      'BRAND_HUE=1000',
      'REFUND_HOURS=1',
      'REFUND_HOURS=2',
      'SUPPORT_EMAIL=a\rPANEL_PASSWORD=x',
      'LEGAL_NAME=a\0b',
      'LEGAL_INN',
      '# NOT_A_KEY=1',
    ].join('\n')
    const archive = await archiveOf((other) => {
      writeFileSync(other.envFile, env)
      putSettings(other, { SUPPORT_CONTACT: 'from a row', PLANTED: 'x', LEGAL_NAME: 'a\rb' })
    })
    const answer = await restoreInto(w, archive)
    expect(answer.restart_needed).toEqual(['SITE_DOMAIN', 'CURRENCY'])
    expect(answer.dropped).toEqual([
      ...['BRAND_HUE', 'LD_PRELOAD', 'LEGAL_NAME', 'NODE_OPTIONS', 'PATH', 'PLANTED', 'PORT'],
      ...['REFUND_HOURS', 'SUPPORT_EMAIL', 'XRAY_BIN'],
    ])
    expect(w.env()).toBe(
      [
        'INSTANCE_ID=11111111-2222-3333-4444-555555555555',
        'PORT=4000',
        'BRAND_NAME="  Restored  "',
        'XRAY_BIN=/opt/xray',
        'HWID_FALLBACK_LIMIT=9',
        'CURRENCY=EUR',
        'SITE_DOMAIN=other.test',
        '',
      ].join('\n'),
    )
    expect(statSync(w.envFile).mode & 0o777).toBe(0o600)
    expect(await brand()).toContain('Restored')
    const { json } = await w.admin('/admin/api/hwid-settings', { cookie: await logInTo(w) })
    expect(json.fallback_limit).toBe(9)
    expect(w.rows("select key, value from settings where key = 'SUPPORT_CONTACT'")).toHaveLength(1)
    expect(w.rows("select key from settings where key = 'PLANTED'")).toEqual([])
    expect(w.rows('select pending_env from instance')).toEqual([{ pending_env: null }])
    expect(
      w.rows("select detail from audit_log where action = 'backup.restore'")[0].detail,
    ).toContain('NODE_OPTIONS')
  })

  test('a row whose value the panel would refuse is dropped and named', async () => {
    const bad = {
      RECEIPT_MODE: '<x>',
      VAT_CODE: '99',
      OFFER_EFFECTIVE_DATE: 'soon',
      ADMIN_TG_IDS: 'me',
      WEBHOOK_URL: 'ftp://169.254.169.254/',
      PROVIDER_B_API_URL: 'http://127.0.0.1/',
      HWID_FALLBACK_LIMIT: '0',
    }
    const archive = await archiveOf((other) => putSettings(other, { ...bad, WEBHOOK_SECRET: 'ab' }))
    expect((await restoreInto(w, archive)).dropped).toEqual(Object.keys(bad).sort())
    const cookie = await logInTo(w)
    expect((await w.admin('/admin/api/hwid-settings', { cookie })).json.fallback_limit).toBe(5)
    expect((await w.admin('/admin/api/settings/webhook', { cookie })).json).toEqual({
      url: '',
      has_secret: true,
    })
  })

  test('a row that is longer or of more lines than the panel takes is dropped and named', async () => {
    const bad = {
      BRAND_NAME: 'x'.repeat(65),
      LEGAL_NAME: 'a\nb',
      BOT_TOKEN: 'a b',
      LEGAL_INN: '\u001b[31m',
    }
    const archive = await archiveOf((other) =>
      putSettings(other, { ...bad, APP_CATALOGUE: '[{}]', PREVIOUS_CREDENTIALS: '{}' }),
    )
    expect((await restoreInto(w, archive)).dropped).toEqual(
      ['APP_CATALOGUE', 'PREVIOUS_CREDENTIALS', ...Object.keys(bad)].sort(),
    )
  })

  const ADDRESS = 'https://evil.test'
  const led = { PROVIDER_B_API_URL: ADDRESS, PROVIDER_B_PRESET: 'generic' }
  const SECRET = { PROVIDER_B_SECRET: 'theirs' }
  const keys = Object.keys(led)
  const lines = (values: Record<string, string>) =>
    Object.entries(values).map(([key, value]) => `${key}=${value}\n`)
  const [fixed, unfixed] = [{ PROVIDER_B_SECRET: 'ours' }, {}] as Record<string, string>[]

  test.each<
    [name: string, fixed: object | undefined, rows: object, env: object, dropped: string[]]
  >([
    ['in rows without a secret goes', fixed, led, {}, keys],
    ['in rows without a secret goes, beside one of the env file', unfixed, led, SECRET, keys],
    ['in rows with their secret comes', fixed, { ...led, ...SECRET }, {}, []],
    ['in the env file without a secret goes', unfixed, {}, led, keys],
    ['in the env file with its secret comes', unfixed, {}, { ...led, ...SECRET }, []],
    ['in the env file goes where ours is fixed', fixed, {}, { ...led, ...SECRET }, keys],
    ['in the env file comes beside a secret in rows', fixed, SECRET, led, []],
    [
      'over http goes, from the env file as from a row',
      unfixed,
      {},
      { ...SECRET, PROVIDER_B_API_URL: 'http://evil.test' },
      ['PROVIDER_B_API_URL'],
    ],
  ])('an address of provider B %s', async (_name, own, rows, env, dropped) => {
    w.close()
    w = await createFileWorld({ environment: own as Record<string, string> })
    const archive = await archiveOf((other) => {
      putSettings(other, rows as Record<string, string>)
      writeFileSync(other.envFile, lines(env as Record<string, string>).join(''))
    })
    expect((await restoreInto(w, archive)).dropped).toEqual(dropped)
    const { json } = await w.admin('/admin/api/payments/provider-b-settings', {
      cookie: await logInTo(w),
    })
    expect(json.api_url === ADDRESS).toBe(dropped.length === 0)
  })

  test('of a setting that the backup has twice, this machine keeps its own', async () => {
    w.close()
    w = await createFileWorld({ env: 'LEGAL_INN=7\nLEGAL_NAME=Mine\n' })
    const archive = await archiveOf((other) =>
      writeFileSync(other.envFile, 'LEGAL_INN=8\nLEGAL_INN=9\n'),
    )
    expect((await restoreInto(w, archive)).dropped).toEqual(['LEGAL_INN'])
    expect(w.env()).toContain('LEGAL_INN=7')
    expect(w.env()).not.toContain('LEGAL_NAME')
  })

  const restoredOver = async (present: string, uploaded: string) => {
    w.close()
    w = await createFileWorld({ env: present })
    const id = /^INSTANCE_ID=.*\n/m
    const archive = await archiveOf((other) => writeFileSync(other.envFile, uploaded))
    const answer = await restoreInto(w, archive)
    return { answer, env: w.env().replace(id, '') }
  }
  const MADE_UP = 'SUB_DOMAIN=sub.localhost:3000\nPUBLIC_SCHEME=http\n'

  test('domains of a backup that ran on the default scheme come back with https', async () => {
    const { answer, env } = await restoredOver(MADE_UP, 'SUB_DOMAIN=sub.test\n')
    expect(answer.restart_needed).toEqual(['SUB_DOMAIN', 'PUBLIC_SCHEME'])
    expect(answer.kept).toEqual([])
    expect(env).toBe('SUB_DOMAIN=sub.test\n')
  })

  test.each([
    ['that the backup names', MADE_UP, 'SUB_DOMAIN=sub.test\nPUBLIC_SCHEME=http\n', []],
    ['that goes with the own domains', MADE_UP, 'CURRENCY=EUR\n', ['SUB_DOMAIN', 'PUBLIC_SCHEME']],
    ['when the domain of the backup is empty', MADE_UP, 'SUB_DOMAIN=\n', ['PUBLIC_SCHEME']],
  ])('a scheme stays %s', async (_name, present, uploaded, kept) => {
    const { answer, env } = await restoredOver(present, uploaded)
    expect(answer.restart_needed).not.toContain('PUBLIC_SCHEME')
    expect(answer.kept).toEqual(kept)
    expect(env).toContain('PUBLIC_SCHEME=http\n')
  })

  test('what the backup lacks and counts from a start stays, and is named', async () => {
    const { answer, env } = await restoredOver(
      'CURRENCY=EUR\nADMIN_PATH=x\nTIMEZONE=\n',
      'PORT=1\n',
    )
    expect(answer.kept).toEqual(['ADMIN_PATH', 'CURRENCY'])
    expect(env).toBe('CURRENCY=EUR\nADMIN_PATH=x\nTIMEZONE=\n')
  })

  test('of a setting that this machine has twice, one line is left', async () => {
    const { env } = await restoredOver(
      'LEGAL_INN=1\nPORT=1\nLEGAL_INN=2\nPORT=2\n',
      'LEGAL_INN=3\n',
    )
    expect(env).toBe('PORT=1\nLEGAL_INN=3\nPORT=2\n')
  })
})
