/**
 * The settings that count from a start: their names, what a start makes of their texts, and what is said of them. Defaults that depend on
 * other settings are `loadConfig`'s (config.ts).
 */
import * as v from 'valibot'
import { type Network, parseIp, parseNetwork } from '#src/lib/ip.ts'
import { LOG_LEVELS } from '#src/lib/log.ts'
import { isTarget } from '#src/lib/target.ts'
import { isTimeZone } from '#src/lib/time.ts'
import { httpAddress } from '#src/lib/values.ts'
import { isTrue, switchText, textLike } from './kinds.ts'
import type { Setting } from './setting.ts'

export interface StartSetting extends Setting {
  /** Where alone it is read, if not in both: the process's own environment, or the env file. */
  only?: 'process' | 'file'
  /** Its spaces are part of it. */
  untrimmed?: true
  /** A restore takes it from the env file of a backup; it counts from the next start. */
  restored?: true
}

const startSettings = <const L extends readonly StartSetting[]>(list: L): L => list

const whole = (min: number, max: number) => {
  const need = `must be a whole number from ${min} to ${max}`
  return v.pipe(
    v.string(),
    v.regex(/^\d{1,9}$/, need),
    v.transform(Number),
    v.minValue(min, need),
    v.maxValue(max, need),
  )
}

/** `auto` is left to who knows the machine. */
const processes = v.pipe(
  v.string(),
  v.regex(/^(auto|[1-9]|[1-5]\d|6[0-4])$/, 'must be auto or a whole number from 1 to 64'),
  v.transform((text) => (text === 'auto' ? text : Number(text))),
)

const oneOf = <const T extends string>(...choices: readonly T[]) =>
  v.picklist(choices, `must be ${choices.join(' or ')}`)

const HOST =
  /^(?=.{1,253}(:|$))[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*(:\d{1,5})?$/

const NEEDED_DOMAIN = 'must be a host name, with a port where one is needed'
const domain = v.pipe(
  v.string(),
  v.toLowerCase(),
  v.regex(HOST, NEEDED_DOMAIN),
  v.check((text) => URL.canParse(`http://${text}`), NEEDED_DOMAIN),
)

const isHostName = (text: string) => HOST.test(text.toLowerCase()) && !text.includes(':')
const isAddress = (text: string) => isHostName(text) || parseIp(text) !== null

const fitting = (fits: (text: string) => boolean, need: string) =>
  v.pipe(v.string(), v.check(fits, `must be ${need}`))

/** The address of an outside system, without slashes at its end. */
export const baseUrl = v.pipe(
  httpAddress,
  v.transform((text) => text.replace(/\/+$/, '')),
)

const RESERVED_SEGMENTS = new Set(
  'sub api install nodes payments pay offer privacy healthz assets robots.txt favicon.ico cabinet.html mgmt-pubkey.txt'.split(
    ' ',
  ),
)

const firstSegment = (path: string) => path.split('/')[0] as string

/** ADMIN_PATH without its outer slashes; `admin` when nothing is left. */
const adminPath = v.pipe(
  v.string(),
  v.transform((text) => text.trim().replace(/^\/+|\/+$/g, '') || 'admin'),
  v.check(
    (path) =>
      /^[A-Za-z0-9._~-]+(\/[A-Za-z0-9._~-]+)*$/.test(path) && !/(^|\/)\.\.?(\/|$)/.test(path),
    'may hold letters, digits and ._~- between slashes',
  ),
  v.check(
    (path) => !RESERVED_SEGMENTS.has(firstSegment(path)) && !/^admin\/api(\/|$)/.test(path),
    ({ input }) => `must not begin with the reserved path "${firstSegment(input)}"`,
  ),
)

/** Null: what the setting can't be. */
function parseProxies(text: string): Network[] | 'none' | null {
  if (text === 'none') return text
  const networks = text.split(/[\s,]+/).map((item) => parseNetwork(item))
  return networks.every((network) => network !== null) ? networks : null
}
const proxies = v.pipe(
  v.string(),
  v.transform(parseProxies),
  v.check((found) => found !== null, 'must be a list of addresses or CIDR blocks, or none'),
)

const DATABASE_FILE = /^file:(?:\/\/)?(\/?[^/].*)$/

function isDecodable(text: string): boolean {
  try {
    decodeURIComponent(text)
    return true
  } catch {
    return false
  }
}

/** A file by its path, or a server by its address. Null: neither. */
function parseDatabase(text: string): { path: string } | { url: string } | null {
  const path = DATABASE_FILE.exec(text)?.[1]
  if (path !== undefined) return { path }
  const names = /^postgres(?:ql)?:\/\/[^/]*\/[^/?]/.test(text) && URL.canParse(text)
  return names && isDecodable(text) ? { url: text } : null
}

export const START = startSettings([
  {
    key: 'PORT',
    start: whole(0, 65_535),
    fallback: '3000',
    docs: 'port on which the service listens',
  },
  { key: 'HOST', fallback: '127.0.0.1', docs: 'address on which it listens' },
  {
    key: 'WEB_PROCESSES',
    start: processes,
    fallback: '1',
    docs: 'how many processes answer requests: a number, or `auto` for as many as there are cores ([above](#all-cores-of-one-machine))',
  },
  {
    key: 'DATA_DIR',
    fallback: 'data',
    docs: 'database, cores, state of the local node; made with mode 0700',
  },
  {
    key: 'ENV_FILE',
    only: 'process',
    fallback: '.env',
    docs: 'the file of these settings (process environment only); written on the first start',
  },
  {
    key: 'DATABASE_URL',
    start: v.pipe(
      v.string(),
      v.transform(parseDatabase),
      v.check(
        (found) => found !== null,
        'must be file:<path> or postgres://<user>@<server>/<database>',
      ),
    ),
    docsDefault: '`file:<DATA_DIR>/panel.db`',
    docs: 'the SQLite file, on a local disk and never a network file system; or `postgres://user:password@server/database` ([scaling.md](scaling.md))',
  },
  {
    key: 'INSTANCE_ID',
    only: 'file',
    untrimmed: true,
    fallback: '',
    docsDefault: 'written at the first start',
    docs: 'ties env file and database together; leave it alone',
  },
  {
    key: 'ADMIN_PATH',
    start: adminPath,
    fallback: 'admin',
    restored: true,
    docs: "path of the admin page on the panel's name",
  },
  {
    key: 'SUB_DOMAIN',
    start: domain,
    restored: true,
    docsDefault: '`sub.localhost:PORT`',
    docs: 'name of subscription links, with a port where it is not the usual one',
  },
  {
    key: 'SITE_DOMAIN',
    start: domain,
    restored: true,
    docsDefault: '`site.localhost:PORT`',
    docs: 'the same of the public site',
  },
  {
    key: 'PANEL_DOMAIN',
    start: domain,
    restored: true,
    docsDefault: '`panel.localhost:PORT`',
    docs: 'the same of the admin panel',
  },
  {
    key: 'PUBLIC_SCHEME',
    start: oneOf('https', 'http'),
    restored: true,
    docsDefault: '`https`; `http` while no domain is set',
    docs: 'scheme of links and origins',
  },
  {
    key: 'PANEL_PASSWORD',
    fallback: '',
    untrimmed: true,
    start: v.pipe(
      v.string(),
      v.check(
        ({ length }) => length >= 8 && length <= 1024,
        'needs 8 to 1024 characters (or none: one is generated)',
      ),
    ),
    docsDefault: 'generated',
    docs: 'password of the first admin, `admin`; at least 8 characters; used at the first start only, which says so when it is one of the most common ones',
  },
  {
    key: 'TRUSTED_PROXIES',
    start: proxies,
    docsDefault: 'private networks',
    docs: 'addresses or networks, separated by commas or spaces, or `none`: [above](#trusted_proxies)',
  },
  {
    key: 'HOST_ISOLATION',
    start: oneOf('off', 'strict'),
    fallback: 'off',
    docs: '`strict` keeps each name to its own paths',
  },
  {
    key: 'REAUTH',
    start: oneOf('on', 'off'),
    fallback: 'on',
    docs: '`off`: the panel never asks anew for password or code',
  },
  {
    key: 'LOG_LEVEL',
    start: oneOf(...LOG_LEVELS),
    fallback: 'info',
    docs: '`debug`, `info`, `warn`, `error`',
  },
  {
    key: 'DEFAULT_LANG',
    start: oneOf('en', 'ru'),
    fallback: 'en',
    restored: true,
    docs: '`en` or `ru`',
  },
  {
    key: 'CURRENCY',
    start: textLike(/^[A-Z]{3}$/, 'a code of three letters, such as RUB'),
    fallback: 'RUB',
    restored: true,
    docs: 'prices are whole units of it',
  },
  {
    key: 'TIMEZONE',
    start: fitting(isTimeZone, 'a zone of the IANA database, such as Europe/Berlin'),
    fallback: 'UTC',
    restored: true,
    docs: 'for dates shown to people, such as `Europe/Berlin`',
  },
  {
    key: 'LOCAL_NODE',
    start: oneOf('on', 'off', 'elsewhere'),
    fallback: 'on',
    docs: '`off` disables the local node and starts no core; a core in its own unit: stop it too. `elsewhere`: its core is on another machine of this shop ([scaling.md](scaling.md#two-machines))',
  },
  {
    key: 'LOCAL_NODE_ADDRESS',
    start: fitting(isAddress, 'a host name or an IP address'),
    docsDefault: 'host of `PANEL_DOMAIN`',
    docs: 'where customers reach the local node',
  },
  {
    key: 'LOCAL_NODE_PORT',
    start: whole(1, 65_535),
    docsDefault: '443, or 2053 when 443 is taken at the first start',
    docs: 'its port',
  },
  {
    key: 'LOCAL_NODE_SNI',
    start: fitting(isHostName, 'a host name'),
    fallback: 'dl.google.com',
    docs: 'the name REALITY borrows',
  },
  {
    key: 'LOCAL_NODE_TARGET',
    fallback: '',
    start: fitting(isTarget, 'a host with its port'),
    docsDefault: '`<SNI>:443`',
    docs: '`host:port` to which strangers are passed on',
  },
  {
    key: 'LOCAL_CORE',
    start: oneOf('embedded', 'system'),
    fallback: 'embedded',
    docs: '`system`: the core has its own unit',
  },
  {
    key: 'LOCAL_NODE_SOCKET',
    fallback: '/run/subpanel/node.sock',
    docs: "the node program's socket, for `LOCAL_CORE=system`",
  },
  {
    key: 'XRAY_BIN',
    fallback: '',
    docs: 'an existing Xray to use instead of the one in `CORES_DIR`',
  },
  { key: 'HYSTERIA_BIN', fallback: '', docs: 'the same for Hysteria' },
  {
    key: 'PATH',
    only: 'process',
    fallback: '',
    untrimmed: true,
    docsDefault: "the process's own",
    docs: 'where bash and its tools are looked for, and Xray last of all; not read from the env file',
  },
  {
    key: 'CORES_DIR',
    docsDefault: '`<DATA_DIR>/cores`',
    docs: 'where `npm run cores` puts the cores',
  },
  {
    key: 'CORES_URL',
    start: httpAddress,
    fallback: 'https://github.com',
    docs: 'from where it downloads them: a mirror with the same paths',
  },
  {
    key: 'XRAY_VERSION',
    fallback: 'v26.7.28',
    docs: 'the pinned release of Xray ([nodes.md](nodes.md#the-pinned-version))',
  },
  { key: 'HYSTERIA_VERSION', fallback: 'app/v2.12.1', docs: 'that of Hysteria' },
  {
    key: 'BOT_LINK_BASE',
    start: httpAddress,
    fallback: 'https://t.me',
    docs: 'address of the messenger in links',
  },
  {
    key: 'TELEGRAM_API_URL',
    start: baseUrl,
    fallback: 'https://api.telegram.org',
    docs: 'the Bot API, or a mirror of it',
  },
  {
    key: 'OUTBOUND_DENY_PRIVATE',
    start: v.pipe(switchText, v.transform(isTrue)),
    fallback: 'off',
    docs: '`1`: webhooks, payment providers and nodes may not be at private or loopback addresses: [below](#what-goes-out)',
  },
  {
    key: 'NODE_SYNC',
    start: oneOf('here', 'scheduler'),
    fallback: 'here',
    docs: '`scheduler`: web processes and the bot leave nodes to the scheduler, because this machine does not reach them ([scaling.md](scaling.md#several-processes))',
  },
  {
    key: 'SYNC_INTERVAL_MS',
    start: whole(100, 3_600_000),
    fallback: '90000',
    docs: 'time between two syncs of the nodes; meant for tests',
  },
  {
    key: 'RESTORE_MAX_MB',
    start: whole(1, 65_536),
    fallback: '512',
    docs: 'the largest upload of a restore; the proxy in front must let it pass',
  },
  {
    key: 'SNAPSHOT_MAX_MB',
    start: whole(1, 1_048_576),
    fallback: '2048',
    docs: 'what the hourly snapshots may take together ([backup.md](backup.md))',
  },
  {
    key: 'STALE_LISTS_MB',
    start: whole(0, 65_536),
    fallback: '0',
    docs: 'memory for whose lists were fetched last: they are served while a PostgreSQL server is away ([scaling.md](scaling.md)); 0: they are 503',
  },
  {
    key: 'BACKUP_PASSPHRASE_FILE',
    only: 'process',
    fallback: '',
    docs: 'the file with the passphrase of encrypted backups, for `npm run backup`, `restore` and `verify`; process environment only ([backup.md](backup.md#encryption))',
  },
  {
    key: 'SNAPSHOT_COPY_CMD',
    only: 'process',
    fallback: '',
    docs: 'copies each snapshot elsewhere; process environment only ([backup.md](backup.md#snapshots))',
  },
])

type Start = (typeof START)[number]
/** The name of a setting that counts from a start. */
export type StartKey = Start['key']
type Of<K extends StartKey> = Extract<Start, { key: K }>
/** What a start makes of its text. */
export type StartValue<K extends StartKey> =
  Of<K> extends { start: infer S extends v.GenericSchema } ? v.InferOutput<S> : string
/** The same, or undefined where it is not set and has no text that counts then. */
export type ReadValue<K extends StartKey> =
  Of<K> extends { fallback: string } ? StartValue<K> : StartValue<K> | undefined

/** Names that are read elsewhere, so that an env file with them is no mistake. */
const FOREIGN = ['ENV_FILE', 'NODE_ENV', 'NODE_OPTIONS', 'TZ']

/** The names that an env file may have beside the live ones. */
export const FILE_KEYS: readonly string[] = [
  ...START.filter((one: StartSetting) => one.only !== 'process').map(({ key }) => key),
  ...FOREIGN,
]

/** The settings of an env file that a restore takes and that count from the next start, in the order in which it names them. */
export const RESTORED: ReadonlyMap<string, StartSetting> = new Map(
  START.filter((one: StartSetting) => one.restored).map((one) => [one.key, one]),
)
