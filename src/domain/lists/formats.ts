/** A user's connection list in the format their client reads, with the entries that client can use. */
import { type ListEntry, wantsHybridKeyShare, type XhttpEntry } from './entries.ts'
import { type MihomoEntry, mihomoList } from './mihomo.ts'
import type { Routing } from './routing.ts'
import { linksBody } from './share-links.ts'
import { singboxList } from './singbox.ts'
import type { Template } from './template.ts'
import { xrayArray, xrayList } from './xray.ts'

/** Those that a request may name. */
export const LIST_FORMATS = ['base64', 'links', 'mihomo', 'singbox', 'xray'] as const
/** `xray-array`: as apps get it whom XRAY_JSON_AGENTS names. */
export type ListFormat = (typeof LIST_FORMATS)[number] | 'xray-array'

export interface ListOptions {
  brandName: string
  /** The core version of a sing-box client; null: unknown. */
  singboxVersion: string | null
  /** Whether links carry pinned WS, XHTTP and gRPC entries, which only clients built on Xray read right. */
  wsAndXhttp: boolean
  /** What the operator has in place of our own list. */
  template?: Template | undefined
  /** What it leaves direct beside private ranges; links leave that to the app. */
  routing?: Routing | null
}

/** Without servers all goes direct, and no rule file could be loaded. */
const routingFor = (entries: ListEntry[], { routing = null }: ListOptions) =>
  entries.length > 0 ? routing : null

/** By the operator's template, whose groups would be empty without servers. */
const ownList = (entries: MihomoEntry[], { template }: ListOptions) =>
  entries.length > 0 ? template?.write(entries) : undefined

/** The body of a list. Without usable entries: empty (base64, links) or a config without servers. */
export const renderList = (format: ListFormat, entries: ListEntry[], options: ListOptions) =>
  encodeList(format, writeList(format, entries, options))

/** A list as its format is sent. Links are ASCII, which btoa takes as it is. */
export const encodeList = (format: ListFormat, text: string): string =>
  format === 'base64' ? btoa(text) : text

/** A list before that. */
export function writeList(format: ListFormat, entries: ListEntry[], options: ListOptions): string {
  switch (format) {
    case 'base64':
    case 'links':
      return linksBody(linkEntries(entries, options))
    case 'mihomo': {
      const usable = mihomoEntries(entries)
      return ownList(usable, options) ?? mihomoList(usable, routingFor(usable, options))
    }
    case 'singbox': {
      const usable = singboxEntries(entries)
      return (
        ownList(usable, options) ??
        singboxList(usable, options.singboxVersion, routingFor(usable, options))
      )
    }
    case 'xray': {
      const usable = entries.filter(isLoadable)
      return xrayList(usable, options.brandName, routingFor(usable, options))
    }
    case 'xray-array':
      return xrayArray(entries.filter(isLoadable), options.routing)
  }
}

/** The entries that a list of the format has of these. */
export function usableEntries(
  format: ListFormat,
  entries: ListEntry[],
  options: Pick<ListOptions, 'wsAndXhttp'>,
): ListEntry[] {
  switch (format) {
    case 'base64':
    case 'links':
      return linkEntries(entries, options)
    case 'mihomo':
      return mihomoEntries(entries)
    case 'singbox':
      return singboxEntries(entries)
    case 'xray':
    case 'xray-array':
      return entries.filter(isLoadable)
  }
}

const mihomoEntries = (entries: ListEntry[]) => entries.filter(isLoadable).filter(isNotXhttp)

const singboxEntries = (entries: ListEntry[]) => mihomoEntries(entries).filter(isNotHybrid)

function linkEntries(
  entries: ListEntry[],
  { wsAndXhttp }: Pick<ListOptions, 'wsAndXhttp'>,
): ListEntry[] {
  return wsAndXhttp ? entries : entries.filter(isPlain)
}

/** Whether every client that takes links reads it right: pins are Xray's own, and so is how it writes XHTTP and gRPC. */
function isPlain(entry: ListEntry): boolean {
  return (
    entry.kind !== 'xhttp' && entry.kind !== 'grpc' && (entry.kind !== 'ws' || entry.pin === null)
  )
}

function isNotXhttp<Entry extends ListEntry>(entry: Entry): entry is Exclude<Entry, XhttpEntry> {
  return entry.kind !== 'xhttp'
}

/** sing-box takes ML-KEM out of its ClientHello, so a node that wants it never lets it in. */
function isNotHybrid(entry: ListEntry): boolean {
  return !('coreVersion' in entry && wantsHybridKeyShare(entry.coreVersion))
}

/**
 * False for an entry that a core refuses to parse: one such entry, say an external node with a
 * mistyped key, would make the whole config fail. In links it fails alone.
 */
function isLoadable(entry: ListEntry): boolean {
  if (entry.kind !== 'hysteria2' && !isClientId(entry.uuid)) return false
  if (!('publicKey' in entry)) return true
  return (
    /^[A-Za-z0-9_-]{43}$/.test(entry.publicKey) && /^(?:[0-9a-f]{2}){0,8}$/i.test(entry.shortId)
  )
}

/** Xray takes a UUID, or 1 to 30 bytes that it maps to one. */
function isClientId(id: string): boolean {
  return (
    /^[\x21-\x7e]{1,30}$/.test(id) || /^[0-9a-f]{8}(?:-?[0-9a-f]{4}){3}-?[0-9a-f]{12}$/i.test(id)
  )
}
