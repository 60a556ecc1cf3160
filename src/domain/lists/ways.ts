/** The ways into a node that a list names: those of its hosts, and its own where a transport has none. */

import type { NodeHost } from '#db/schema/index.ts'
import type { Transport } from '#db/transport.ts'
import type { Sound, SoundNode } from '#src/domain/nodes/sound.ts'

/** What a node offers. */
export interface Offer extends Omit<Transport, 'type'> {
  type: NodeHost['transport']
}

/** Where a client connects, and what it says there. */
export interface Way {
  address: string
  port: number
  sni: string
  /** Empty: the server name. */
  host: string
  path: string
  fingerprint: string
  /** Whether somebody else's TLS with a public certificate is before the node, as that of a CDN. */
  isPublic: boolean
  /** Whether address and port are the node's own. */
  isOwn: boolean
}

interface WayInto {
  offer: Offer
  way: Way
  /** The row that says it; null for the node's own. */
  host: Sound<NodeHost> | null
}

/** All that a node offers, REALITY first. */
export const offersOf = (node: Pick<SoundNode, 'port' | 'transportsJson'>): Offer[] => [
  { type: 'reality', port: node.port },
  ...node.transportsJson,
]

/**
 * Hosts come in their order; a transport without any stays where it is, before the hosts of those behind it. Hosts of a transport
 * that the node does not have are passed over.
 */
export function waysInto(
  node: SoundNode,
  hosts: readonly Sound<NodeHost>[] | undefined = [],
): WayInto[] {
  const offers = offersOf(node)
  const own = offers.filter(({ type }) => hosts.every(({ transport }) => transport !== type))
  const ways: WayInto[] = []
  const addOwn = (until: number) => {
    while (own[0] && offers.indexOf(own[0]) < until) {
      const [offer] = own.splice(0, 1) as [Offer]
      ways.push({ offer, way: wayOf(node, offer, null), host: null })
    }
  }
  for (const host of hosts) {
    const at = offers.findIndex(({ type }) => type === host.transport)
    const offer = offers[at]
    if (!offer) continue
    addOwn(at)
    ways.push({ offer, way: wayOf(node, offer, host), host })
  }
  addOwn(offers.length)
  return ways
}

function wayOf(node: SoundNode, offer: Offer, host: Sound<NodeHost> | null): Way {
  const isWeb = offer.type === 'ws' || offer.type === 'xhttp'
  // XHTTP and gRPC are behind REALITY's port.
  const port = offer.type === 'xhttp' || offer.type === 'grpc' ? node.port : offer.port
  return {
    address: hostName(host?.address ?? node.address),
    port: host?.port ?? port,
    sni: hostName(host?.sni || node.sni),
    host: hostName(host?.host ?? ''),
    path: `/${(host?.path || offer.path || '').replace(/^\/+/, '')}`,
    fingerprint: host?.fingerprint || 'chrome',
    isPublic: isWeb && Boolean(host?.sni),
    isOwn: (host?.address ?? node.address) === node.address && (host?.port ?? port) === port,
  }
}

/** A host as links and configs want it: IPv6 without brackets, an international name as punycode. */
function hostName(text: string): string {
  const host = text.trim().replace(/^\[(.*)\]$/, '$1')
  if (/^[A-Za-z0-9.-]*$/.test(host) || /[/?#@\\\s%]/.test(host)) return host
  const authority = host.includes(':') ? `[${host}]` : host
  return URL.parse(`http://${authority}`)?.hostname.replace(/^\[(.*)\]$/, '$1') ?? host
}
