/** The connection list as a Mihomo (Clash.Meta) profile in YAML. */
import type { GrpcEntry, Hysteria2Entry, RealityEntry, WsEntry } from './entries.ts'
import { wantsHybridKeyShare } from './entries.ts'
import { mihomoRules, PRIVATE_CIDRS, PRIVATE_DOMAINS, REMOTE_DNS, type Routing } from './routing.ts'

export type MihomoEntry = RealityEntry | GrpcEntry | WsEntry | Hysteria2Entry

type Yaml = string | number | boolean | Yaml[] | { [key: string]: Yaml | undefined }

const PROXY_GROUP = 'Proxy'
const AUTO_GROUP = 'Auto'
const TEST_URL = 'https://www.gstatic.com/generate_204'

/** A whole profile: names resolved at the node, private ranges direct, the rest through the group. */
export function mihomoList(entries: MihomoEntry[], routing: Routing | null = null): string {
  return `${yaml({
    'mixed-port': 7890,
    'allow-lan': false,
    mode: 'rule',
    'log-level': 'warning',
    ipv6: true,
    'unified-delay': true,
    profile: { 'store-selected': true },
    dns: dns(routing !== null),
    proxies: entries.map(proxy),
    'proxy-groups': groups(entries.map((entry) => entry.name)),
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

function proxy(entry: MihomoEntry): Yaml {
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

/** Block YAML. Keys are ours and plain; every string is quoted, or `12e45678` would be a number. */
function yaml(value: Yaml, pad = ''): string {
  if (Array.isArray(value)) {
    if (value.length === 0) return '[]'
    return value.map((item) => `${pad}- ${yaml(item, `${pad}  `).trimStart()}`).join('\n')
  }
  if (typeof value === 'object') {
    const lines: string[] = []
    for (const [key, item] of Object.entries(value)) {
      if (item === undefined) continue
      const nested = typeof item === 'object' && !(Array.isArray(item) && item.length === 0)
      lines.push(`${pad}${key}:${nested ? '\n' : ' '}${yaml(item, `${pad}  `)}`)
    }
    return lines.join('\n')
  }
  return typeof value === 'string' ? quoted(value) : String(value)
}

/** A JSON string is a YAML string once the characters that YAML 1.2 section 5.1 bars are escaped. */
function quoted(text: string): string {
  return JSON.stringify(text.toWellFormed()).replace(
    /[\u007f-\u009f\u2028\u2029\ufeff\ufffe\uffff]/g,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}
