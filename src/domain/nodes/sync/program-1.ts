/**
 * What a node program of the number 1 is told: whole configurations, in which it fills in clients and paths of its own
 * (docs/nodes.md, "The node program of a server"). Nodes run it until their install command is run again; when none does any
 * more, this file goes.
 */
import {
  coreInbounds,
  coreParameters,
  type Inbound,
  type TargetOf,
} from '#src/domain/nodes/core-config.ts'
import { hysteriaOf, hysteriaParameters } from '#src/domain/nodes/hysteria-config.ts'
import type { SoundNode } from '#src/domain/nodes/sound.ts'

const SNIFFING = { enabled: true, destOverride: ['http', 'tls', 'quic'], routeOnly: true }

/** Where the install script puts a node's certificate. */
const CERTIFICATE_FILES = {
  certificateFile: '@dir@/tls/node.crt',
  keyFile: '@dir@/tls/node.key',
}

/**
 * `minClientVer` 1.0.0, because without it a core of 26.7 turns sing-box and mihomo away (XTLS/Xray-core#6482). xver: the PROXY
 * protocol tells the inbound behind the port the client's address, by which connections are cut.
 */
function streamOf(inbound: Inbound): object {
  switch (inbound.kind) {
    case 'reality': {
      const { target, serverName, privateKey, shortId } = inbound
      const realitySettings = {
        target,
        xver: 0,
        serverNames: [serverName],
        privateKey,
        shortIds: [shortId],
        minClientVer: '1.0.0',
      }
      return { network: 'tcp', security: 'reality', realitySettings }
    }
    case 'xhttp':
      return {
        network: 'xhttp',
        xhttpSettings: { path: inbound.path },
        sockopt: { acceptProxyProtocol: true },
      }
    case 'grpc':
      return {
        network: 'grpc',
        grpcSettings: { serviceName: inbound.serviceName },
        sockopt: { acceptProxyProtocol: true },
      }
    case 'ws':
      return {
        network: 'ws',
        security: 'tls',
        tlsSettings: { alpn: ['http/1.1'], minVersion: '1.2', certificates: [CERTIFICATE_FILES] },
        wsSettings: { path: inbound.path },
      }
  }
}

const socketOf = (tag: string) => `@subpanel.${tag}`

/** One inbound. Tag, port and clients stand on lines of their own for the node program. */
function renderInbound(inbound: Inbound): string {
  const { tag, group, kind } = inbound
  const at = 'port' in inbound ? { port: inbound.port } : { listen: socketOf(tag) }
  const flow = kind === 'reality' ? inbound.flow : ''
  const fallback = kind === 'reality' ? inbound.fallback : null
  const fallbacks = [{ dest: socketOf(fallback ?? ''), xver: 2 }]
  return [
    '{',
    `"tag":${JSON.stringify(tag)},`,
    `${JSON.stringify(at).slice(1, -1)},`,
    '"protocol":"vless","settings":{"decryption":"none","clients":[',
    flow === '' ? `@clients ${group}@` : `@clients ${group} ${flow}@`,
    `]${fallback === null ? '' : `,"fallbacks":${JSON.stringify(fallbacks)}`}},`,
    `"streamSettings":${JSON.stringify(streamOf(inbound))},`,
    `"sniffing":${JSON.stringify(SNIFFING)}`,
    '}',
  ].join('\n')
}

/**
 * The configuration of a core: api on a unix socket, traffic and online counters per client, mail ports blocked. Private
 * addresses are blocked by the freedom outbound itself (Xray v26.5.3). Throws for what the parameters of program 2 would not hold.
 */
export function coreConfig(nodes: SoundNode[], targetOf: TargetOf): string {
  coreParameters(nodes, targetOf)
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
  return [
    '{"log":{"loglevel":"warning","access":"none"},',
    '"api":{"tag":"api","listen":"@api@","services":["HandlerService","StatsService"]},',
    '"stats":{},',
    `"policy":${JSON.stringify(policy)},`,
    '"inbounds":[',
    coreInbounds(nodes, targetOf).map(renderInbound).join(',\n'),
    '],',
    `"outbounds":${JSON.stringify(outbounds)},`,
    `"routing":${JSON.stringify(routing)}}`,
    '',
  ].join('\n')
}

/**
 * What clients must not reach through a node: the machine itself and its networks. Hysteria blocks nothing by itself, unlike
 * Xray's freedom outbound; a name is matched by what it resolves to. Mail as in Xray's config. ::ffff:0:0/96 must not be here: Go
 * takes it for all of IPv4, and mapped addresses for IPv4 ones.
 */
const BLOCKED = [
  ...['0.0.0.0/8', '10.0.0.0/8', '100.64.0.0/10', '127.0.0.0/8', '169.254.0.0/16', '172.16.0.0/12'],
  ...['192.0.0.0/24', '192.168.0.0/16', '198.18.0.0/15', '224.0.0.0/4', '240.0.0.0/4'],
  ...['::/127', '64:ff9b::/96', '64:ff9b:1::/48', 'fc00::/7', 'fe80::/10'],
  'ff00::/8',
  ...['all, tcp/25', 'all, tcp/465', 'all, tcp/587'],
]

/** For a server without obfs, which strangers see as HTTP/3. */
const MASQUERADE = 'masquerade: {type: string, string: {content: "Not Found", statusCode: 404}}'

/**
 * The configuration of Hysteria 2.12 on a node (v2.hysteria.network/docs/advanced/Full-Server-Config); empty where there is none.
 * YAML whose texts are JSON strings. Throws for what the parameters of program 2 would not hold.
 */
export function hysteriaConfig(node: SoundNode): string {
  const hysteria = hysteriaOf(node)
  if (hysteriaParameters(node) === '' || !hysteria) return ''
  const text = JSON.stringify
  const { certificateFile, keyFile } = CERTIFICATE_FILES
  const { port, obfs } = hysteria
  const lines = [
    `listen: ":${port}"`,
    // Clients pin the certificate; the name that they send may be any.
    `tls: {cert: ${text(certificateFile)}, key: ${text(keyFile)}, sniGuard: disable}`,
    obfs ? `obfs: {type: salamander, salamander: {password: ${text(obfs)}}}` : MASQUERADE,
    'auth: {type: command, command: "@auth@"}',
    'trafficStats: {listen: "@api@", secret: "@secret@"}',
    'acl:',
    '  inline:',
    ...BLOCKED.map((what) => `    - ${text(`reject(${what})`)}`),
    '    - "direct(all)"',
  ]
  return `${lines.join('\n')}\n`
}
