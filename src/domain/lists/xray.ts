/** The connection list as Xray client configs: local SOCKS and HTTP, the fastest server or a certain one. */
import type { GrpcEntry, Hysteria2Entry, ListEntry, RealityEntry, XhttpEntry } from './entries.ts'
import { PRIVATE_CIDRS, PRIVATE_DOMAINS, REMOTE_DNS, type Routing, xrayTargets } from './routing.ts'
import { XHTTP_EXTRA } from './xmux.ts'

/** All servers share this prefix of their tags, by which balancer and observatory select them. */
const TAG_PREFIX = 'proxy '
const BALANCER = 'fastest'

/** What apps call the config that takes the fastest server. */
const AUTO = '⚡ Auto'

/** A whole client config. `remarks` is the name under which apps such as v2rayN and Happ show it. */
export function xrayList(
  entries: ListEntry[],
  remarks: string,
  routing: Routing | null = null,
): string {
  const servers = taggedOutbounds(entries)
  const config = clientConfig(remarks, { servers, isBalanced: entries.length > 1, routing })
  return JSON.stringify(config, null, 2)
}

/** One config that takes the fastest server, then one for each entry; none without entries. */
export function xrayArray(entries: ListEntry[], routing: Routing | null = null): string {
  const auto = clientConfig(AUTO, { servers: taggedOutbounds(entries), isBalanced: true, routing })
  const own = entries.map((entry) => {
    const servers = [outbound(entry, 'proxy')]
    return clientConfig(entry.name, { servers, isBalanced: false, routing })
  })
  return JSON.stringify(own.length === 0 ? own : [auto, ...own], null, 2)
}

const taggedOutbounds = (entries: ListEntry[]): Outbound[] =>
  entries.map((entry) => outbound(entry, TAG_PREFIX + entry.name))

interface Wanted {
  servers: Outbound[]
  /** Balanced, or with the first as the default. */
  isBalanced: boolean
  routing: Routing | null
}

function clientConfig(remarks: string, { servers, isBalanced, routing }: Wanted): object {
  return {
    remarks,
    log: { loglevel: 'warning' },
    ...(routing && { dns: { servers: [REMOTE_DNS] } }),
    inbounds: [inbound('socks', 10808), inbound('http', 10809)],
    // The first outbound is Xray's default: direct when there are no servers.
    outbounds: [
      ...servers,
      { tag: 'direct', protocol: 'freedom' },
      { tag: 'block', protocol: 'blackhole' },
    ],
    routing: {
      // On demand: by another strategy the last rule, which takes all, would come before any look-up.
      domainStrategy: routing ? 'IPOnDemand' : 'AsIs',
      rules: [
        { domain: PRIVATE_DOMAINS.map((name) => `domain:${name}`), outboundTag: 'direct' },
        ...(routing ? nameRules(routing) : []),
        { ip: PRIVATE_CIDRS, outboundTag: 'direct' },
        ...(routing ? [{ ip: xrayTargets(routing).addresses, outboundTag: 'direct' }] : []),
        ...(isBalanced ? [{ network: 'tcp,udp', balancerTag: BALANCER }] : []),
      ],
      ...(isBalanced ? balancers(servers) : {}),
    },
    ...(isBalanced ? OBSERVATORY : {}),
  }
}

/** Before rules of addresses: a name that one of these takes is not looked up. */
function nameRules(routing: Routing): object[] {
  const { block, names } = xrayTargets(routing)
  return [
    ...(block.length > 0 ? [{ domain: block, outboundTag: 'block' }] : []),
    { domain: names, outboundTag: 'direct' },
  ]
}

function inbound(protocol: 'socks' | 'http', port: number): object {
  return {
    tag: protocol,
    listen: '127.0.0.1',
    port,
    protocol,
    settings: protocol === 'socks' ? { auth: 'noauth', udp: true } : {},
    sniffing: { enabled: true, destOverride: ['http', 'tls', 'quic'], routeOnly: true },
  }
}

function balancers([first]: Outbound[]): object {
  const strategy = { type: 'leastPing' }
  return {
    balancers: [{ tag: BALANCER, selector: [TAG_PREFIX], strategy, fallbackTag: first?.tag }],
  }
}

const OBSERVATORY = {
  observatory: {
    subjectSelector: [TAG_PREFIX],
    probeUrl: 'https://www.gstatic.com/generate_204',
    probeInterval: '5m',
    enableConcurrency: true,
  },
}

interface Outbound {
  tag: string
  protocol: string
}

function outbound(entry: ListEntry, tag: string): Outbound {
  if (entry.kind === 'hysteria2') return { tag, ...hysteria2(entry) }
  const flow = entry.kind === 'reality' ? entry.flow : ''
  const user = { id: entry.uuid, encryption: 'none', ...(flow ? { flow } : {}) }
  return {
    tag,
    protocol: 'vless',
    settings: { vnext: [{ address: entry.address, port: entry.port, users: [user] }] },
    streamSettings: streamSettings(entry),
  } as Outbound
}

function streamSettings(entry: Exclude<ListEntry, Hysteria2Entry>): object {
  switch (entry.kind) {
    case 'reality':
      return { network: 'tcp', ...reality(entry) }
    case 'xhttp':
      return {
        network: 'xhttp',
        ...(entry.security === 'tls' ? publicTls(entry) : reality(entry)),
        xhttpSettings: {
          path: entry.path,
          ...(entry.host ? { host: entry.host } : {}),
          mode: 'auto',
          extra: XHTTP_EXTRA,
        },
      }
    case 'grpc':
      return {
        network: 'grpc',
        ...reality(entry),
        grpcSettings: { serviceName: entry.serviceName },
      }
    case 'ws':
      return {
        network: 'ws',
        security: 'tls',
        tlsSettings: {
          serverName: entry.sni,
          fingerprint: entry.fingerprint,
          alpn: ['http/1.1'],
          ...(entry.pin ? { pinnedPeerCertSha256: entry.pin.sha256 } : {}),
        },
        wsSettings: { path: entry.path, host: entry.host },
      }
  }
}

const publicTls = ({ sni, fingerprint }: XhttpEntry) => ({
  security: 'tls',
  tlsSettings: { serverName: sni, fingerprint, alpn: ['h2'] },
})

function reality(
  entry: RealityEntry | GrpcEntry | Extract<XhttpEntry, { security: 'reality' }>,
): object {
  return {
    security: 'reality',
    realitySettings: {
      serverName: entry.sni,
      fingerprint: entry.fingerprint,
      publicKey: entry.publicKey,
      shortId: entry.shortId,
      spiderX: '/',
    },
  }
}

/** Ports to hop among are read since 26.3.23; what came before goes on with the one port. */
function finalmask({ obfsPassword, hop }: Hysteria2Entry): object {
  if (!obfsPassword && hop === null) return {}
  const udp = [{ type: 'salamander', settings: { password: obfsPassword } }]
  return {
    finalmask: {
      ...(obfsPassword ? { udp } : {}),
      ...(hop === null ? {} : { quicParams: { udpHop: { ports: hop, interval: 30 } } }),
    },
  }
}

/** Xray speaks Hysteria2 as a client since 26.1.13. */
function hysteria2(entry: Hysteria2Entry) {
  return {
    protocol: 'hysteria',
    settings: { version: 2, address: entry.address, port: entry.port },
    streamSettings: {
      network: 'hysteria',
      security: 'tls',
      tlsSettings: {
        serverName: entry.sni,
        alpn: ['h3'],
        pinnedPeerCertSha256: entry.certSha256,
      },
      hysteriaSettings: { version: 2, auth: entry.auth },
      ...finalmask(entry),
    },
  }
}
