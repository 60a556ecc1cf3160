/** Turns a user's active subscriptions into the entries of a connection list, free of any format. */

import type { Transport } from '#db/transport.ts'
import { readCertificate } from '#src/domain/nodes/certificates.ts'
import { hysteriaAuth } from '#src/domain/nodes/hysteria-auth.ts'
import type { Sound, SoundNode } from '#src/domain/nodes/sound.ts'

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
  flow: string
  publicKey: string
  shortId: string
  coreVersion: string | null
}

/** XHTTP behind the REALITY port of the same node. */
export type XhttpEntry = EntryBase & {
  kind: 'xhttp'
  uuid: string
  publicKey: string
  shortId: string
  path: string
}

/** gRPC behind the REALITY port of the same node. */
export type GrpcEntry = EntryBase & {
  kind: 'grpc'
  uuid: string
  publicKey: string
  shortId: string
  coreVersion: string | null
  serviceName: string
}

export type WsEntry = EntryBase & {
  kind: 'ws'
  uuid: string
  path: string
  certPem: string
  certSha256: string
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
 * The entries of all sources, in their order, REALITY first within each. Names are unique.
 * A transport whose certificate is not known (or is none) is left out.
 */
export function listEntries(sources: ListSource[]): ListEntry[] {
  const occurrences = new Map<string, number>()
  for (const { node } of sources) {
    occurrences.set(node.code, (occurrences.get(node.code) ?? 0) + 1)
  }
  const unique = uniqueNames()
  const entries: ListEntry[] = []
  for (const { uuid, planLabel, node } of sources) {
    const { label, inbounds } = inboundsOf(node)
    const plan = (occurrences.get(node.code) ?? 0) > 1 ? printable(planLabel) : ''
    const own = { name: unique(plan === '' ? label : `${label} · ${plan}`), uuid }
    for (const inbound of inbounds) entries.push(inbound(own, unique))
  }
  return entries
}

interface Own {
  name: string
  uuid: string
}

interface NodeInbounds {
  label: string
  /** One writer of entries for each inbound, REALITY first. */
  inbounds: ((own: Own, unique: (wanted: string) => string) => ListEntry)[]
}

const known = new WeakMap<SoundNode, NodeInbounds>()

/** What the entries of a node have in common, worked out once for each node object. */
function inboundsOf(node: SoundNode): NodeInbounds {
  let found = known.get(node)
  if (!found) {
    const shared = { address: hostName(node.address), port: node.port, sni: hostName(node.sni) }
    const label = printable(node.label) || node.code
    found = {
      label,
      inbounds: [
        realityInbound(node, shared),
        ...node.transportsJson.flatMap(
          (transport) => transportInbound(node, transport, { shared, label }) ?? [],
        ),
      ],
    }
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

type Shared = Omit<EntryBase, 'name' | 'inbound'>

const made = (inbound: object) => inbound as Made
type Inbound = NodeInbounds['inbounds'][number]

function realityInbound(node: SoundNode, shared: Shared): Inbound {
  const { flow, publicKey, shortId, coreVersion, sharedUuid } = node
  const inbound = { kind: 'reality', ...shared, flow, publicKey, shortId, coreVersion } as const
  return ({ name, uuid }) => ({
    ...inbound,
    inbound: made(inbound),
    name,
    uuid: sharedUuid || uuid,
  })
}

/** Gives names a suffix. That of the label is the same object each time: the lookups of a name then take half as long. */
function suffixed(label: string, suffix: string): (name: string) => string {
  const own = label + suffix
  return (name) => (name === label ? own : name + suffix)
}

function transportInbound(
  node: SoundNode,
  transport: Transport,
  { shared, label }: { shared: Shared; label: string },
): Inbound | null {
  const { publicKey, shortId, coreVersion, sharedUuid, hysteriaPassword } = node
  const named = suffixed(label, SUFFIX[transport.type])
  const path = `/${(transport.path ?? '').replace(/^\/+/, '')}`
  if (transport.type === 'xhttp') {
    const inbound = { kind: 'xhttp', ...shared, publicKey, shortId, path } as const
    return ({ name, uuid }, unique) => ({
      ...inbound,
      inbound: made(inbound),
      name: unique(named(name)),
      uuid: sharedUuid || uuid,
    })
  }
  if (transport.type === 'grpc') {
    const serviceName = transport.service_name
    if (serviceName === undefined) return null
    const behind = { publicKey, shortId, coreVersion, serviceName }
    const inbound = { kind: 'grpc', ...shared, ...behind } as const
    return ({ name, uuid }, unique) => ({
      ...inbound,
      inbound: made(inbound),
      name: unique(named(name)),
      uuid: sharedUuid || uuid,
    })
  }
  const cert = readCertificate(transport.cert ?? '')
  if (!cert) return null
  const pinned = { ...shared, port: transport.port, certPem: cert.pem, certSha256: cert.sha256 }
  if (transport.type === 'ws') {
    const inbound = { kind: 'ws', ...pinned, path } as const
    return ({ name, uuid }, unique) => ({
      ...inbound,
      inbound: made(inbound),
      name: unique(named(name)),
      uuid: sharedUuid || uuid,
    })
  }
  if (!hysteriaPassword) return null
  const obfsPassword = node.hysteriaObfsPassword
  const hop = node.hysteriaHopping ? node.hysteriaHop : null
  const inbound = { kind: 'hysteria2', ...pinned, obfsPassword, hop } as const
  return ({ name, uuid }, unique) => ({
    ...inbound,
    inbound: made(inbound),
    name: unique(named(name)),
    auth: hysteriaAuth(hysteriaPassword, uuid),
  })
}

function printable(text: string): string {
  return text.toWellFormed().replace(UNPRINTABLE, ' ').trim()
}

/** A function that returns each wanted name, numbered when it was given away already. */
function uniqueNames(): (wanted: string) => string {
  const taken = new Set<string>()
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

/** A host as links and configs want it: IPv6 without brackets, an international name as punycode. */
function hostName(text: string): string {
  const host = text.trim().replace(/^\[(.*)\]$/, '$1')
  if (/^[A-Za-z0-9.-]*$/.test(host) || /[/?#@\\\s%]/.test(host)) return host
  const authority = host.includes(':') ? `[${host}]` : host
  return URL.parse(`http://${authority}`)?.hostname.replace(/^\[(.*)\]$/, '$1') ?? host
}
