/** What a core must run, without its clients: the text that the node program fills in (docs/node-program.md). */
import type { Node } from '#db/schema.ts'

/** Where an unauthenticated REALITY visitor is sent: `host:port`. */
export type TargetOf = (node: Node) => string

/**
 * What a core would refuse of a local node, naming the field; null when it takes all. It refuses a whole configuration for one
 * inbound that it can't read.
 */
export function coreRefusal({
  kind,
  shortId,
  flow,
}: Pick<Node, 'kind' | 'shortId' | 'flow'>): string | null {
  if (!/^(?:[0-9a-f]{2}){0,8}$/i.test(shortId)) {
    return `short_id must be up to 16 hex digits, an even number, on a ${kind} node`
  }
  return ['', 'xtls-rprx-vision'].includes(flow)
    ? null
    : `flow must be empty or xtls-rprx-vision on a ${kind} node`
}

const isServable = (node: Node) =>
  node.privateKey !== '' && node.sni !== '' && coreRefusal(node) === null

/** Nodes of one core that can be served together: a port belongs to the first node in display order that can be. */
export function servedNodes(nodes: Node[]): { served: Node[]; conflicts: Node[] } {
  const ports = new Set<number>()
  const served: Node[] = []
  const conflicts: Node[] = []
  for (const node of nodes) {
    if (!isServable(node) || ports.has(node.port)) conflicts.push(node)
    else {
      ports.add(node.port)
      served.push(node)
    }
  }
  return { served, conflicts }
}

const SNIFFING = { enabled: true, destOverride: ['http', 'tls', 'quic'], routeOnly: true }

interface InboundParts {
  kind: 'reality' | 'xhttp' | 'ws'
  /** A port, or the name of an abstract socket. */
  at: { port: number } | { listen: string }
  flow?: string
  settings?: object
  stream: object
}

/** One VLESS inbound. Tag, port and clients stand on lines of their own for the node program. */
function inbound(node: Node, { kind, at, flow = '', settings = {}, stream }: InboundParts): string {
  const more = Object.entries(settings).map(([key, value]) => `,"${key}":${JSON.stringify(value)}`)
  return [
    '{',
    `"tag":${JSON.stringify(`${node.code}.${kind}`)},`,
    `${JSON.stringify(at).slice(1, -1)},`,
    '"protocol":"vless","settings":{"decryption":"none","clients":[',
    flow === '' ? `@clients ${node.code}@` : `@clients ${node.code} ${flow}@`,
    `]${more.join('')}},`,
    `"streamSettings":${JSON.stringify(stream)},`,
    `"sniffing":${JSON.stringify(SNIFFING)}`,
    '}',
  ].join('\n')
}

/**
 * REALITY, with XHTTP behind its port where the node has it: who is let in and does not speak VLESS is handed to the socket on
 * which XHTTP listens. `minClientVer` 1.0.0, because without it a core of 26.7 turns sing-box and mihomo away
 * (XTLS/Xray-core#6482).
 */
function realityInbounds(node: Node, target: string): string[] {
  const path = node.transportsJson.find(({ type }) => type === 'xhttp')?.path
  // Abstract: no file that a killed core leaves behind.
  const socket = `@subpanel.${node.code}.xhttp`
  const realitySettings = {
    target,
    xver: 0,
    serverNames: [node.sni],
    privateKey: node.privateKey,
    shortIds: [node.shortId],
    minClientVer: '1.0.0',
  }
  const reality = inbound(node, {
    kind: 'reality',
    at: { port: node.port },
    flow: node.flow,
    // xver: the PROXY protocol tells XHTTP's inbound the client's address, by which connections are cut.
    settings: path === undefined ? {} : { fallbacks: [{ dest: socket, xver: 2 }] },
    stream: { network: 'tcp', security: 'reality', realitySettings },
  })
  if (path === undefined) return [reality]
  const stream = {
    network: 'xhttp',
    xhttpSettings: { path: withSlash(path) },
    sockopt: { acceptProxyProtocol: true },
  }
  return [reality, inbound(node, { kind: 'xhttp', at: { listen: socket }, stream })]
}

const withSlash = (path: string) => `/${path.replace(/^\/+/, '')}`

/** Where the install script puts a node's certificate. */
export const CERTIFICATE_FILES = {
  certificateFile: '@dir@/tls/node.crt',
  keyFile: '@dir@/tls/node.key',
}

/** WebSocket over TLS, where the install script has made a certificate. */
function wsInbounds(node: Node, taken: Set<number>): string[] {
  const ws = node.transportsJson.find(({ type }) => type === 'ws')
  if (!ws || node.kind !== 'managed' || taken.has(ws.port)) return []
  taken.add(ws.port)
  const stream = {
    network: 'ws',
    security: 'tls',
    tlsSettings: { alpn: ['http/1.1'], minVersion: '1.2', certificates: [CERTIFICATE_FILES] },
    wsSettings: { path: withSlash(ws.path ?? '') },
  }
  return [inbound(node, { kind: 'ws', at: { port: ws.port }, stream })]
}

/**
 * The configuration of a core: api on a unix socket, traffic and online counters per client, mail ports blocked. Private
 * addresses are blocked by the freedom outbound itself (Xray v26.5.3).
 */
export function coreConfig(nodes: Node[], targetOf: TargetOf): string {
  const policy = {
    levels: {
      '0': {
        handshake: 4,
        connIdle: 300,
        statsUserUplink: true,
        statsUserDownlink: true,
        statsUserOnline: true,
      },
    },
    system: { statsInboundUplink: true, statsInboundDownlink: true },
  }
  const outbounds = [
    {
      tag: 'direct',
      protocol: 'freedom',
      settings: { finalRules: [{ action: 'block', network: 'tcp', port: '25,465,587' }] },
    },
    { tag: 'block', protocol: 'blackhole' },
  ]
  const routing = {
    domainStrategy: 'AsIs',
    rules: [{ protocol: ['bittorrent'], outboundTag: 'block' }],
  }
  // A core whose ports clash serves nobody.
  const taken = new Set(nodes.map((node) => node.port))
  const inbounds = nodes.flatMap((node) => [
    ...realityInbounds(node, targetOf(node)),
    ...wsInbounds(node, taken),
  ])
  return [
    '{"log":{"loglevel":"warning","access":"none"},',
    '"api":{"tag":"api","listen":"@api@","services":["HandlerService","StatsService"]},',
    '"stats":{},',
    `"policy":${JSON.stringify(policy)},`,
    '"inbounds":[',
    inbounds.join(',\n'),
    '],',
    `"outbounds":${JSON.stringify(outbounds)},`,
    `"routing":${JSON.stringify(routing)}}`,
    '',
  ].join('\n')
}
