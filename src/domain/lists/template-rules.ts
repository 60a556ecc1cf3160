/**
 * What a template may hold, whoever wrote it: one of an archive is a stranger's. It says what is proxied, and how names are found; what
 * opens the app or its device to others, or reaches its files and programs, is in none.
 */
import type { TemplateFormat } from '#db/values.ts'
import { cut } from '#src/lib/format.ts'
import { refusal } from '#src/refusals/index.ts'
import type { Yaml } from './yaml.ts'

export type Tree = { [key: string]: Yaml | undefined }

/** The items that entries, and their names, are put in place of. */
export const PROXIES = '$proxies'
export const NAMES = '$names'

type Path = (string | number)[]

/** Of a form's groups and names, by their places. */
interface Named {
  where: Path
  name: Yaml | undefined
}

interface Rules {
  top: ReadonlySet<string>
  /** The list of servers. */
  servers: string
  /** What is called by a name that entries may not have. */
  named(tree: Tree): Named[]
  /** What names one of these, or a part of the app. */
  references(tree: Tree): Named[]
  builtIn: ReadonlySet<string>
  /** Whether a value has names among its items. */
  isGroup(path: Path): boolean
  /** Whether all entries are in a group of themselves. */
  takesAll(tree: Tree): boolean
  /** Whether a value reaches beyond the list. */
  reaches(path: Path, value: Yaml, parent: Tree): boolean
}

const words = (text: string): ReadonlySet<string> => new Set(text.split(' '))

const isTree = (value: unknown): value is Tree =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
const listOf = (value: Yaml | undefined): Yaml[] => (Array.isArray(value) ? value : [])
const treeOf = (value: Yaml | undefined): Tree => (isTree(value) ? value : {})

/** So much of a template is repeated where it is refused. */
const MOST_PLACE = 200
const MOST_NAME = 64

/** As refusals name a place: `proxy-groups[0].proxies[2]`. */
function placeOf(path: Path): string {
  const parts = path.map((part, i) => {
    if (typeof part === 'number') return `[${part}]`
    const key = /^[\w-]{1,64}$/.test(part) ? part : JSON.stringify(cut(part, MOST_NAME))
    return i === 0 ? key : `.${key}`
  })
  return cut(parts.join(''), MOST_PLACE)
}

const LOOPBACK = /^(?:(?:127(?:\.\d{1,3}){3}|localhost|\[::1\])(?::\d{1,5})?|::1)$/

/** Whether what listens there can be reached from another machine. */
const isOpen = (address: Yaml | undefined): boolean =>
  typeof address !== 'string' || !LOOPBACK.test(address)

const given = (where: Path, name: Yaml | undefined): Named[] =>
  name === undefined ? [] : [{ where, name }]

const withNames = (list: Yaml | undefined, path: Path): Named[] =>
  listOf(list).map((name, i) => ({ where: [...path, i], name }))

const named = (tree: Tree, list: string, key: string): Named[] =>
  listOf(tree[list]).flatMap((one, i) =>
    isTree(one) ? [{ where: [list, i, key], name: one[key] }] : [],
  )

/** What such a rule looks for may have commas. */
const WITH_COMMAS = /^(?:AND|OR|NOT|.*-REGEX)$/

/** Where a rule leads, as Mihomo reads it: `DOMAIN-SUFFIX,ru,DIRECT`, `IP-CIDR,10.0.0.0/8,DIRECT,no-resolve`. */
function targetOf(rule: Yaml): string | undefined {
  if (typeof rule !== 'string') return undefined
  const parts = rule.split(',')
  const type = (parts[0] as string).trim().toUpperCase()
  if (type === 'SUB-RULE') return undefined
  const target = type === 'MATCH' ? parts[1] : WITH_COMMAS.test(type) ? parts.at(-1) : parts[2]
  return (target ?? '').trim()
}

const ruleTargets = (rules: Yaml | undefined, path: Path): Named[] =>
  withNames(rules, path).flatMap(({ where, name }) => {
    const target = targetOf(name as Yaml)
    return target === undefined ? [] : [{ where, name: target }]
  })

/** Keys of these are names of others. */
const NAMED_BY_OTHERS = words('headers predefined')

/** It knows the keys of these in any case, and one of theirs is a path. */
const RULE_PROVIDER = words('type behavior format url interval proxy header payload size-limit')

/** What servers of the operator's own may be: others take programs, folders or somebody's network with them. */
const OWN_PROXIES = words(
  'http socks5 ss ssr snell vmess vless trojan hysteria hysteria2 tuic wireguard anytls mieru ssh direct dns reject',
)
/** What would be a path unless it is the text itself, whatever signs the key is written with. */
const KEY_TEXTS = words('privatekey certificate cert clientcertificate clientkey ca echkey')
/** As PEM has it, or 32 bytes of WireGuard's. No path is like either. */
const KEY_TEXT =
  /^(?:-----BEGIN [A-Z\d ]{1,64}-----[A-Za-z\d+/=\s]*-----END [A-Z\d ]{1,64}-----\s*|[A-Za-z\d+/]{43}=)$/

/** Whether a setting of a server reaches files, as Mihomo finds it: in any case, `_` for `-`, and signs that look alike. */
function reachesOfProxy(path: Path, value: Yaml): boolean {
  const [key, within] = path.map(String).toReversed() as [string, string]
  if (path.length === 3 && key === 'type') return !OWN_PROXIES.has(String(value))
  if (NAMED_BY_OTHERS.has(within)) return false
  if (!/^[\w-]+$/.test(key)) return true
  const plain = key.toLowerCase().replace(/[_-]/g, '')
  if (KEY_TEXTS.has(plain)) return typeof value !== 'string' || !KEY_TEXT.test(value)
  return plain === 'statedir'
}

const MIHOMO: Rules = {
  top: words(
    'port socks-port mixed-port redir-port tproxy-port allow-lan mode log-level ipv6 unified-delay tcp-concurrent find-process-mode ' +
      'global-client-fingerprint keep-alive-idle keep-alive-interval disable-keep-alive profile dns hosts tun sniffer geodata-mode ' +
      'geodata-loader geosite-matcher geo-auto-update geo-update-interval geox-url etag-support proxies proxy-groups rule-providers ' +
      'rules sub-rules',
  ),
  servers: 'proxies',
  named: (tree) => [...named(tree, 'proxies', 'name'), ...named(tree, 'proxy-groups', 'name')],
  references: (tree) => [
    ...listOf(tree['proxy-groups']).flatMap((group, i) =>
      withNames(treeOf(group).proxies, ['proxy-groups', i, 'proxies']),
    ),
    ...ruleTargets(tree.rules, ['rules']),
    ...Object.entries(treeOf(tree['sub-rules'])).flatMap(([name, rules]) =>
      ruleTargets(rules, ['sub-rules', name]),
    ),
  ],
  builtIn: words('DIRECT REJECT REJECT-DROP PASS PASS-RULE COMPATIBLE GLOBAL'),
  isGroup: ([list, , key]) => list === 'proxy-groups' && key === 'proxies',
  takesAll: (tree) =>
    listOf(tree['proxy-groups']).some((group) => {
      const { 'include-all': all, 'include-all-proxies': proxies } = treeOf(group)
      return all === true || proxies === true
    }),
  reaches(path, value) {
    const [first, second, third] = path
    if (first === 'proxies') return reachesOfProxy(path, value)
    if (first === 'allow-lan') return value !== false
    if (first === 'rule-providers' && typeof third === 'string') {
      return !RULE_PROVIDER.has(third) || (third === 'type' && value === 'file')
    }
    if (first === 'dns' && second === 'listen') return isOpen(value)
    return false
  },
}

/** `certificate_path`, `state_directory`, `dhcp_lease_files`, `external_controller`, `torrc`: what names files, programs and ways in. */
const REACHING =
  /(?<!process)_path$|_directory$|(?<!^cache)_files?$|^external_|^(?:output|torrc|extra_args|netns)$/
/** It takes any case for these, and signs that look alike. */
const PLAIN_KEY = /^[a-z\d_$]+$/
const WEB = words('http ws httpupgrade https h3')
const INBOUNDS = words('tun mixed http socks')
const OUTBOUNDS = words(
  'selector urltest direct block dns socks http shadowsocks vmess vless trojan naive hysteria hysteria2 tuic shadowtls anytls ssh',
)
const EXPERIMENTAL = words('cache_file clash_api')

/** What stands at these keys, however deep. */
function valuesOf(value: Yaml | undefined, keys: string[], path: Path): Named[] {
  const parts: [string | number, Yaml | undefined][] = Array.isArray(value)
    ? [...value.entries()]
    : Object.entries(treeOf(value))
  return parts.flatMap(([key, one]) => {
    const where = [...path, key]
    return keys.includes(String(key)) ? given(where, one) : valuesOf(one, keys, where)
  })
}

const SINGBOX: Rules = {
  top: words('$schema log dns inbounds outbounds route experimental'),
  servers: 'outbounds',
  named: (tree) => named(tree, 'outbounds', 'tag'),
  references: (tree) => [
    ...listOf(tree.outbounds).flatMap((one, i) => {
      const { outbounds, default: chosen } = treeOf(one)
      return [
        ...withNames(outbounds, ['outbounds', i, 'outbounds']),
        ...given(['outbounds', i, 'default'], chosen),
      ]
    }),
    ...given(['route', 'final'], treeOf(tree.route).final),
    ...valuesOf(treeOf(tree.route).rules, ['outbound'], ['route', 'rules']),
    ...['dns', 'outbounds', 'route'].flatMap((part) =>
      valuesOf(tree[part], ['detour', 'download_detour'], [part]),
    ),
  ],
  builtIn: new Set(),
  isGroup: ([list, , key]) => list === 'outbounds' && key === 'outbounds',
  takesAll: () => false,
  reaches(path, value, parent) {
    const [key, within] = path.map(String).toReversed() as [string, string | undefined]
    if (NAMED_BY_OTHERS.has(within ?? '')) return false
    if (!PLAIN_KEY.test(key) || REACHING.test(key)) return true
    if (key === 'path') return !WEB.has(String(parent.type))
    const [first] = path
    if (first === 'experimental') return path.length === 2 && !EXPERIMENTAL.has(key)
    if (key !== 'type' || path.length > 3) return false
    if (first === 'inbounds') return !INBOUNDS.has(String(value)) || isOpenInbound(parent)
    return first === 'outbounds' && !OUTBOUNDS.has(String(value))
  },
}

const isOpenInbound = ({ type, listen }: Tree) => type !== 'tun' && isOpen(listen)

const RULES: Record<TemplateFormat, Rules> = { mihomo: MIHOMO, singbox: SINGBOX }

/** Apps whose reader of YAML is an older one put what it has in place of it, quoted or not, where nobody has looked. */
const MERGE = '<<'

/** So much is written of one, what is named at several places counted there. */
const MOST_LEVELS = 32
const MOST_PARTS = 50_000
const MOST_TEXT = 256 * 1024
const MOST_KEY = 256
/** All names of a list are written at each place for them. */
const MOST_NAME_PLACES = 200

interface Looks {
  rules: Rules
  parts: number
  /** Characters of texts and keys. */
  text: number
  /** How many items are put in place of. */
  proxies: number
  names: number
}

/** Counts an item that others are put in place of. Throws 400 where none can stand, and for too many. */
function count(looks: Looks, value: typeof PROXIES | typeof NAMES, path: Path): void {
  const list = path.slice(0, -1)
  const { servers, isGroup } = looks.rules
  const isItem = typeof path.at(-1) === 'number'
  if (isItem && value === PROXIES && list.length === 1 && list[0] === servers) looks.proxies++
  else if (isItem && value === NAMES && list.length === 3 && isGroup(list)) looks.names++
  else throw refusal('template-misplaced', { placeholder: value, where: placeOf(path) })
  if (looks.names > MOST_NAME_PLACES) throw refusal('template-too-large', { where: placeOf(path) })
}

/** Throws 400 for a key that a template may not have, or not with this value. */
function checkKey({ rules }: Looks, path: Path, value: Yaml, parent: Tree): void {
  const key = String(path.at(-1))
  const where = placeOf(path)
  if (key.length > MOST_KEY) throw refusal('template-too-large', { where })
  const isKnown = key !== MERGE && (path.length > 1 || rules.top.has(key))
  if (!isKnown || rules.reaches(path, value, parent)) throw refusal('template-beyond', { where })
}

const lengthOf = (said: unknown) => (typeof said === 'string' ? said.length : 0)

function look(looks: Looks, value: Yaml, path: Path): void {
  looks.parts++
  looks.text += lengthOf(path.at(-1)) + lengthOf(value)
  if (looks.parts > MOST_PARTS || looks.text > MOST_TEXT || path.length > MOST_LEVELS) {
    throw refusal('template-too-large', { where: placeOf(path) })
  }
  if (value === PROXIES || value === NAMES) count(looks, value, path)
  if (typeof value === 'number' && !Number.isFinite(value)) {
    throw refusal('template-no-number', { where: placeOf(path) })
  }
  for (const [i, one] of listOf(value).entries()) look(looks, one, [...path, i])
  if (!isTree(value)) return
  for (const [key, one] of Object.entries(value) as [string, Yaml][]) {
    const place = [...path, key]
    checkKey(looks, place, one, value)
    look(looks, one, place)
  }
}

/** The names that a template gives. Throws 400 for two that are the same. */
function namesOf(rules: Rules, tree: Tree): Set<string> {
  const names = new Set<string>()
  for (const { where, name } of rules.named(tree)) {
    const at = { where: placeOf(where) }
    if (typeof name !== 'string' || name === '') throw refusal('template-no-name', at)
    if (names.has(name)) throw refusal('template-name-twice', { ...at, name: cut(name, MOST_NAME) })
    names.add(name)
  }
  return names
}

/** A template that may be used. */
export interface CheckedTree {
  tree: Tree
  /** What entries may not be called. */
  names: ReadonlySet<string>
}

/** Looks at what a template says. Throws 400 naming what it may not say, and where. */
export function checkTemplate(format: TemplateFormat, said: unknown): CheckedTree {
  const rules = RULES[format]
  if (!isTree(said)) throw refusal('template-no-map')
  const looks: Looks = { rules, parts: 0, text: 0, proxies: 0, names: 0 }
  look(looks, said, [])
  if (looks.proxies !== 1) {
    throw refusal('template-no-proxies', { placeholder: PROXIES, where: rules.servers })
  }
  if (looks.names === 0 && !rules.takesAll(said)) {
    throw refusal('template-no-names', { placeholder: NAMES })
  }
  const names = namesOf(rules, said)
  for (const { where, name } of rules.references(said)) {
    if (name === NAMES || rules.builtIn.has(String(name)) || names.has(String(name))) continue
    const at = { where: placeOf(where), name: cut(String(name), MOST_NAME) }
    throw refusal('template-unknown-name', at)
  }
  return { tree: said, names }
}
