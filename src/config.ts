/** Environment at process start -> a frozen Config. The only reader of process.env. */
import { existsSync, readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join, resolve } from 'node:path'
import * as v from 'valibot'
import { parseEnvFile } from './lib/env-file.ts'
import type { Network } from './lib/ip.ts'
import type { LogLevel } from './lib/log.ts'
import type { GatewayDescriptor } from './ports/payment-gateway.ts'
import type { LiveSetting, Setting } from './settings/setting.ts'
import {
  baseUrl,
  FILE_KEYS,
  type ReadValue,
  START,
  type StartKey,
  type StartSetting,
} from './settings/start.ts'
import { type SettingsTable, settingsTable } from './settings/table.ts'

/** A setting that stops the start: one line that names it. */
export class ConfigError extends Error {}

/** The texts of live settings by their keys; absent where the environment has none. */
export type LiveTexts = Readonly<Record<string, string>>

export interface Config {
  port: number
  host: string
  /** How many processes answer requests; more than one are children of the process that has the other roles. */
  webProcesses: number
  dataDir: string
  envFile: string
  /** What the env file held when it was read; empty where there was none. */
  envText: string
  databasePath: string
  /** The server of the database; null where it is the file. */
  databaseUrl: string | null
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
    /** Whether its core runs on this machine. */
    on: boolean
    /** Whether it runs on another one. */
    elsewhere: boolean
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
  gateways: readonly GatewayDescriptor[]
  /** Whether webhooks and providers may not be at private or loopback addresses. */
  outboundDenyPrivate: boolean
  /** Who works on nodes: this process, or the scheduler on another machine. */
  nodeSync: 'here' | 'scheduler'
  syncIntervalMs: number
  /** The largest upload of a restore. */
  restoreMaxBytes: number
  /** What the hourly snapshots may take together. */
  snapshotMaxBytes: number
  /** Memory for whose lists were fetched last; 0: they are not remembered. */
  staleListsBytes: number
  /** The command that copies a snapshot elsewhere; empty for none. Of the process's own environment only. */
  snapshotCopyCommand: string
  /** The file that holds the passphrase of backups for the operator's commands; empty for none. Of the process's own environment only. */
  backupPassphraseFile: string
  /** The settings that apply live. */
  settings: SettingsTable
  /** What the environment had of them at the start. */
  live: LiveTexts
  /** What it has of them now, the env file read anew; `text`: what that is about to hold. Throws ConfigError. */
  readLive(text?: string): LiveTexts
  /** Live keys that the process's own environment has: there the env file changes nothing. */
  fixedKeys: readonly string[]
  /** Names in the env file that mean nothing: misspelt ones, most likely. */
  unknownKeys: string[]
  /** INSTANCE_ID of the env file; empty when it has none. */
  envInstanceId: string
}

/** First segments that came to be ours after some ADMIN_PATH may have: one that stands there was there first, and wins. */
const LATER_SEGMENTS = ['metrics', 'status', 'tls-allowed', 'rules']

const MB = 1024 ** 2

/** The texts of the environment; an absent one is undefined. */
type Environment = Record<string, string | undefined>

/** What a start makes of a setting's text. Throws ConfigError. */
function parseText({ key, start }: Pick<Setting, 'key' | 'start'>, text: string): unknown {
  if (!start) return text
  const result = v.safeParse(start, text, { abortEarly: true })
  if (!result.success) throw new ConfigError(`${key} ${result.issues[0].message}`)
  return result.output
}

/** A reader of the settings that count from a start. */
function reader(values: Environment, processEnv: Environment, fileValues: Environment) {
  const environments = { process: processEnv, file: fileValues, both: values }
  const settings = new Map<string, StartSetting>(START.map((one) => [one.key, one]))
  return <K extends StartKey>(key: K): ReadValue<K> => {
    const setting = settings.get(key) as StartSetting
    const given = environments[setting.only ?? 'both'][key]
    const text = (setting.untrimmed ? given : given?.trim()) || setting.fallback
    return (text ? parseText(setting, text) : text) as ReadValue<K>
  }
}

/** What the local node is; `panel`: the domain that it has where nothing else is said. */
const readLocalNode = (read: ReturnType<typeof reader>, panel: string): Config['localNode'] => ({
  on: read('LOCAL_NODE') === 'on',
  elsewhere: read('LOCAL_NODE') === 'elsewhere',
  address: read('LOCAL_NODE_ADDRESS') ?? panel.replace(/:\d+$/, ''),
  port: read('LOCAL_NODE_PORT') ?? null,
  sni: read('LOCAL_NODE_SNI'),
  target: read('LOCAL_NODE_TARGET'),
  core: read('LOCAL_CORE'),
  socket: read('LOCAL_NODE_SOCKET'),
})

/** The live settings that an environment has. Throws ConfigError. */
function readLive({ all }: SettingsTable, values: Environment): LiveTexts {
  const live: Record<string, string> = {}
  for (const [key, setting] of all) {
    const text = values[key]?.trim() ?? ''
    if (text === '') continue
    parseText(setting, text)
    live[key] = text
  }
  return Object.freeze(live)
}

function readEnvFile(path: string): string {
  try {
    return existsSync(path) ? readFileSync(path, 'utf8') : ''
  } catch (error) {
    throw new ConfigError(`ENV_FILE can't be read: ${(error as Error).message}`)
  }
}

/** The env file's values and the process's own, which win. */
function mergeValues(fileValues: Environment, processEnv: Environment): Environment {
  const values = { ...fileValues }
  for (const [key, value] of Object.entries(processEnv)) if (value) values[key] = value
  return values
}

function unknownKeys(
  keys: string[],
  { all }: SettingsTable,
  gateways: readonly GatewayDescriptor[],
): string[] {
  const known = new Set([
    ...FILE_KEYS,
    ...all.keys(),
    ...gateways.flatMap(({ apiUrl }) => apiUrl?.key ?? []),
  ])
  return keys.filter((key) => !known.has(key))
}

/** Where the gateways' APIs are. Throws ConfigError. */
const gatewayUrlsOf = (gateways: readonly GatewayDescriptor[], values: Environment) =>
  Object.fromEntries(
    gateways.map(({ id, apiUrl }) => {
      const text = apiUrl && (values[apiUrl.key]?.trim() || apiUrl.fallback)
      return [id, text ? (parseText({ ...apiUrl, start: baseUrl }, text) as string) : '']
    }),
  )

/** As many as there are cores, where processes can share a port. */
const mostProcesses = () => (process.platform === 'linux' ? availableParallelism() : 1)

/** Where the database is; undefined: in the data folder. */
function placeOfDatabase(
  found: { path: string } | { url: string } | null | undefined,
  dataDir: string,
  cwd: string,
): Pick<Config, 'databasePath' | 'databaseUrl'> {
  const own = join(dataDir, 'panel.db')
  if (!found) return { databasePath: own, databaseUrl: null }
  return 'url' in found
    ? { databasePath: own, databaseUrl: found.url }
    : { databasePath: resolve(cwd, found.path), databaseUrl: null }
}

/**
 * Builds the Config from the process's variables and the env file, which they name. `own`: the live settings that are no gateway's;
 * `envText`: what counts in place of what the env file holds by now. Throws ConfigError.
 */
export function loadConfig(
  processEnv: Environment,
  cwd: string,
  gateways: readonly GatewayDescriptor[],
  own?: readonly LiveSetting[],
  envText?: string,
): Config {
  const envFile = resolve(cwd, processEnv.ENV_FILE?.trim() || '.env')
  const fileText = envText ?? readEnvFile(envFile)
  const fileValues = parseEnvFile(fileText)
  const values = mergeValues(fileValues, processEnv)
  const read = reader(values, processEnv, fileValues)
  const settings = settingsTable(gateways, own)

  const port = read('PORT')
  const processes = read('WEB_PROCESSES')
  const dataDir = resolve(cwd, read('DATA_DIR'))
  const defaultDomains = !['SUB_DOMAIN', 'SITE_DOMAIN', 'PANEL_DOMAIN'].some((key) =>
    values[key]?.trim(),
  )
  const panel = read('PANEL_DOMAIN') ?? `panel.localhost:${port}`
  const adminPath = read('ADMIN_PATH')

  return Object.freeze({
    port,
    host: read('HOST'),
    webProcesses: processes === 'auto' ? mostProcesses() : processes,
    dataDir,
    envFile,
    envText: fileText,
    ...placeOfDatabase(read('DATABASE_URL'), dataDir, cwd),
    domains: {
      sub: read('SUB_DOMAIN') ?? `sub.localhost:${port}`,
      site: read('SITE_DOMAIN') ?? `site.localhost:${port}`,
      panel,
    },
    publicScheme: read('PUBLIC_SCHEME') ?? (defaultDomains ? 'http' : 'https'),
    defaultDomains,
    adminPath,
    coveredPath: LATER_SEGMENTS.find((segment) => segment === adminPath.split('/')[0]) ?? null,
    panelPassword: read('PANEL_PASSWORD'),
    trustedProxies: read('TRUSTED_PROXIES') ?? null,
    hostIsolation: read('HOST_ISOLATION') === 'strict',
    reauth: read('REAUTH') === 'on',
    logLevel: read('LOG_LEVEL'),
    defaultLang: read('DEFAULT_LANG'),
    currency: read('CURRENCY'),
    timezone: read('TIMEZONE'),
    localNode: readLocalNode(read, panel),
    searchPath: read('PATH'),
    xrayBin: read('XRAY_BIN'),
    hysteriaBin: read('HYSTERIA_BIN'),
    coresDir: resolve(cwd, read('CORES_DIR') ?? join(dataDir, 'cores')),
    coresUrl: read('CORES_URL'),
    xrayVersion: read('XRAY_VERSION'),
    hysteriaVersion: read('HYSTERIA_VERSION'),
    botLinkBase: read('BOT_LINK_BASE'),
    telegramApiUrl: read('TELEGRAM_API_URL'),
    gateways,
    gatewayUrls: gatewayUrlsOf(gateways, values),
    outboundDenyPrivate: read('OUTBOUND_DENY_PRIVATE'),
    nodeSync: read('NODE_SYNC'),
    syncIntervalMs: read('SYNC_INTERVAL_MS'),
    restoreMaxBytes: read('RESTORE_MAX_MB') * MB,
    snapshotMaxBytes: read('SNAPSHOT_MAX_MB') * MB,
    staleListsBytes: read('STALE_LISTS_MB') * MB,
    snapshotCopyCommand: read('SNAPSHOT_COPY_CMD'),
    backupPassphraseFile: read('BACKUP_PASSPHRASE_FILE'),
    settings,
    live: readLive(settings, values),
    readLive: (text?: string) =>
      readLive(settings, mergeValues(parseEnvFile(text ?? readEnvFile(envFile)), processEnv)),
    fixedKeys: [...settings.all.keys()].filter((key) => processEnv[key]),
    unknownKeys: unknownKeys(Object.keys(fileValues), settings, gateways),
    envInstanceId: read('INSTANCE_ID'),
  })
}
