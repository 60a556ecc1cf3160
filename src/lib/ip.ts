/** IP addresses as 128-bit numbers: an IPv4 address is its IPv4-mapped IPv6 address (RFC 4291, section 2.5.5.2). */

const MAPPED = 0xffffn << 32n

function parseIpv4(text: string): bigint | null {
  const parts = text.split('.')
  if (parts.length !== 4) return null
  let value = 0n
  for (const part of parts) {
    if (!/^\d{1,3}$/.test(part) || Number(part) > 255) return null
    value = (value << 8n) | BigInt(part)
  }
  return value
}

function parseGroups(text: string): bigint[] | null {
  if (text === '') return []
  const groups: bigint[] = []
  for (const part of text.split(':')) {
    if (!/^[0-9a-fA-F]{1,4}$/.test(part)) return null
    groups.push(BigInt(`0x${part}`))
  }
  return groups
}

/** The dotted tail of an IPv6 address (`::ffff:1.2.3.4`) as two hex groups. */
function withoutDots(text: string): string | null {
  if (!text.includes('.')) return text
  const cut = text.lastIndexOf(':')
  const tail = parseIpv4(text.slice(cut + 1))
  if (tail === null) return null
  return `${text.slice(0, cut + 1)}${(tail >> 16n).toString(16)}:${(tail & 0xffffn).toString(16)}`
}

function parseIpv6(input: string): bigint | null {
  const text = withoutDots(input.split('%')[0] as string)
  if (text === null) return null
  const halves = text.split('::')
  if (halves.length > 2) return null
  const head = parseGroups(halves[0] as string)
  const tail = halves.length === 2 ? parseGroups(halves[1] as string) : []
  if (!head || !tail) return null
  const missing = 8 - head.length - tail.length
  if (halves.length === 2 ? missing < 1 : missing !== 0) return null
  const groups = [...head, ...Array<bigint>(missing).fill(0n), ...tail]
  return groups.reduce((value, group) => (value << 16n) | group, 0n)
}

/** The number of an address, or null when the text is none. */
export function parseIp(text: string): bigint | null {
  const ipv4 = parseIpv4(text)
  return ipv4 === null ? parseIpv6(text) : MAPPED | ipv4
}

export interface Network {
  value: bigint
  shift: bigint
}

/** A CIDR block, or a single address, as a network. Null when the text is neither. */
export function parseNetwork(text: string): Network | null {
  const [address, length, ...rest] = text.split('/')
  const value = parseIp(address ?? '')
  if (value === null || rest.length > 0) return null
  const bits = address?.includes(':') ? 128 : 32
  if (length !== undefined && !/^\d{1,3}$/.test(length)) return null
  const prefix = length === undefined ? bits : Number(length)
  if (prefix > bits) return null
  const shift = BigInt(bits - prefix)
  return { value: value >> shift, shift }
}

export function inNetworks(address: bigint, networks: Network[]): boolean {
  return networks.some(({ value, shift }) => address >> shift === value)
}

/** Networks of constant texts. */
export const networks = (...cidrs: string[]) => cidrs.map((cidr) => parseNetwork(cidr) as Network)

export const LOOPBACK = networks('127.0.0.0/8', '::1/128')
export const PRIVATE = networks(
  '10.0.0.0/8',
  '172.16.0.0/12',
  '192.168.0.0/16',
  'fc00::/7',
  'fe80::/10',
)

/** What attempts are counted by: IPv4 however it is written, IPv6 by its /64, other text unchanged. */
export function attemptKey(ip: string): string {
  const value = parseIp(ip)
  if (value === null) return ip
  if (value >> 32n === 0xffffn) {
    return [24n, 16n, 8n, 0n].map((shift) => (value >> shift) & 0xffn).join('.')
  }
  return `${(value >> 64n).toString(16).padStart(16, '0')}::/64`
}

/** The network around an address that one party may have as a whole: /24 of IPv4, /48 of IPv6; other text unchanged. */
export function networkKey(ip: string): string {
  const value = parseIp(ip)
  if (value === null) return ip
  const isIpv4 = value >> 32n === 0xffffn
  return isIpv4
    ? attemptKey(ip).replace(/\d+$/, '0/24')
    : `${(value >> 80n).toString(16).padStart(12, '0')}::/48`
}

/** Texts between two, both included. */
export interface Span {
  from: string
  to: string
}

const exactly = (text: string): Span => ({ from: text, to: text })
const beginning = (text: string): Span => ({ from: text, to: `${text}\u{10ffff}` })

/** The beginnings of all texts of a /64, with `::` for none of its zeros and for each run of them. */
function beginningsOf(prefix: bigint): string[] {
  const groups = [48n, 32n, 16n, 0n].map((shift) => ((prefix >> shift) & 0xffffn).toString(16))
  const texts = [`${groups.join(':')}:`]
  for (let start = 0; start < groups.length; start++) {
    if (groups[start] !== '0' || groups[start - 1] === '0') continue
    const end = groups.findIndex((group, at) => at > start && group !== '0')
    const after = end < 0 ? '' : `${groups.slice(end).join(':')}:`
    texts.push(`${groups.slice(0, start).join(':')}::${after}`)
  }
  return texts
}

/**
 * Where in the order of texts the addresses of an attempt key are, in the forms of RFC 5952 and of Node; the given text first.
 * Others may lie there too.
 */
export function spansOf(ip: string): Span[] {
  const value = parseIp(ip)
  if (value === null) return [exactly(ip)]
  if (value >> 32n !== 0xffffn) {
    return [exactly(ip), ...beginningsOf(value >> 64n).map(beginning)]
  }
  const dotted = attemptKey(ip)
  const hex = `${((value >> 16n) & 0xffffn).toString(16)}:${(value & 0xffffn).toString(16)}`
  return [ip, dotted, `::ffff:${dotted}`, `::ffff:${hex}`].map(exactly)
}
