/** Share links, one per entry, and the list made of them. */
import type { GrpcEntry, Hysteria2Entry, ListEntry, RealityEntry, XhttpEntry } from './entries.ts'
import { XHTTP_EXTRA } from './xmux.ts'

const EXTRA = JSON.stringify(XHTTP_EXTRA)

/** The link of one entry, pure ASCII. */
export function shareLink(entry: ListEntry): string {
  let written = inbounds.get(entry.inbound)
  if (!written) {
    written = writeInbound(entry)
    inbounds.set(entry.inbound, written)
  }
  const id = entry.kind === 'hysteria2' ? entry.auth : entry.uuid
  return `${written.scheme}${encodeId(id)}${written.rest}${encodeName(entry.name)}`
}

/** Ids are UUIDs or base64url as a rule, which say the same encoded: the check costs a fifth of the encoding. */
const encodeId = (id: string): string => (/^[\w-]*$/.test(id) ? id : encode(id))

/** Names are made of labels of nodes and plans, so that users share them. */
const REMEMBERED_NAMES = 1000
const encodedNames = new Map<string, string>()

function encodeName(name: string): string {
  let encoded = encodedNames.get(name)
  if (encoded === undefined) {
    encoded = encode(name)
    if (encodedNames.size >= REMEMBERED_NAMES) encodedNames.clear()
    encodedNames.set(name, encoded)
  }
  return encoded
}

/** A link without the client's id and the entry's name, which alone differ between users. */
interface WrittenInbound {
  scheme: string
  /** From the `@` to the `#`. */
  rest: string
}

const inbounds = new WeakMap<object, WrittenInbound>()

/**
 * VLESS parameters: Xray-core discussion 716 (every value encoded, each key once); v2rayNG knows `tcp`, not `raw`, and cuts a
 * value at a raw `=`.
 */
function writeInbound(entry: ListEntry): WrittenInbound {
  switch (entry.kind) {
    case 'reality':
      return vless(entry, {
        encryption: 'none',
        flow: entry.flow,
        type: 'tcp',
        headerType: 'none',
        ...reality(entry),
      })
    case 'xhttp':
      return vless(entry, {
        encryption: 'none',
        type: 'xhttp',
        path: entry.path,
        host: entry.host,
        mode: 'auto',
        extra: EXTRA,
        ...(entry.security === 'tls' ? publicTls(entry) : reality(entry)),
      })
    case 'grpc':
      return vless(entry, {
        encryption: 'none',
        type: 'grpc',
        serviceName: entry.serviceName,
        mode: 'gun',
        ...reality(entry),
      })
    case 'ws':
      return vless(entry, {
        encryption: 'none',
        type: 'ws',
        security: 'tls',
        sni: entry.sni,
        host: entry.host,
        path: entry.path,
        fp: entry.fingerprint,
        alpn: 'http/1.1',
        pcs: entry.pin?.sha256 ?? '',
      })
    case 'hysteria2':
      return hysteria2(entry)
  }
}

/** All links, one per line. Empty without entries. */
export function linksBody(entries: ListEntry[]): string {
  return entries.map(shareLink).join('\n')
}

const publicTls = ({ sni, fingerprint }: XhttpEntry) => ({
  security: 'tls',
  sni,
  fp: fingerprint,
  alpn: 'h2',
})

function reality(
  entry: RealityEntry | GrpcEntry | Extract<XhttpEntry, { security: 'reality' }>,
): Record<string, string> {
  return {
    security: 'reality',
    sni: entry.sni,
    fp: entry.fingerprint,
    pbk: entry.publicKey,
    sid: entry.shortId,
    spx: '/',
  }
}

function vless(
  entry: Exclude<ListEntry, Hysteria2Entry>,
  parameters: Record<string, string>,
): WrittenInbound {
  return { scheme: 'vless://', rest: `@${authority(entry)}?${query(parameters)}#` }
}

/**
 * Hysteria URI scheme, v2.hysteria.network/docs/developers/URI-Scheme. `insecure` and the pin go
 * together: with both the official client enforces the pin, with the pin alone it asks a public CA. Of several ports it reads those behind
 * the host, where others take none: `mport` is what apps have in their place, and it goes on with the one port.
 */
function hysteria2(entry: Hysteria2Entry): WrittenInbound {
  const parameters = {
    sni: entry.sni,
    insecure: '1',
    pinSHA256: entry.certSha256,
    obfs: entry.obfsPassword ? 'salamander' : '',
    'obfs-password': entry.obfsPassword ?? '',
    mport: entry.hop ?? '',
  }
  return { scheme: 'hysteria2://', rest: `@${authority(entry)}/?${query(parameters)}#` }
}

function authority({ address, port }: ListEntry): string {
  return /^[0-9a-f.]*:[0-9a-f:.]*$/i.test(address)
    ? `[${address}]:${port}`
    : `${encode(address)}:${port}`
}

function query(parameters: Record<string, string>): string {
  const pairs: string[] = []
  for (const [key, value] of Object.entries(parameters)) {
    if (value !== '') pairs.push(`${key}=${encode(value)}`)
  }
  return pairs.join('&')
}

/** encodeURIComponent throws on a lone surrogate, which a stored text could hold. */
function encode(text: string): string {
  return encodeURIComponent(text.toWellFormed())
}
