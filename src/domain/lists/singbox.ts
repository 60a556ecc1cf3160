/** The connection list as a sing-box tun profile, valid for the core version that asks. */
import type { GrpcEntry, Hysteria2Entry, RealityEntry, WsEntry } from './entries.ts'
import { type Routing, ruleSetsOf } from './routing.ts'

export type SingboxEntry = RealityEntry | GrpcEntry | WsEntry | Hysteria2Entry

const SELECTOR = 'Proxy'
const URLTEST = 'Auto'
const DIRECT = 'direct'
const REMOTE_DNS = 'dns-remote'
const LOCAL_DNS = 'dns-local'
const PRIVATE_SUFFIXES = ['.localhost', '.local', '.lan', '.home.arpa', '.internal']

/**
 * A whole profile for the core version (`1.11.15`, `1.14.0-beta.3`; null or unknown: as for 1.12).
 * 1.12 replaced the dns servers of 1.11 and 1.14 refuses them; the rest is the same from 1.11 to 1.14.
 */
export const singboxList = (
  entries: SingboxEntry[],
  coreVersion: string | null,
  routing: Routing | null = null,
): string =>
  singboxProfile(
    entries.map(singboxOutbound),
    entries.map(({ name }) => name),
    coreVersion,
    routing,
  )

/** The profile around these outbounds, which are called so. */
export function singboxProfile(
  servers: (object | string)[],
  names: string[],
  coreVersion: string | null,
  routing: Routing | null,
): string {
  const legacy = isBefore(12, coreVersion)
  const hasServers = servers.length > 0
  const config = {
    log: { level: 'warn', timestamp: true },
    dns: legacy ? legacyDns(hasServers, routing) : dns(hasServers, routing),
    inbounds: [
      {
        type: 'tun',
        tag: 'tun-in',
        address: ['172.19.0.1/30', 'fdfe:dcba:9876::1/126'],
        auto_route: true,
        strict_route: true,
      },
    ],
    outbounds: [...groups(names), ...servers, { type: 'direct', tag: DIRECT }],
    route: {
      rules: [
        { action: 'sniff' },
        {
          type: 'logical',
          mode: 'or',
          rules: [{ protocol: 'dns' }, { port: 53 }],
          action: 'hijack-dns',
        },
        { ip_is_private: true, action: 'route', outbound: DIRECT },
        ...(routing ? routeRules(routing) : []),
      ],
      ...(routing && { rule_set: remoteRuleSets(routing, coreVersion) }),
      final: SELECTOR,
      auto_detect_interface: true,
      ...(legacy ? {} : { default_domain_resolver: { server: LOCAL_DNS } }),
    },
    experimental: { cache_file: { enabled: true } },
  }
  return JSON.stringify(config, null, 2)
}

/** Whether a core is known to be older than this minor version of 1. */
export function isBefore(minor: number, coreVersion: string | null): boolean {
  const match = /^(\d+)\.(\d+)/.exec(coreVersion ?? '')
  return match !== null && (match[1] === '0' || (match[1] === '1' && Number(match[2]) < minor))
}

function routeRules(routing: Routing): object[] {
  const { sites, addresses, ads } = ruleSetsOf(routing)
  return [
    ...(ads === null ? [] : [{ rule_set: [ads], action: 'reject' }]),
    { rule_set: [sites, addresses], action: 'route', outbound: DIRECT },
  ]
}

/**
 * Rule files, which the core loads through the servers and keeps. Since 1.14 the way there is an HTTP client's, and the field of before
 * warned of.
 */
function remoteRuleSets(routing: Routing, coreVersion: string | null): object[] {
  const { sites, addresses, ads } = ruleSetsOf(routing)
  const isOld = coreVersion === null || isBefore(14, coreVersion)
  const way = isOld ? { download_detour: SELECTOR } : { http_client: { detour: SELECTOR } }
  return [sites, addresses, ...(ads === null ? [] : [ads])].map((tag) => ({
    type: 'remote',
    tag,
    format: 'binary',
    url: `${routing.rulesUrl}/${tag}.srs`,
    ...way,
  }))
}

/** The country's names are asked for where they go to: what they answer abroad leads elsewhere. */
const siteDns = (routing: Routing | null): object[] =>
  routing ? [{ rule_set: [ruleSetsOf(routing).sites], action: 'route', server: LOCAL_DNS }] : []

/** Names are asked through the proxy, those of this network at the system's resolver. */
function dns(hasServers: boolean, routing: Routing | null): object {
  const local = { type: 'local', tag: LOCAL_DNS }
  // A server that detours to a bare direct outbound is refused: without servers only the local one.
  if (!hasServers) return { servers: [local], final: LOCAL_DNS }
  return {
    servers: [{ type: 'https', tag: REMOTE_DNS, server: '1.1.1.1', detour: SELECTOR }, local],
    rules: [
      { domain_suffix: PRIVATE_SUFFIXES, action: 'route', server: LOCAL_DNS },
      ...siteDns(routing),
    ],
    final: REMOTE_DNS,
  }
}

function legacyDns(hasServers: boolean, routing: Routing | null): object {
  const local = { tag: LOCAL_DNS, address: 'local', detour: DIRECT }
  if (!hasServers) return { servers: [local], final: LOCAL_DNS }
  return {
    servers: [{ tag: REMOTE_DNS, address: 'https://1.1.1.1/dns-query', detour: SELECTOR }, local],
    rules: [
      // The nodes' own names: without this rule they would be asked through the nodes.
      { outbound: ['any'], action: 'route', server: LOCAL_DNS },
      { domain_suffix: PRIVATE_SUFFIXES, action: 'route', server: LOCAL_DNS },
      ...siteDns(routing),
    ],
    final: REMOTE_DNS,
  }
}

function groups(names: string[]): object[] {
  // No servers: everything goes direct, so that the user can still reach the page that renews.
  if (names.length === 0) return [{ type: 'selector', tag: SELECTOR, outbounds: [DIRECT] }]
  return [
    {
      type: 'selector',
      tag: SELECTOR,
      outbounds: [URLTEST, ...names],
      default: URLTEST,
      interrupt_exist_connections: true,
    },
    {
      type: 'urltest',
      tag: URLTEST,
      outbounds: names,
      url: 'https://www.gstatic.com/generate_204',
      interval: '5m',
      tolerance: 50,
    },
  ]
}

const utls = ({ fingerprint }: RealityEntry | GrpcEntry | WsEntry) => ({
  enabled: true,
  fingerprint,
})

const reality = ({ publicKey, shortId }: RealityEntry | GrpcEntry) => ({
  enabled: true,
  public_key: publicKey,
  short_id: shortId,
})

/** An entry as profiles have it. */
export function singboxOutbound(entry: SingboxEntry): object {
  const server = { tag: entry.name, server: entry.address, server_port: entry.port }
  const tls = { enabled: true, ...(entry.sni ? { server_name: entry.sni } : {}) }
  switch (entry.kind) {
    case 'reality':
      return {
        type: 'vless',
        ...server,
        uuid: entry.uuid,
        ...(entry.flow ? { flow: 'xtls-rprx-vision' } : {}),
        tls: { ...tls, utls: utls(entry), reality: reality(entry) },
      }
    case 'grpc':
      return {
        type: 'vless',
        ...server,
        uuid: entry.uuid,
        tls: { ...tls, utls: utls(entry), reality: reality(entry) },
        transport: { type: 'grpc', service_name: entry.serviceName },
      }
    case 'ws':
      return {
        type: 'vless',
        ...server,
        uuid: entry.uuid,
        tls: {
          ...tls,
          ...(entry.pin ? { certificate: entry.pin.pem.split('\n') } : {}),
          utls: utls(entry),
        },
        transport: {
          type: 'ws',
          path: entry.path,
          ...(entry.host ? { headers: { Host: entry.host } } : {}),
        },
      }
    case 'hysteria2':
      return {
        type: 'hysteria2',
        tag: entry.name,
        server: entry.address,
        // Since 1.11; with them the one port would not count.
        ...(entry.hop === null
          ? { server_port: entry.port }
          : { server_ports: [entry.hop.replace('-', ':')] }),
        password: entry.auth,
        ...(entry.obfsPassword
          ? { obfs: { type: 'salamander', password: entry.obfsPassword } }
          : {}),
        tls: { ...tls, alpn: ['h3'], certificate: entry.certPem.split('\n') },
      }
  }
}
