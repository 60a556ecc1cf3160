/** What a core serves, without its clients: its inbounds, and the parameters that say them to the node program (docs/node-program.md). */

import type { Node } from '#db/schema/index.ts'
import type { ApiError } from '#src/lib/errors.ts'
import { fieldRefusal } from '#src/refusals/index.ts'
import { hysteriaOf, TAKEN_PORT } from './hysteria-config.ts'
import { fits, type Parameter, parameter } from './parameters.ts'
import type { SoundNode } from './sound.ts'

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
}: Pick<Node, 'kind' | 'shortId' | 'flow'>): ApiError | null {
  if (!fits('short-id', shortId)) {
    return fieldRefusal('short_id', 'not-a-short-id', { kind })
  }
  return flow === '' || fits('flow', flow) ? null : fieldRefusal('flow', 'not-a-flow', { kind })
}

/** Whether all that is told of a node's core fits its grammar. The target is the setting's, or made of the SNI. */
function isServable(node: Node): boolean {
  const taken = hysteriaOf(node) === null ? null : TAKEN_PORT
  return (
    coreRefusal(node) === null &&
    fits('inbound', `${node.code}.reality`) &&
    fits('port', node.port) &&
    node.port !== taken &&
    fits('private-key', node.privateKey) &&
    fits('server-name', node.sni) &&
    fits('target', `${node.sni}:443`) &&
    node.transportsJson.every(
      ({ type, port, path = '', service_name: name }) =>
        fits('port', port) &&
        fits('path', withSlash(path)) &&
        (name === undefined || fits('service-name', name)) &&
        (type !== 'ws' || port !== taken),
    )
  )
}

/** Nodes of one core that can be served together: a port belongs to the first node in display order that can be. */
export function servedNodes<N extends Node>(nodes: N[]): { served: N[]; conflicts: N[] } {
  const ports = new Set<number>()
  const served: N[] = []
  const conflicts: N[] = []
  for (const node of nodes) {
    if (!isServable(node) || ports.has(node.port)) conflicts.push(node)
    else {
      ports.add(node.port)
      served.push(node)
    }
  }
  return { served, conflicts }
}

/** One VLESS inbound, which holds the clients of its `group`. */
export type Inbound = { tag: string; group: string } & (
  | {
      kind: 'reality'
      port: number
      flow: string
      target: string
      serverName: string
      privateKey: string
      shortId: string
      /** The inbound behind this one's port, to whose socket it hands who is let in and does not speak VLESS. */
      fallback: string | null
    }
  /** Both on an abstract socket of their tag's name: no file that a killed core leaves behind. */
  | { kind: 'xhttp'; path: string }
  | { kind: 'grpc'; serviceName: string }
  /** Behind TLS with the certificate that the install script has made. */
  | { kind: 'ws'; port: number; path: string }
)

const withSlash = (path: string) => `/${path.replace(/^\/+/, '')}`

/** XHTTP or gRPC behind the port of REALITY; null where the node has neither. */
function behindReality({ code, transportsJson }: SoundNode): Inbound | null {
  for (const { type, path, service_name } of transportsJson) {
    const own = { tag: `${code}.${type}`, group: code }
    if (type === 'xhttp' && path !== undefined) {
      return { kind: type, ...own, path: withSlash(path) }
    }
    if (type === 'grpc' && service_name !== undefined) {
      return { kind: type, ...own, serviceName: service_name }
    }
  }
  return null
}

/** REALITY, with what is behind its port. */
function realityInbounds(node: SoundNode, target: string): Inbound[] {
  const behind = behindReality(node)
  const reality: Inbound = {
    kind: 'reality',
    tag: `${node.code}.reality`,
    group: node.code,
    port: node.port,
    flow: node.flow,
    target,
    serverName: node.sni,
    privateKey: node.privateKey,
    shortId: node.shortId,
    fallback: behind?.tag ?? null,
  }
  return behind ? [reality, behind] : [reality]
}

function wsInbounds(node: SoundNode, taken: Set<number>): Inbound[] {
  const ws = node.transportsJson.find(({ type }) => type === 'ws')
  if (!ws || node.kind !== 'managed' || taken.has(ws.port)) return []
  taken.add(ws.port)
  const { code } = node
  const path = withSlash(ws.path ?? '')
  return [{ kind: 'ws', tag: `${code}.ws`, group: code, port: ws.port, path }]
}

/** The inbounds of the nodes of one core. */
export function coreInbounds(nodes: SoundNode[], targetOf: TargetOf): Inbound[] {
  // A core whose ports clash serves nobody.
  const taken = new Set(nodes.map((node) => node.port))
  return nodes.flatMap((node) => [
    ...realityInbounds(node, targetOf(node)),
    ...wsInbounds(node, taken),
  ])
}

type Line = [key: Parameter, value: string | number]

/** What an inbound is, in the order of the grammar. */
function linesOf(inbound: Inbound): Line[] {
  const { tag, group } = inbound
  const head: Line[] = [
    ['inbound', tag],
    ['protocol', 'vless'],
  ]
  switch (inbound.kind) {
    case 'reality':
      return [
        ...head,
        ['port', inbound.port],
        ['group', group],
        ...(inbound.flow === '' ? [] : [['flow', inbound.flow] as Line]),
        ['network', 'raw'],
        ['security', 'reality'],
        ['target', inbound.target],
        ['server-name', inbound.serverName],
        ['private-key', inbound.privateKey],
        ['short-id', inbound.shortId],
        ...(inbound.fallback === null ? [] : [['fallback', inbound.fallback] as Line]),
      ]
    case 'xhttp':
    case 'grpc':
      return [
        ...head,
        ['socket', tag],
        ['group', group],
        ['network', inbound.kind],
        inbound.kind === 'xhttp' ? ['path', inbound.path] : ['service-name', inbound.serviceName],
        ['security', 'none'],
      ]
    case 'ws':
      return [
        ...head,
        ['port', inbound.port],
        ['group', group],
        ['network', 'ws'],
        ['path', inbound.path],
        ['security', 'tls'],
        ['certificate', 'node'],
        ['alpn', 'http/1.1'],
        ['min-version', '1.2'],
      ]
  }
}

/** The parameters of a core for the node program. Throws for a node that is not one of `servedNodes`. */
export function coreParameters(nodes: SoundNode[], targetOf: TargetOf): string {
  const lines = coreInbounds(nodes, targetOf).flatMap(linesOf)
  return `xray 2\n${lines.map((line) => parameter(...line)).join('')}`
}
