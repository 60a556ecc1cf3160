/** What a core must run, without its clients: the text that the node program fills in (docs/node-program.md). */
import type { Node } from '#db/schema.ts'

/** Where an unauthenticated REALITY visitor is sent: `host:port`. */
export type TargetOf = (node: Node) => string

/**
 * What a core would refuse of a local node, naming the field; null when it takes all. It refuses a whole configuration for one
 * inbound that it can't read.
 */
export function coreRefusal({ shortId, flow }: Pick<Node, 'shortId' | 'flow'>): string | null {
  if (!/^(?:[0-9a-f]{2}){0,8}$/i.test(shortId)) {
    return 'short_id must be up to 16 hex digits, an even number, on a local node'
  }
  return ['', 'xtls-rprx-vision'].includes(flow)
    ? null
    : 'flow must be empty or xtls-rprx-vision on a local node'
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

/**
 * One VLESS + REALITY inbound. `minClientVer` 1.0.0, because without it a core of 26.7 turns sing-box and mihomo
 * away (XTLS/Xray-core#6482). The tag and the port stand on lines of their own for the node program.
 */
function realityInbound(node: Node, target: string): string {
  const reality = {
    target,
    xver: 0,
    serverNames: [node.sni],
    privateKey: node.privateKey,
    shortIds: [node.shortId],
    minClientVer: '1.0.0',
  }
  return [
    '{',
    `"tag":${JSON.stringify(`${node.code}.reality`)},`,
    `"port":${node.port},`,
    '"protocol":"vless","settings":{"decryption":"none","clients":[',
    node.flow === '' ? `@clients ${node.code}@` : `@clients ${node.code} ${node.flow}@`,
    ']},',
    `"streamSettings":{"network":"tcp","security":"reality","realitySettings":${JSON.stringify(reality)}},`,
    '"sniffing":{"enabled":true,"destOverride":["http","tls","quic"],"routeOnly":true}',
    '}',
  ].join('\n')
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
  const inbounds = nodes.map((node) => realityInbound(node, targetOf(node)))
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
