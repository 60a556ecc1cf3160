/** Which addresses the service may be sent to by a setting: never link-local, metadata or multicast ones. */
import { inNetworks, LOOPBACK, networks, PRIVATE, parseIp } from './ip.ts'

/** Refused always. The last line: metadata services that are not link-local (AWS and Google by IPv6, Alibaba, Oracle, Azure). */
const FORBIDDEN = networks(
  ...['0.0.0.0/8', '169.254.0.0/16', '224.0.0.0/4', '240.0.0.0/4'],
  ...['::/128', 'fe80::/10', 'ff00::/8'],
  ...['fd00:ec2::254', 'fd20:ce::254', '100.100.100.200', '192.0.0.192', '168.63.129.16'],
)

/** Refused besides with OUTBOUND_DENY_PRIVATE: what no public host has (IANA's special-purpose registries). */
const NOT_PUBLIC = [
  ...LOOPBACK,
  ...PRIVATE,
  ...networks('100.64.0.0/10', '192.0.0.0/24', '192.0.2.0/24', '192.88.99.0/24'),
  ...networks('198.18.0.0/15', '198.51.100.0/24', '203.0.113.0/24'),
  ...networks('64:ff9b:1::/48', '100::/64', '2001::/23', '2001:db8::/32', 'fec0::/10'),
]

const MAPPED = 0xffffn << 32n
const LAST_32 = 0xffff_ffffn

/** IPv6 forms that lead to an IPv4 address, and where it stands in them. */
const EMBEDDED: [network: ReturnType<typeof networks>, ipv4: (address: bigint) => bigint][] = [
  // IPv4-compatible (RFC 4291, 2.5.5.1), IPv4-translated (RFC 2765), NAT64 (RFC 6052 and 8215)
  [networks('::/96', '::ffff:0:0:0/96', '64:ff9b::/96', '64:ff9b:1::/48'), (a) => a & LAST_32],
  // 6to4 (RFC 3056)
  [networks('2002::/16'), (a) => (a >> 80n) & LAST_32],
  // Teredo (RFC 4380): the client's address, inverted
  [networks('2001::/32'), (a) => (a & LAST_32) ^ LAST_32],
]

/** The address, and the IPv4 address that it leads to. */
function forms(address: bigint): bigint[] {
  const ipv4 = EMBEDDED.filter(([network]) => inNetworks(address, network))
  return [address, ...ipv4.map(([, read]) => MAPPED | read(address))]
}

/** Whether a connection to an IP address is allowed; text that is no address is not. */
export function isAllowedAddress(text: string, denyPrivate: boolean): boolean {
  const address = parseIp(text)
  if (address === null) return false
  // `::1` looks like the IPv4-compatible form of 0.0.0.1.
  if (inNetworks(address, LOOPBACK)) return !denyPrivate
  const refused = denyPrivate ? [...FORBIDDEN, ...NOT_PUBLIC] : FORBIDDEN
  return !forms(address).some((form) => inNetworks(form, refused))
}

/** The address that a URL names by itself, without a look-up; null for a host name. */
export function literalAddress(url: URL): string | null {
  const host = url.hostname.replace(/^\[|\]$/g, '')
  return parseIp(host) === null ? null : host
}
