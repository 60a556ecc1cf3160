/** The connection list as a Mihomo (Clash.Meta) profile in YAML. */
import type { GrpcEntry, Hysteria2Entry, RealityEntry, WsEntry } from './entries.ts'
import { wantsHybridKeyShare } from './entries.ts'
import { mihomoRules, PRIVATE_CIDRS, PRIVATE_DOMAINS, REMOTE_DNS, type Routing } from './routing.ts'
import { type Yaml, yaml } from './yaml.ts'

export type MihomoEntry = RealityEntry | GrpcEntry | WsEntry | Hysteria2Entry

const PROXY_GROUP = 'Proxy'
const AUTO_GROUP = 'Auto'
const TEST_URL = 'https://www.gstatic.com/generate_204'

/** A whole profile: names resolved at the node, private ranges direct, the rest through the group. */
export const mihomoList = (entries: MihomoEntry[], routing: Routing | null = null): string =>
  mihomoProfile(
    entries.map(mihomoProxy),
    entries.map(({ name }) => name),
    routing,
  )

/** The profile around these proxies, which are called so. */
export function mihomoProfile(proxies: Yaml[], names: string[], routing: Routing | null): string {
  return `${yaml({
    'mixed-port': 7890,
    'allow-lan': false,
    mode: 'rule',
    'log-level': 'warning',
    ipv6: true,
    'unified-delay': true,
    profile: { 'store-selected': true },
    dns: dns(routing !== null),
    proxies,
    'proxy-groups': groups(names),
    rules: rules(routing),
  })}\n`
}

function groups(names: string[]): Yaml[] {
  // No servers: everything goes direct, so that the user can still reach the page that renews.
  if (names.length === 0) return [{ name: PROXY_GROUP, type: 'select', proxies: ['DIRECT'] }]
  return [
    { name: PROXY_GROUP, type: 'select', proxies: [AUTO_GROUP, ...names] },
    {
      name: AUTO_GROUP,
      type: 'url-test',
      url: TEST_URL,
      interval: 300,
      tolerance: 50,
      proxies: names,
    },
  ]
}

/**
 * Fake addresses: a proxied name is never resolved here, only node names and direct ones are. Where addresses decide (`isRouted`) names
 * are looked up through the group, those that go direct at the system's resolver.
 */
function dns(isRouted: boolean): Yaml {
  const encrypted = [REMOTE_DNS, 'https://8.8.8.8/dns-query']
  const proxied = encrypted.map((server) => `${server}#${PROXY_GROUP}`)
  return {
    enable: true,
    ipv6: true,
    'enhanced-mode': 'fake-ip',
    'fake-ip-range': '198.18.0.1/16',
    'fake-ip-filter': PRIVATE_DOMAINS.map((suffix) => `+.${suffix}`),
    nameserver: isRouted ? proxied : encrypted,
    'direct-nameserver': isRouted ? ['system'] : undefined,
    // The system's resolver too: where public ones are blocked a node's name must still resolve.
    'proxy-server-nameserver': [...encrypted, 'system'],
  }
}

function rules(routing: Routing | null): string[] {
  return [
    ...PRIVATE_DOMAINS.map((suffix) => `DOMAIN-SUFFIX,${suffix},DIRECT`),
    ...PRIVATE_CIDRS.map(
      (cidr) => `${cidr.includes(':') ? 'IP-CIDR6' : 'IP-CIDR'},${cidr},DIRECT,no-resolve`,
    ),
    ...(routing ? mihomoRules(routing) : []),
    `MATCH,${PROXY_GROUP}`,
  ]
}

/** An entry as profiles have it. */
export function mihomoProxy(entry: MihomoEntry): Yaml {
  switch (entry.kind) {
    case 'reality':
      return {
        ...vless(entry),
        network: 'tcp',
        flow: entry.flow ? 'xtls-rprx-vision' : undefined,
        'reality-opts': reality(entry),
      }
    case 'grpc':
      return {
        ...vless(entry),
        network: 'grpc',
        'reality-opts': reality(entry),
        'grpc-opts': { 'grpc-service-name': entry.serviceName },
      }
    case 'ws':
      return {
        ...vless(entry),
        network: 'ws',
        alpn: ['http/1.1'],
        fingerprint: entry.pin?.sha256,
        'ws-opts': { path: entry.path, headers: entry.host ? { Host: entry.host } : undefined },
      }
    case 'hysteria2':
      return {
        name: entry.name,
        type: 'hysteria2',
        server: entry.address,
        port: entry.port,
        ports: entry.hop ?? undefined,
        password: entry.auth,
        obfs: entry.obfsPassword ? 'salamander' : undefined,
        'obfs-password': entry.obfsPassword || undefined,
        sni: entry.sni || undefined,
        fingerprint: entry.certSha256,
        alpn: ['h3'],
      }
  }
}

function reality(entry: RealityEntry | GrpcEntry): Yaml {
  return {
    'public-key': entry.publicKey,
    'short-id': entry.shortId,
    'support-x25519mlkem768': wantsHybridKeyShare(entry.coreVersion) || undefined,
  }
}

function vless(entry: RealityEntry | GrpcEntry | WsEntry): { [key: string]: Yaml | undefined } {
  return {
    name: entry.name,
    type: 'vless',
    server: entry.address,
    port: entry.port,
    uuid: entry.uuid,
    udp: true,
    'packet-encoding': 'xudp',
    tls: true,
    servername: entry.sni || undefined,
    'client-fingerprint': entry.fingerprint,
  }
}
