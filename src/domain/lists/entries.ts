/** Turns a user's active subscriptions into the entries of a connection list, free of any format. */

import type { NodeHost } from '#db/schema/index.ts'
import { type PinnedCertificate, readCertificate } from '#src/domain/nodes/certificates.ts'
import { hysteriaAuth } from '#src/domain/nodes/hysteria-auth.ts'
import type { Sound, SoundNode } from '#src/domain/nodes/sound.ts'
import { type Offer, type Way, waysInto } from './ways.ts'

/** Of entries that were made here: what renders them takes no others. */
declare abstract class Made {
  private readonly made: true
}

interface EntryBase {
  name: string
  address: string
  port: number
  sni: string
  /** One object for all users' entries of an inbound: under it a format may keep what it wrote of the inbound. */
  inbound: Made
}

export type RealityEntry = EntryBase & {
  kind: 'reality'
  uuid: string
  /** Of the browser that the client passes for. */
  fingerprint: string
  flow: string
  coreVersion: string | null
} & RealityKeys

interface RealityKeys {
  publicKey: string
  shortId: string
}

/** XHTTP behind the REALITY port of the same node, or behind somebody's TLS with a public certificate. */
export type XhttpEntry = EntryBase & {
  kind: 'xhttp'
  uuid: string
  fingerprint: string
  path: string
  /** Empty: left to the client. */
  host: string
} & (({ security: 'reality' } & RealityKeys) | { security: 'tls' })

/** gRPC behind the REALITY port of the same node. */
export type GrpcEntry = EntryBase & {
  kind: 'grpc'
  uuid: string
  fingerprint: string
  coreVersion: string | null
  serviceName: string
} & RealityKeys

export type WsEntry = EntryBase & {
  kind: 'ws'
  uuid: string
  fingerprint: string
  path: string
  host: string
  /** The node's own certificate; null where the server has a public one. */
  pin: PinnedCertificate | null
}

export type Hysteria2Entry = EntryBase & {
  kind: 'hysteria2'
  auth: string
  obfsPassword: string | null
  /** Ports among which a client may hop, which lead to the one above: `20000-30000`. */
  hop: string | null
  certPem: string
  certSha256: string
}

export type ListEntry = RealityEntry | XhttpEntry | GrpcEntry | WsEntry | Hysteria2Entry

/** One active subscription with its node. */
export interface ListSource {
  uuid: Sound<string>
  planLabel: Sound<string>
  node: SoundNode
  /** What its entries lead to instead, in this order; the same array while it holds. */
  hosts?: readonly Sound<NodeHost>[] | undefined
}

const SUFFIX = { ws: ' · WS', xhttp: ' · XHTTP', grpc: ' · gRPC', hysteria2: ' · HY2' } as const

/** Names that mean something in a client's config: its built-in outbounds and the groups of ours. */
const RESERVED_NAMES = new Set([
  ...['DIRECT', 'REJECT', 'REJECT-DROP', 'PASS', 'PASS-RULE', 'COMPATIBLE', 'GLOBAL'],
  ...['Proxy', 'Auto', 'direct'],
])

/** Controls, line breaks and the characters that reorder the text around them. */
const UNPRINTABLE = /[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff\ufffe\uffff]+/gu

/**
 * The entries of all sources, in their order, REALITY first within each unless hosts have another order; of those that are for some
 * formats alone the ones of `format`, if it is given. Names are unique, and none of `taken`. A transport whose certificate is not known (or is none) is left out.
 */
export function listEntries(
  sources: ListSource[],
  format?: string,
  taken?: ReadonlySet<string>,
): ListEntry[] {
  const occurrences = new Map<string, number>()
  for (const { node } of sources) {
    occurrences.set(node.code, (occurrences.get(node.code) ?? 0) + 1)
  }
  const unique = uniqueNames(taken)
  const entries: ListEntry[] = []
  for (const { uuid, planLabel, node, hosts } of sources) {
    const { label, inbounds } = inboundsOf(node, hosts)
    const plan = (occurrences.get(node.code) ?? 0) > 1 ? printable(planLabel) : ''
    const wanted = withPlan(label, plan)
    // With hosts no entry need be called so.
    const own = { name: hosts ? wanted : unique(wanted), plan, uuid }
    for (const { formats, write } of inbounds) {
      const isLeftOut = formats !== null && format !== undefined && !formats.includes(format)
      if (!isLeftOut) entries.push(write(own, unique))
    }
  }
  return entries
}

const withPlan = (name: string, plan: string) => (plan === '' ? name : `${name} · ${plan}`)

interface Own {
  /** What the node is called. */
  name: string
  /** Of several subscriptions on the node. */
  plan: string
  uuid: string
}

type Unique = (wanted: string) => string
type Naming = (own: Own, unique: Unique) => string
type Writer = (own: Own, unique: Unique) => ListEntry

interface NodeInbounds {
  label: string
  hosts: ListSource['hosts']
  /** One writer of entries for each way into the node. */
  inbounds: { formats: readonly string[] | null; write: Writer }[]
}

const known = new WeakMap<SoundNode, NodeInbounds>()

/** What the entries of a node have in common, worked out once for each node object with its hosts. */
function inboundsOf(node: SoundNode, hosts: ListSource['hosts']): NodeInbounds {
  let found = known.get(node)
  if (!found || found.hosts !== hosts) {
    const label = printable(node.label) || node.code
    const inbounds = waysInto(node, hosts).flatMap(({ offer, way, host }) => {
      const write = writerOf(node, offer, way, namingOf(label, offer, host, hosts === undefined))
      const formats = host && host.formats.length > 0 ? host.formats : null
      return write ? [{ formats, write }] : []
    })
    found = { label, hosts, inbounds }
    known.set(node, found)
  }
  return found
}

/**
 * True for a node whose Xray refuses every REALITY ClientHello without an X25519MLKEM768 share:
 * 26.9.8 and later (3x-ui issue 6568, sing-box issue 4520).
 */
export function wantsHybridKeyShare(coreVersion: string | null): boolean {
  const match = /^v?(\d+)\.(\d+)\.(\d+)/.exec(coreVersion ?? '')
  if (!match) return false
  const [major = 0, minor = 0, patch = 0] = match.slice(1).map(Number)
  return (major * 1000 + minor) * 1000 + patch >= 26_009_008
}

const made = (inbound: object) => inbound as Made

/** Two that lead nowhere, for whoever looks at what is written around entries. */
export const SAMPLE_ENTRIES: readonly (RealityEntry | WsEntry)[] = [
  {
    kind: 'reality',
    name: 'Sample 1',
    address: '192.0.2.1',
    port: 443,
    sni: 'sample.invalid',
    inbound: made({}),
    uuid: '00000000-0000-4000-8000-000000000000',
    fingerprint: 'chrome',
    flow: 'xtls-rprx-vision',
    coreVersion: null,
    publicKey: 'jNXHt1yRo0vDuchQlIP6Z0ZvjT3KtzVI-T4E7RoLJS0',
    shortId: '00',
  },
  {
    kind: 'ws',
    name: 'Sample 2',
    address: '192.0.2.2',
    port: 443,
    sni: 'sample.invalid',
    inbound: made({}),
    uuid: '00000000-0000-4000-8000-000000000000',
    fingerprint: 'chrome',
    path: '/',
    host: 'sample.invalid',
    pin: null,
  },
]

/** Gives names a suffix. That of the label is the same object each time: the lookups of a name then take half as long. */
function suffixed(label: string, suffix: string): (name: string) => string {
  const own = label + suffix
  return (name) => (name === label ? own : name + suffix)
}

/** How entries are named: as their host says, else by the node and the transport. `alone`: the node has no hosts. */
function namingOf(label: string, { type }: Offer, host: NodeHost | null, alone: boolean): Naming {
  const given = printable(host?.label ?? '')
  if (given !== '') return ({ plan }, unique) => unique(withPlan(given, plan))
  if (type !== 'reality') {
    const named = suffixed(label, SUFFIX[type])
    return ({ name }, unique) => unique(named(name))
  }
  return alone ? ({ name }) => name : ({ name }, unique) => unique(name)
}

function writerOf(node: SoundNode, offer: Offer, way: Way, nameOf: Naming): Writer | null {
  if (offer.type === 'hysteria2') return hysteriaWriter(node, offer, way, nameOf)
  const inbound = vlessInbound(node, offer, way)
  if (!inbound) return null
  const { sharedUuid } = node
  return (own, unique) => ({
    ...inbound,
    inbound: made(inbound),
    name: nameOf(own, unique),
    uuid: sharedUuid || own.uuid,
  })
}

type Inbound<E> = E extends ListEntry ? Omit<E, 'name' | 'inbound' | 'uuid'> : never

function vlessInbound(
  { publicKey, shortId, flow, coreVersion }: SoundNode,
  { type, cert, service_name: serviceName }: Offer,
  { address, port, sni, host, path, fingerprint, isPublic }: Way,
): Inbound<RealityEntry | XhttpEntry | GrpcEntry | WsEntry> | null {
  const shared = { address, port, sni, fingerprint }
  if (type === 'reality') {
    return { kind: 'reality', ...shared, flow, publicKey, shortId, coreVersion }
  }
  if (type === 'xhttp') {
    const xhttp = { kind: 'xhttp', ...shared, path, host } as const
    if (isPublic) return { ...xhttp, host: host || sni, security: 'tls' }
    return { ...xhttp, security: 'reality', publicKey, shortId }
  }
  if (type === 'grpc') {
    if (serviceName === undefined) return null
    return { kind: 'grpc', ...shared, publicKey, shortId, coreVersion, serviceName }
  }
  const pin = isPublic ? null : readCertificate(cert ?? '')
  if (!pin && !isPublic) return null
  return { kind: 'ws', ...shared, path, host: host || sni, pin }
}

function hysteriaWriter(
  node: SoundNode,
  offer: Offer,
  { address, port, sni, isOwn }: Way,
  nameOf: Naming,
): Writer | null {
  const { hysteriaPassword, hysteriaObfsPassword: obfsPassword } = node
  const cert = readCertificate(offer.cert ?? '')
  if (!cert || !hysteriaPassword) return null
  // The range is redirected on the node itself.
  const hop = isOwn && node.hysteriaHopping ? node.hysteriaHop : null
  const pinned = { address, port, sni, certPem: cert.pem, certSha256: cert.sha256 }
  const inbound = { kind: 'hysteria2', ...pinned, obfsPassword, hop } as const
  return (own, unique) => ({
    ...inbound,
    inbound: made(inbound),
    name: nameOf(own, unique),
    auth: hysteriaAuth(hysteriaPassword, own.uuid),
  })
}

function printable(text: string): string {
  return text.toWellFormed().replace(UNPRINTABLE, ' ').trim()
}

/** A function that returns each wanted name, numbered when it was given away already. */
function uniqueNames(others?: ReadonlySet<string>): (wanted: string) => string {
  const taken = new Set(others)
  const numbers = new Map<string, number>()
  return (wanted) => {
    if (!taken.has(wanted) && !RESERVED_NAMES.has(wanted)) {
      taken.add(wanted)
      return wanted
    }
    let name = wanted
    let number = numbers.get(wanted) ?? 1
    while (taken.has(name) || RESERVED_NAMES.has(name)) name = `${wanted} ${++number}`
    numbers.set(wanted, number)
    taken.add(name)
    return name
  }
}
