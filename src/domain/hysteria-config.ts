/** What Hysteria beside a core must run: the text that the node program fills in (docs/node-program.md). */
import type { Node } from '#db/schema.ts'
import { CERTIFICATE_FILES } from './core-config.ts'

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

/** The Hysteria2 transport of a node, null where it has none. The certificate is made by the install script. */
function hysteriaTransport(node: Node) {
  if (node.kind !== 'managed' || !node.hysteriaPassword) return null
  return node.transportsJson.find(({ type }) => type === 'hysteria2') ?? null
}

/** Whether the clients of a node have Hysteria2 passwords. */
export const hasHysteria = (node: Node): boolean => hysteriaTransport(node) !== null

/**
 * The configuration of Hysteria 2.12 on a node (v2.hysteria.network/docs/advanced/Full-Server-Config); null where there is none.
 * YAML whose texts are JSON strings.
 */
export function hysteriaConfig(node: Node): string | null {
  const transport = hysteriaTransport(node)
  if (!transport) return null
  const text = JSON.stringify
  const { certificateFile, keyFile } = CERTIFICATE_FILES
  const obfs = node.hysteriaObfsPassword
  const lines = [
    `listen: ":${transport.port}"`,
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

/** For a server without obfs, which strangers see as HTTP/3. */
const MASQUERADE = 'masquerade: {type: string, string: {content: "Not Found", statusCode: 404}}'
