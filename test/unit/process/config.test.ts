import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ConfigError, loadConfig } from '#src/config.ts'
import { GATEWAYS } from '#src/integrations/payments/index.ts'
import { settingsTable } from '#src/settings/table.ts'

let cwd: string

beforeAll(() => {
  cwd = mkdtempSync(join(tmpdir(), 'subpanel-config-'))
})

afterAll(() => rmSync(cwd, { recursive: true }))

const load = (environment: Record<string, string | undefined> = {}) =>
  loadConfig(environment, cwd, GATEWAYS)

/** Loads with an env file of this text beside the process's variables. */
function loadFile(text: string, environment: Record<string, string> = {}) {
  writeFileSync(join(cwd, 'some.env'), text)
  return load({ ENV_FILE: 'some.env', ...environment })
}

describe('with nothing configured', () => {
  test("everything fits a developer's machine", () => {
    expect(load()).toEqual({
      port: 3000,
      host: '127.0.0.1',
      webProcesses: 1,
      dataDir: join(cwd, 'data'),
      envFile: join(cwd, '.env'),
      envText: '',
      databasePath: join(cwd, 'data', 'panel.db'),
      databaseUrl: null,
      domains: {
        sub: 'sub.localhost:3000',
        site: 'site.localhost:3000',
        panel: 'panel.localhost:3000',
      },
      publicScheme: 'http',
      defaultDomains: true,
      adminPath: 'admin',
      coveredPath: null,
      reauth: true,
      panelPassword: '',
      trustedProxies: null,
      hostIsolation: false,
      logLevel: 'info',
      defaultLang: 'en',
      currency: 'RUB',
      timezone: 'UTC',
      localNode: {
        on: true,
        elsewhere: false,
        address: 'panel.localhost',
        port: null,
        sni: 'dl.google.com',
        target: '',
        core: 'embedded',
        socket: '/run/subpanel/node.sock',
      },
      searchPath: '',
      readLive: expect.any(Function),
      settings: settingsTable(GATEWAYS),
      restoreMaxBytes: 512 * 1024 ** 2,
      snapshotMaxBytes: 2048 * 1024 ** 2,
      staleListsBytes: 0,
      snapshotCopyCommand: '',
      backupPassphraseFile: '',
      unknownKeys: [],
      xrayBin: '',
      hysteriaBin: '',
      coresDir: join(cwd, 'data', 'cores'),
      coresUrl: 'https://github.com',
      xrayVersion: 'v26.7.28',
      hysteriaVersion: 'app/v2.12.1',
      botLinkBase: 'https://t.me',
      telegramApiUrl: 'https://api.telegram.org',
      gateways: GATEWAYS,
      gatewayUrls: Object.fromEntries(
        GATEWAYS.map(({ id, apiUrl }) => [id, apiUrl?.fallback ?? '']),
      ),
      outboundDenyPrivate: false,
      nodeSync: 'here',
      syncIntervalMs: 90_000,
      live: {},
      fixedKeys: [],
      envInstanceId: '',
    })
  })

  test('it cannot be changed', () => {
    const config = load()
    expect(Object.isFrozen(config)).toBe(true)
    expect(Object.isFrozen(config.live)).toBe(true)
  })
})

describe('what depends on what', () => {
  test.each([
    [{ PORT: '8080' }, 'panel.localhost:8080', 'http'],
    [{ PANEL_DOMAIN: 'p.test' }, 'p.test', 'https'],
    [{ SUB_DOMAIN: 's.test' }, 'panel.localhost:3000', 'https'],
    [{ PANEL_DOMAIN: 'p.test', PUBLIC_SCHEME: 'http' }, 'p.test', 'http'],
    [{ PANEL_DOMAIN: 'P.Test:8443' }, 'p.test:8443', 'https'],
  ])('%j: panel %s by %s', (environment, panel, scheme) => {
    const config = load(environment)
    expect([config.domains.panel, config.publicScheme]).toEqual([panel, scheme])
  })

  test('the address of the local node is the host of the panel without its port', () => {
    expect(load({ PANEL_DOMAIN: 'p.test:8443' }).localNode.address).toBe('p.test')
    expect(
      load({ PANEL_DOMAIN: 'p.test', LOCAL_NODE_ADDRESS: '192.0.2.1' }).localNode.address,
    ).toBe('192.0.2.1')
  })

  test('the database and the cores are in DATA_DIR unless they are elsewhere', () => {
    const config = load({ DATA_DIR: '/srv/subpanel' })
    expect([config.databasePath, config.coresDir]).toEqual([
      '/srv/subpanel/panel.db',
      '/srv/subpanel/cores',
    ])
    expect(load({ DATABASE_URL: 'file:other.db' }).databasePath).toBe(join(cwd, 'other.db'))
    expect(load({ DATABASE_URL: 'file:///srv/x.db' }).databasePath).toBe('/srv/x.db')
    expect(load({ DATABASE_URL: 'file:/srv/x.db' }).databasePath).toBe('/srv/x.db')
  })

  test('the database may be on a server', () => {
    for (const url of [
      'postgres://u:p@db.test:5433/shop?sslmode=require',
      'postgresql://u@localhost/shop?host=/run/postgresql',
    ])
      expect(load({ DATABASE_URL: url }).databaseUrl).toBe(url)
    expect(load({ DATABASE_URL: 'file:other.db' }).databaseUrl).toBe(null)
  })
})

const BAD: Record<string, string[]> = {
  PORT: ['-1', '65536', 'abc', '3000.5', '3e3', '0x10', '９'],
  SUB_DOMAIN: ['https://s.test', 's.test/', 'a b', 's_.test', '-s.test', 's..test', 's.test:99999'],
  SITE_DOMAIN: ['*.test', 'x'.repeat(254), ':3000', 's.test:'],
  PANEL_DOMAIN: ['p.test.', 'p.test:port', '@p.test', 'пример.рф'],
  PUBLIC_SCHEME: ['ftp', 'HTTPS', 'https://'],
  DATABASE_URL: [
    'postgres://x',
    'postgres://x/',
    'postgres://a:50%@x/y',
    'mysql://x/y',
    'panel.db',
    'file:',
    'file://',
  ],
  TRUSTED_PROXIES: ['nginx', '10.0.0.0/33', '10.0.0.0/8 and more', '10.0.0.0/8;::1'],
  HOST_ISOLATION: ['on', 'true', 'STRICT'],
  WEB_PROCESSES: ['0', '65', '-1', '2.5', '1e1', 'AUTO', 'all'],
  LOG_LEVEL: ['verbose', 'INFO', '3'],
  DEFAULT_LANG: ['de', 'EN', 'en-US'],
  CURRENCY: ['rub', 'R', 'RUBLES', '₽'],
  TIMEZONE: ['Mars/Olympus', 'Moscow', 'UTC+'],
  PANEL_PASSWORD: ['short', '1234567', 'x'.repeat(1025)],
  LOCAL_NODE: ['yes', 'true', 'OFF'],
  LOCAL_NODE_ADDRESS: ['a b', 'https://x.test', 'x.test:443'],
  LOCAL_NODE_PORT: ['0', '65536', 'https'],
  LOCAL_NODE_SNI: ['a b', 'https://x.test', '*.x.test'],
  LOCAL_NODE_TARGET: [
    'x.test',
    'a b:443',
    'x.test:0',
    'x.test:65536',
    '::1:443',
    '/run/x.sock',
    '@x',
  ],
  LOCAL_CORE: ['docker', 'EMBEDDED'],
  NODE_SYNC: ['on', 'HERE'],
  STALE_LISTS_MB: ['-1', '65537', '1.5'],
  CORES_URL: ['github.com', 'ftp://x.test'],
  BOT_LINK_BASE: ['t.me', 'javascript:alert(1)'],
  SYNC_INTERVAL_MS: ['0', '99', '3600001', '90s'],
  PAYMENTS_ENABLED: ['maybe', '2'],
  HWID_LIMIT_ENABLED: ['enabled'],
  HWID_FALLBACK_LIMIT: ['0', '-1', '1001', '2.5', 'none'],
  WEBHOOK_URL: ['hook.test', 'ftp://hook.test'],
  BRAND_HUE: ['blue', '-1', '361'],
  TELEGRAM_API_URL: ['api.telegram.org', 'tg://x'],
  PROVIDER_A_API_URL: ['api.yookassa.ru/v3'],
  PROVIDER_B_API_URL: ['app.platega.io'],
  PROVIDER_B_PRESET: ['Platega', 'paypal'],
  CRYPTOBOT_API_URL: ['pay.crypt.bot'],
  OUTBOUND_DENY_PRIVATE: ['all', '2'],
  VAT_CODE: ['0', '13', '1.5', 'none'],
  RECEIPT_MODE: ['yes'],
  OFFER_EFFECTIVE_DATE: ['2026-01-01', '1.1.2026'],
}

describe('a bad value', () => {
  const cases = Object.entries(BAD).flatMap(([key, values]) => values.map((text) => [key, text]))

  test.each(cases as [string, string][])(
    'of %s (%s) stops the start with one line that names it',
    (key, text) => {
      let error: unknown
      try {
        load({ [key]: text })
      } catch (thrown) {
        error = thrown
      }
      expect(error).toBeInstanceOf(ConfigError)
      const { message } = error as ConfigError
      expect(message).toMatch(new RegExp(`^${key} `))
      expect(message).not.toContain('\n')
      expect(message.length).toBeLessThan(200)
    },
  )

  test('is named as well when it comes from the env file', () => {
    expect(() => loadFile('PORT=abc\n')).toThrow(/^PORT must be a whole number/)
  })

  test('of a password is not repeated', () => {
    expect(() => load({ PANEL_PASSWORD: 'hunter2' })).toThrow(/^(?!.*hunter2)/)
  })

  test('in an env file that is a folder names ENV_FILE', () => {
    expect(() => load({ ENV_FILE: '.' })).toThrow(/^ENV_FILE /)
  })
})

describe('the env file', () => {
  test("is read where ENV_FILE says; the process's own variables win", () => {
    const text = 'PORT=4000\nCURRENCY=EUR\nADMIN_PATH=from-file\nBRAND_NAME=From file\n'
    const config = loadFile(text, { PORT: '5000', BRAND_NAME: 'From process' })
    expect(config).toMatchObject({
      port: 5000,
      currency: 'EUR',
      adminPath: 'from-file',
      live: { BRAND_NAME: 'From process' },
      envFile: join(cwd, 'some.env'),
    })
  })

  test('gives its value where a variable of the process is empty', () => {
    expect(loadFile('PORT=4000\n', { PORT: '' }).port).toBe(4000)
  })

  test('gives nothing where it does not exist', () => {
    expect(load({ ENV_FILE: 'missing.env' })).toMatchObject({ port: 3000, envInstanceId: '' })
  })

  test('counts as it was for who joins a service that runs', () => {
    const then = loadFile('CURRENCY=EUR\nBRAND_NAME=Then\n').envText
    loadFile('CURRENCY=USD\nBRAND_NAME=Now\n')
    const joined = loadConfig({ ENV_FILE: 'some.env' }, cwd, GATEWAYS, undefined, then)
    expect(joined).toMatchObject({ currency: 'EUR', live: { BRAND_NAME: 'Then' } })
    // After a restore, the file itself.
    expect(joined.readLive()).toEqual({ BRAND_NAME: 'Now' })
  })

  test('alone says whose database it belongs to', () => {
    expect(loadFile('INSTANCE_ID=abc\n').envInstanceId).toBe('abc')
    expect(loadFile('', { INSTANCE_ID: 'abc' }).envInstanceId).toBe('')
  })

  test('gives live settings, spaces around them cut, empty ones left out', () => {
    const text =
      'BRAND_NAME="  My Brand "\nBOT_TOKEN=\nWEBHOOK_URL= https://hook.test/ \nUNKNOWN=1\n'
    expect(loadFile(text).live).toEqual({
      BRAND_NAME: 'My Brand',
      WEBHOOK_URL: 'https://hook.test/',
    })
  })
})

test.each([
  ['1', 1],
  ['2', 2],
  ['64', 64],
  ['auto', availableParallelism()],
])('WEB_PROCESSES=%s is %i', (text, processes) => {
  expect(load({ WEB_PROCESSES: text }).webProcesses).toBe(processes)
})

test('addresses of outside systems lose the slashes at their end', () => {
  expect(load({ TELEGRAM_API_URL: 'https://tg.test/mirror//' }).telegramApiUrl).toBe(
    'https://tg.test/mirror',
  )
})

test.each([
  ['1', true],
  ['true', true],
  ['0', false],
  ['off', false],
])('OUTBOUND_DENY_PRIVATE=%s is %s', (text, on) => {
  expect(load({ OUTBOUND_DENY_PRIVATE: text }).outboundDenyPrivate).toBe(on)
})

test('networks of TRUSTED_PROXIES are parted by commas or spaces', () => {
  for (const text of ['10.0.0.0/8,::1', '10.0.0.0/8, ::1', ' 10.0.0.0/8   ::1 ']) {
    expect(load({ TRUSTED_PROXIES: text }).trustedProxies, text).toHaveLength(2)
  }
})
