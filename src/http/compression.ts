/** Text for clients that take it compressed. */
import { gzipSync } from 'node:zlib'
import type { Context } from './context.ts'

/** `gzip` in a list of encodings, unless with a weight of nothing (RFC 9110, section 12.5.3). */
const GZIP = /(?:^|[\s,])gzip(?!\s*;\s*q=0(?:\.0*)?\s*(?:,|$))(?=[\s,;]|$)/i

export interface Encoded {
  body: string | Uint8Array<ArrayBuffer>
  headers: Record<string, string>
}

/**
 * A body as this client takes it, with the header that says how; the answer varies by Accept-Encoding. For pages that show a secret
 * too: nothing that a stranger may choose is repeated in them, so their length tells nothing of it (breachattack.com).
 */
export function encoded(c: Context, text: string): Encoded {
  if (!GZIP.test(c.req.header('accept-encoding') ?? '')) return { body: text, headers: {} }
  return {
    body: gzipSync(text) as Uint8Array<ArrayBuffer>,
    headers: { 'Content-Encoding': 'gzip' },
  }
}
