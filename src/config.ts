/** Environment at process start -> a frozen Config. The only reader of process.env. */
import { existsSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import * as v from 'valibot'
import { parseEnvFile } from './lib/env-file.ts'
import { type Network, parseIp, parseNetwork } from './lib/ip.ts'
import { LOG_LEVELS, type LogLevel } from './lib/log.ts'
import { isTarget } from './lib/target.ts'
import { HTTP_ADDRESS } from './lib/values.ts'
import { FLAG, type Gateways, liveKeysOf, rulesOf } from './live-keys.ts'

/** A setting that stops the start: one line that names it. */
export class ConfigError extends Error {}

export interface Config {
  port: number
  host: string
  dataDir: string
  envFile: string
  databasePath: string
  /** As links show them: with a port where one is configured. */
  domains: { sub: string; site: string; panel: string }
  publicScheme: 'http' | 'https'
  /** True when none of the three domains was set: a developer's machine. */
  defaultDomains: boolean
  adminPath: string
  /** The path of ours on which ADMIN_PATH stands, so that what belongs there is not served; null for none. */
  coveredPath: string | null
  panelPassword: string
  /** Null: unset, so private peers are trusted. `none`: no peer is, loopback neither. */
  trustedProxies: Network[] | 'none' | null
  hostIsolation: boolean
  /** Whether sessions of the panel give password or code anew before what a thief of one would do. */
  reauth: boolean
  logLevel: LogLevel
  defaultLang: string
  currency: string
  timezone: string
  localNode: {
    on: boolean
    address: string
    /** Null: 443, or 2053 where 443 can't be bound at the first start. */
    port: number | null
    sni: string
    target: string
    core: 'embedded' | 'system'
    socket: string
  }
  xrayBin: string
  /** PATH of the process: where programs are looked for. */
  searchPath: string
  hysteriaBin: string
  coresDir: string
  coresUrl: string
  xrayVersion: string
  hysteriaVersion: string
  botLinkBase: string
  /** Where outside systems are reached: mirrors and tests move them. */
  telegramApiUrl: string
  /** The addresses of the gateways' APIs by their ids; empty where the shop says it. */
  gatewayUrls: Readonly<Record<string, string>>
  gateways: Gateways
  /** Whether webhooks and providers may not be at private or loopback addresses. */
  outboundDenyPrivate: boolean
  syncIntervalMs: number
  /** The largest upload of a restore. */
  restoreMaxBytes: number
  /** What the hourly snapshots may take together. */
  snapshotMaxBytes: number
  /** The command that copies a snapshot elsewhere; empty for none. Of the process's own environment only. */
  snapshotCopyCommand: string
  /** The file that holds the passphrase of backups for the operator's commands; empty for none. Of the process's own environment only. */
  backupPassphraseFile: string
  /** Values of the live keys, for those without a row. */
  live: Record<string, string | undefined>
  /**
   * Reads the live keys of the env file anew when `generation` is another than the last one: a restore has changed the file.
   * `text`: what it is about to hold, where that is not written yet.
   */
  refreshLive(generation: string | undefined, text: string | undefined): void
  /** Live keys that the process's own environment has: there the env file changes nothing. */
  fixedKeys: readonly string[]
  /** Names in the env file that mean nothing: misspelt ones, most likely. */
  unknownKeys: string[]
  /** INSTANCE_ID of the env file; empty when it has none. */
  envInstanceId: string
}

const RESERVED_SEGMENTS = new Set(
  'sub api install nodes payments pay offer privacy healthz assets robots.txt favicon.ico cabinet.html mgmt-pubkey.txt'.split(
    ' ',
  ),
)

/** First segments that came to be ours after some ADMIN_PATH may have: one that stands there was there first, and wins. */
const LATER_SEGMENTS = ['metrics', 'status', 'tls-allowed', 'rules']

/** ADMIN_PATH without its outer slashes; `admin` when nothing is left. */
export function parseAdminPath(text: string): string {
  const path = text.trim().replace(/^\/+|\/+$/g, '')
  if (path === '') return 'admin'
  if (!/^[A-Za-z0-9._~-]+(\/[A-Za-z0-9._~-]+)*$/.test(path) || /(^|\/)\.\.?(\/|$)/.test(path)) {
    throw new ConfigError('ADMIN_PATH may hold letters, digits and ._~- between slashes')
  }
  const first = path.split('/')[0] as string
  if (RESERVED_SEGMENTS.has(first) || /^admin\/api(\/|$)/.test(path)) {
    throw new ConfigError(`ADMIN_PATH must not begin with the reserved path "${first}"`)
  }
  return path
}

const HOST =
  /^(?=.{1,253}(:|$))[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*(:\d{1,5})?$/

/** Names that are read elsewhere, or by later versions. */
const OTHER_KEYS = new Set(
  'INSTANCE_ID ADMIN_PATH PANEL_PASSWORD ENV_FILE NODE_ENV NODE_OPTIONS TZ'.split(' '),
)

const MB = 1024 ** 2

function reader(values: Record<string, string | undefined>) {
  const asked = new Set<string>()
  const lookUp = (key: string) => {
    asked.add(key)
    return values[key]?.trim()
  }
  const parse = <T>(
    key: string,
    schema: v.GenericSchema<string, T>,
    fallback: T,
    need: string,
  ): T => {
    const text = lookUp(key)
    if (text === undefined || text === '') return fallback
    const result = v.safeParse(schema, text)
    if (!result.success) throw new ConfigError(`${key} must be ${need}`)
    return result.output
  }
  const integer = (min: number, max: number) =>
    v.pipe(v.string(), v.regex(/^\d{1,9}$/), v.transform(Number), v.minValue(min), v.maxValue(max))
  return {
    /** The keys that were asked for. */
    asked,
    text: (key: string, fallback = '') => lookUp(key) || fallback,
    int: (key: string, fallback: number, min: number, max: number) =>
      parse(key, integer(min, max), fallback, `a whole number from ${min} to ${max}`),
    oneOf: <const T extends string>(key: string, choices: readonly T[], fallback: T) =>
      parse(key, v.picklist(choices), fallback, choices.join(' or ')) as T,
    matching: (key: string, fallback: string, fits: (text: string) => boolean, need: string) =>
      parse(key, v.pipe(v.string(), v.check(fits)), fallback, need),
    domain: (key: string, fallback: string) =>
      parse(
        key,
        v.pipe(
          v.string(),
          v.toLowerCase(),
          v.regex(HOST),
          v.check((text) => URL.canParse(`http://${text}`)),
        ),
        fallback,
        'a host name, with a port where one is needed',
      ),
  }
}

function parseTrustedProxies(text: string): Config['trustedProxies'] {
  if (text === '') return null
  if (text === 'none') return text
  return text.split(/[\s,]+/).map((item) => {
    const network = parseNetwork(item)
    if (!network)
      throw new ConfigError('TRUSTED_PROXIES must be a list of addresses or CIDR blocks, or none')
    return network
  })
}

function parseTimezone(zone: string): string {
  try {
    new Intl.DateTimeFormat('en', { timeZone: zone })
    return zone
  } catch {
    throw new ConfigError('TIMEZONE must be a zone of the IANA database, such as Europe/Berlin')
  }
}

function parseDatabasePath(url: string, cwd: string): string {
  const path = /^file:(?:\/\/)?(\/?[^/].*)$/.exec(url)?.[1]
  if (!path) throw new ConfigError('DATABASE_URL must be file:<path>')
  return resolve(cwd, path)
}

function parsePassword(password: string): string {
  if (password !== '' && (password.length < 8 || password.length > 1024)) {
    throw new ConfigError('PANEL_PASSWORD needs 8 to 1024 characters (or none: one is generated)')
  }
  return password
}

const isHostName = (text: string) => HOST.test(text.toLowerCase()) && !text.includes(':')
const isAddress = (text: string) => isHostName(text) || parseIp(text) !== null

function readLive(read: ReturnType<typeof reader>, gateways: Gateways): Config['live'] {
  const live: Config['live'] = {}
  for (const [key, rule] of rulesOf(gateways)) {
    const text = rule ? read.matching(key, '', rule.fits, rule.need) : read.text(key)
    if (text !== '') live[key] = text
  }
  return live
}

/** The address of an outside system, without slashes at its end. */
const baseUrl = (read: ReturnType<typeof reader>, key: string, fallback: string) =>
  read.matching(key, fallback, HTTP_ADDRESS.fits, HTTP_ADDRESS.need).replace(/\/+$/, '')

const isOn = (text: string) => /^(1|true|yes|on)$/i.test(text)

function readEnvFile(path: string): Record<string, string> {
  try {
    return existsSync(path) ? parseEnvFile(readFileSync(path, 'utf8')) : {}
  } catch (error) {
    throw new ConfigError(`ENV_FILE can't be read: ${(error as Error).message}`)
  }
}

type Environment = Record<string, string | undefined>

/** The env file's values and the process's own, which win. */
function mergeValues(fileValues: Environment, processEnv: Environment): Environment {
  const values = { ...fileValues }
  for (const [key, value] of Object.entries(processEnv)) if (value) values[key] = value
  return values
}

/** The live values, and how they are read anew. */
function liveValues(
  read: ReturnType<typeof reader>,
  envFile: string,
  processEnv: Environment,
  gateways: Gateways,
): Pick<Config, 'live' | 'refreshLive'> {
  const live = readLive(read, gateways)
  let last: string | undefined
  return {
    live,
    refreshLive(generation, text) {
      if (generation === last) return
      const fileValues = text === undefined ? readEnvFile(envFile) : parseEnvFile(text)
      const fresh = readLive(reader(mergeValues(fileValues, processEnv)), gateways)
      for (const key of Object.keys(live)) delete live[key]
      Object.assign(live, fresh)
      last = generation
    },
  }
}

/** Whether a start with this value would not be refused. */
export function acceptsSetting(gateways: Gateways, key: string, value: string): boolean {
  try {
    configOf({ [key]: value }, {}, { cwd: '/', envFile: '/.env', gateways })
    return true
  } catch (error) {
    if (error instanceof ConfigError) return false
    throw error
  }
}

/** Builds the Config from the process's variables and the env file, which they name. Throws ConfigError. */
export function loadConfig(processEnv: Environment, cwd: string, gateways: Gateways): Config {
  const envFile = resolve(cwd, processEnv.ENV_FILE?.trim() || '.env')
  return configOf(readEnvFile(envFile), processEnv, { cwd, envFile, gateways })
}

function configOf(
  fileValues: Environment,
  processEnv: Environment,
  { cwd, envFile, gateways }: { cwd: string; envFile: string; gateways: Gateways },
): Config {
  const values = mergeValues(fileValues, processEnv)
  const read = reader(values)

  const port = read.int('PORT', 3000, 0, 65_535)
  const dataDir = resolve(cwd, read.text('DATA_DIR', 'data'))
  const defaultDomains = !['SUB_DOMAIN', 'SITE_DOMAIN', 'PANEL_DOMAIN'].some((key) =>
    read.text(key),
  )
  const panel = read.domain('PANEL_DOMAIN', `panel.localhost:${port}`)
  const adminPath = parseAdminPath(values.ADMIN_PATH ?? '')

  return Object.freeze({
    port,
    host: read.text('HOST', '127.0.0.1'),
    dataDir,
    envFile,
    databasePath: parseDatabasePath(
      read.text('DATABASE_URL', `file:${join(dataDir, 'panel.db')}`),
      cwd,
    ),
    domains: {
      sub: read.domain('SUB_DOMAIN', `sub.localhost:${port}`),
      site: read.domain('SITE_DOMAIN', `site.localhost:${port}`),
      panel,
    },
    publicScheme: read.oneOf('PUBLIC_SCHEME', ['https', 'http'], defaultDomains ? 'http' : 'https'),
    defaultDomains,
    adminPath,
    coveredPath: LATER_SEGMENTS.find((segment) => segment === adminPath.split('/')[0]) ?? null,
    panelPassword: parsePassword(values.PANEL_PASSWORD ?? ''),
    trustedProxies: parseTrustedProxies(read.text('TRUSTED_PROXIES')),
    hostIsolation: read.oneOf('HOST_ISOLATION', ['off', 'strict'], 'off') === 'strict',
    reauth: read.oneOf('REAUTH', ['on', 'off'], 'on') === 'on',
    logLevel: read.oneOf('LOG_LEVEL', LOG_LEVELS, 'info'),
    defaultLang: read.oneOf('DEFAULT_LANG', ['en', 'ru'], 'en'),
    currency: read.matching(
      'CURRENCY',
      'RUB',
      (text) => /^[A-Z]{3}$/.test(text),
      'a code of three letters, such as RUB',
    ),
    timezone: parseTimezone(read.text('TIMEZONE', 'UTC')),
    localNode: {
      on: read.oneOf('LOCAL_NODE', ['on', 'off'], 'on') === 'on',
      address: read.matching(
        'LOCAL_NODE_ADDRESS',
        panel.replace(/:\d+$/, ''),
        isAddress,
        'a host name or an IP address',
      ),
      port: read.text('LOCAL_NODE_PORT') ? read.int('LOCAL_NODE_PORT', 443, 1, 65_535) : null,
      sni: read.matching('LOCAL_NODE_SNI', 'dl.google.com', isHostName, 'a host name'),
      target: read.matching('LOCAL_NODE_TARGET', '', isTarget, 'a host with its port'),
      core: read.oneOf('LOCAL_CORE', ['embedded', 'system'], 'embedded'),
      socket: read.text('LOCAL_NODE_SOCKET', '/run/subpanel/node.sock'),
    },
    searchPath: processEnv.PATH ?? '',
    xrayBin: read.text('XRAY_BIN'),
    hysteriaBin: read.text('HYSTERIA_BIN'),
    coresDir: resolve(cwd, read.text('CORES_DIR', join(dataDir, 'cores'))),
    coresUrl: read.matching(
      'CORES_URL',
      'https://github.com',
      HTTP_ADDRESS.fits,
      HTTP_ADDRESS.need,
    ),
    xrayVersion: read.text('XRAY_VERSION', 'v26.7.28'),
    hysteriaVersion: read.text('HYSTERIA_VERSION', 'app/v2.12.1'),
    botLinkBase: read.matching(
      'BOT_LINK_BASE',
      'https://t.me',
      HTTP_ADDRESS.fits,
      HTTP_ADDRESS.need,
    ),
    telegramApiUrl: baseUrl(read, 'TELEGRAM_API_URL', 'https://api.telegram.org'),
    gateways,
    gatewayUrls: Object.fromEntries(
      gateways.map(({ id, apiUrl }) => [
        id,
        apiUrl ? baseUrl(read, apiUrl.key, apiUrl.fallback) : '',
      ]),
    ),
    outboundDenyPrivate: isOn(read.matching('OUTBOUND_DENY_PRIVATE', '', FLAG.fits, FLAG.need)),
    syncIntervalMs: read.int('SYNC_INTERVAL_MS', 90_000, 100, 3_600_000),
    restoreMaxBytes: read.int('RESTORE_MAX_MB', 512, 1, 65_536) * MB,
    snapshotMaxBytes: read.int('SNAPSHOT_MAX_MB', 2048, 1, 1_048_576) * MB,
    snapshotCopyCommand: processEnv.SNAPSHOT_COPY_CMD?.trim() ?? '',
    backupPassphraseFile: processEnv.BACKUP_PASSPHRASE_FILE?.trim() ?? '',
    ...liveValues(read, envFile, processEnv, gateways),
    fixedKeys: liveKeysOf(gateways).filter((key) => processEnv[key]),
    unknownKeys: Object.keys(fileValues).filter(
      (key) => !read.asked.has(key) && !OTHER_KEYS.has(key),
    ),
    envInstanceId: fileValues.INSTANCE_ID ?? '',
  })
}
