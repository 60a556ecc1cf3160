/** The response headers that client apps read beside a connection list. */
import { base64, utf8 } from '#src/lib/encoding.ts'

/** Bytes, and Unix seconds; 0 means without limit, never. */
export interface UserInfo {
  upload: number
  download: number
  total: number
  expire: number
}

/** What a list answer says of its user. */
export interface OwnHeaders {
  userinfo: UserInfo
  /** A URL of printable ASCII. */
  webPageUrl: string
  announce?: string
  /** When traffic counts from 0 again, in Unix seconds. */
  refill?: number
}

/** What Happ shows of each; others show more. */
const TITLE_MAX_LENGTH = 25
const ANNOUNCE_MAX_LENGTH = 200

/** The headers that all lists have alike, ASCII only, whatever the brand is called. A support URL that is none is left out. */
export function sharedListHeaders(brandName: string, supportUrl: string): Record<string, string> {
  const title = oneLine(brandName)
  const headers: Record<string, string> = {
    'content-type': 'text/plain; charset=utf-8',
    'cache-control': 'private, no-store',
    'profile-title': `base64:${base64(utf8(cut(title, TITLE_MAX_LENGTH)))}`,
    'profile-update-interval': '12',
    'content-disposition': contentDisposition(title),
  }
  const url = asciiUrl(supportUrl)
  if (url) headers['support-url'] = url
  return headers
}

/**
 * Those that depend on the user. Hiddify drops the userinfo unless it has all four keys, and the import unless the interval
 * is whole hours.
 */
export function ownListHeaders({ userinfo, webPageUrl, announce, refill }: OwnHeaders) {
  const { upload, download, total, expire } = userinfo
  const headers: Record<string, string> = {
    'subscription-userinfo': `upload=${whole(upload)}; download=${whole(download)}; total=${whole(total)}; expire=${whole(expire)}`,
    'profile-web-page-url': webPageUrl,
  }
  if (announce) {
    headers.announce = `base64:${base64(utf8(cut(announce.trim(), ANNOUNCE_MAX_LENGTH)))}`
  }
  if (refill !== undefined) headers['subscription-refill-date'] = `${refill}`
  return headers
}

/** RFC 6266: a quoted ASCII name for those who read no `filename*` (Hiddify needs the quotes). */
function contentDisposition(title: string): string {
  const ascii = title.replace(/[^\x20-\x7e]|["\\%/;]/g, '').trim() || 'subscription'
  // RFC 5987 attr-char leaves out four characters that encodeURIComponent lets pass.
  const encoded = encodeURIComponent(title || 'subscription').replace(
    /['()*]/g,
    (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`,
  )
  return `attachment; filename="${ascii}"; filename*=UTF-8''${encoded}`
}

function oneLine(text: string): string {
  return text
    .toWellFormed()
    .replace(/[\p{Cc}\u2028\u2029]+/gu, ' ')
    .trim()
}

/** The first characters of a text, a character outside the BMP counted once and never split. */
function cut(text: string, maxLength: number): string {
  return text.length <= maxLength ? text : Array.from(text).slice(0, maxLength).join('').trimEnd()
}

function whole(value: number): number {
  return Number.isFinite(value) ? Math.max(0, Math.floor(value)) : 0
}

/** A URL in printable ASCII, or undefined when the text is none: the parser encodes the rest and drops line breaks. */
function asciiUrl(text: string): string | undefined {
  return URL.parse(text)?.href
}
