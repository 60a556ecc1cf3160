/** The connection list as one Xray client config: local SOCKS and HTTP, the fastest server. */
import type { GrpcEntry, Hysteria2Entry, ListEntry, RealityEntry, XhttpEntry } from './entries.ts'
import { XHTTP_EXTRA } from './xmux.ts'

/** All servers share this prefix of their tags, by which balancer and observatory select them. */
const TAG_PREFIX = 'proxy '
const BALANCER = 'fastest'

const PRIVATE_CIDRS = ['10.0.0.0/8', '100.64.0.0/10', '127.0.0.0/8', '169.254.0.0/16']
PRIVATE_CIDRS.push('172.16.0.0/12', '192.168.0.0/16', '224.0.0.0/4', '255.255.255.255/32')
PRIVATE_CIDRS.push('::1/128', 'fc00::/7', 'fe80::/10', 'ff00::/8')
const PRIVATE_DOMAINS = ['localhost', 'local', 'lan', 'home.arpa', 'internal']

/** A whole client config. `remarks` is the name under which apps such as v2rayN and Happ show it. */
export function xrayList(entries: ListEntry[], remarks: string): string {
  const config = {
    remarks,
    log: { loglevel: 'warning' },
    inbounds: [inbound('socks', 10808), inbound('http', 10809)],
    // The first outbound is Xray's default: direct when there are no servers.
    outbounds: [
      ...entries.map(outbound),
      { tag: 'direct', protocol: 'freedom' },
      { tag: 'block', protocol: 'blackhole' },
    ],
    routing: {
      domainStrategy: 'AsIs',
      rules: [
        { domain: PRIVATE_DOMAINS.map((name) => `domain:${name}`), outboundTag: 'direct' },
        { ip: PRIVATE_CIDRS, outboundTag: 'direct' },
        ...(entries.length > 1 ? [{ network: 'tcp,udp', balancerTag: BALANCER }] : []),
      ],
      ...balancers(entries),
    },
    ...observatory(entries),
  }
  return JSON.stringify(config, null, 2)
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

function balancers([first, ...rest]: ListEntry[]): object {
  if (!first || rest.length === 0) return {}
  const strategy = { type: 'leastPing' }
  const fallbackTag = TAG_PREFIX + first.name
  return { balancers: [{ tag: BALANCER, selector: [TAG_PREFIX], strategy, fallbackTag }] }
}

function observatory(entries: ListEntry[]): object {
  if (entries.length < 2) return {}
  return {
    observatory: {
      subjectSelector: [TAG_PREFIX],
      probeUrl: 'https://www.gstatic.com/generate_204',
      probeInterval: '5m',
      enableConcurrency: true,
    },
  }
}

function outbound(entry: ListEntry): object {
  const tag = TAG_PREFIX + entry.name
  if (entry.kind === 'hysteria2') return { tag, ...hysteria2(entry) }
  const flow = entry.kind === 'reality' ? entry.flow : ''
  const user = { id: entry.uuid, encryption: 'none', ...(flow ? { flow } : {}) }
  return {
    tag,
    protocol: 'vless',
    settings: { vnext: [{ address: entry.address, port: entry.port, users: [user] }] },
    streamSettings: streamSettings(entry),
  }
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
function hysteria2(entry: Hysteria2Entry): object {
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
