/** Rule files and geodata made of small sources, as the cores read them. */
import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Country } from '#src/lib/routing-presets.ts'
import { findCore } from '#test/support/cores.ts'

/** What belongs to a country, or to advertisers. */
export interface Places {
  /** Names, with what is under them. */
  sites: string[]
  /** IPv4 addresses. */
  addresses: string[]
  ads: string[]
}

const SITES: Record<Country, string> = { ru: 'category-ru', ir: 'category-ir', cn: 'cn' }

/** Compiles the rule files of a country with the real sing-box into a folder. */
export function compileRules(folder: string, country: Country, places: Places): void {
  mkdirSync(folder, { recursive: true })
  const compile = (name: string, rule: object) => {
    const source = join(folder, `${name}.json`)
    writeFileSync(source, JSON.stringify({ version: 1, rules: [rule] }))
    const args = ['rule-set', 'compile', source, '-o', join(folder, `${name}.srs`)]
    execFileSync(findCore('sing-box', '1.13.2'), args)
  }
  compile(`geosite-${SITES[country]}`, { domain_suffix: places.sites })
  compile(`geoip-${country}`, { ip_cidr: places.addresses.map((ip) => `${ip}/32`) })
  compile('geosite-category-ads-all', { domain_suffix: places.ads })
}

const varint = (value: number): number[] =>
  value < 128 ? [value] : [(value & 127) | 128, ...varint(value >> 7)]

/** A field of a protobuf message: bytes, or a number. */
const field = (number: number, value: Uint8Array | string | number): Buffer => {
  if (typeof value === 'number') return Buffer.from([number << 3, ...varint(value)])
  const bytes = Buffer.from(value)
  return Buffer.concat([Buffer.from([(number << 3) | 2, ...varint(bytes.length)]), bytes])
}

const quads = (ip: string): number[] => ip.split('.').map(Number)

/** Xray's `geoip.dat` (v2ray-core app/router/config.proto). */
function geoip(country: Country, { addresses }: Places): Buffer {
  const cidrs = addresses.map((ip) =>
    field(2, Buffer.concat([field(1, Buffer.from(quads(ip))), field(2, 32)])),
  )
  return field(1, Buffer.concat([field(1, country.toUpperCase()), ...cidrs]))
}

/** `geosite.dat` of the same. */
function geosite(lists: [code: string, names: string[]][]): Buffer {
  const ROOT_DOMAIN = 2
  return Buffer.concat(
    lists.map(([code, names]) => {
      const domains = names.map((name) =>
        field(2, Buffer.concat([field(1, ROOT_DOMAIN), field(2, name)])),
      )
      return field(1, Buffer.concat([field(1, code.toUpperCase()), ...domains]))
    }),
  )
}

type Branch = [Branch | string | null, Branch | string | null]

/** A MaxMind database (maxmind.github.io/MaxMind-DB) whose values are texts, as sing-geoip writes it. */
function mmdb(value: string, addresses: string[]): Buffer {
  const root: Branch = [null, null]
  for (const ip of addresses) {
    const bits = [
      ...new Array(96).fill(0),
      ...quads(ip).flatMap((n) => [7, 6, 5, 4, 3, 2, 1, 0].map((i) => (n >> i) & 1)),
    ]
    let at = root
    for (const bit of bits.slice(0, -1)) {
      at[bit] ??= [null, null]
      at = at[bit] as Branch
    }
    at[bits.at(-1) as number] = value
  }
  const nodes: Branch[] = []
  const visit = (node: Branch) => {
    nodes.push(node)
    for (const child of node) if (Array.isArray(child)) visit(child)
  }
  visit(root)
  const numbers = new Map(nodes.map((node, i) => [node, i]))
  const tree = Buffer.alloc(nodes.length * 6)
  nodes.forEach((node, i) => {
    node.forEach((child, side) => {
      const record =
        child === null
          ? nodes.length
          : Array.isArray(child)
            ? (numbers.get(child) as number)
            : nodes.length + 16
      tree.writeUIntBE(record, i * 6 + side * 3, 3)
    })
  })
  const text = (words: string) => Buffer.from([0x40 | words.length, ...Buffer.from(words)])
  const number = (type: number, n: number) => Buffer.from([(type << 5) | 4, 0, 0, n >> 8, n & 255])
  const short = (n: number) => Buffer.from([(5 << 5) | 2, n >> 8, n & 255])
  const metadata = Buffer.concat([
    Buffer.from([0xe0 | 9]),
    ...[text('node_count'), number(6, nodes.length)],
    ...[text('record_size'), short(24)],
    ...[text('ip_version'), short(6)],
    ...[text('database_type'), text('sing-geoip')],
    ...[text('languages'), Buffer.from([0, 4])],
    ...[text('binary_format_major_version'), short(2)],
    ...[text('binary_format_minor_version'), short(0)],
    ...[text('build_epoch'), Buffer.from([1, 2, 1])],
    ...[text('description'), Buffer.from([0xe0])],
  ])
  const marker = Buffer.from('\xab\xcd\xefMaxMind.com', 'latin1')
  return Buffer.concat([tree, Buffer.alloc(16), text(value), marker, metadata])
}

/** Writes what Xray and Mihomo bring along: `geoip.dat`, `GeoSite.dat`, `geoip.metadb`. */
export function writeGeodata(folder: string, country: Country, places: Places): void {
  mkdirSync(folder, { recursive: true })
  const sites = geosite([
    [SITES[country], places.sites],
    ['category-ads-all', places.ads],
    // Mihomo takes a file without it for a broken one.
    ...(country === 'cn' ? [] : ([['cn', ['cn.test']]] as [string, string[]][])),
  ])
  writeFileSync(join(folder, 'geoip.dat'), geoip(country, places))
  writeFileSync(join(folder, 'GeoSite.dat'), sites)
  writeFileSync(join(folder, 'geoip.metadb'), mmdb(country, places.addresses))
}
