/** Text for clients that take it compressed. */
import { gzipSync } from 'node:zlib'
import type { BuiltFile } from '#src/web/built-files.ts'
import { apiHeaders } from '#src/web/csp.ts'
import type { Context } from './context.ts'

/** A name in a list of encodings, unless with a weight of nothing (RFC 9110, section 12.5.3). */
const named = (name: string) =>
  new RegExp(`(?:^|[\\s,])${name}(?!\\s*;\\s*q=0(?:\\.0*)?\\s*(?:,|$))(?=[\\s,;]|$)`, 'i')

const CODINGS = { br: named('br'), gzip: named('gzip') }

const takes = (c: Context, coding: keyof typeof CODINGS) =>
  CODINGS[coding].test(c.req.header('accept-encoding') ?? '')

export interface Encoded {
  body: string | Uint8Array<ArrayBuffer>
  headers: Record<string, string>
}

/**
 * A body as this client takes it, with the header that says how; the answer varies by Accept-Encoding. For pages that show a secret
 * too: nothing that a stranger may choose is repeated in them, so their length tells nothing of it (breachattack.com).
 */
export function encoded(c: Context, text: string): Encoded {
  if (!takes(c, 'gzip')) return { body: text, headers: {} }
  return {
    body: gzipSync(text) as Uint8Array<ArrayBuffer>,
    headers: { 'Content-Encoding': 'gzip' },
  }
}

/** The form of a file that a client takes, smallest first. */
function encodingOf(c: Context, file: BuiltFile): [body: BuiltFile['body'], coding?: string] {
  if (file.br && takes(c, 'br')) return [file.br, 'br']
  if (file.gzip && takes(c, 'gzip')) return [file.gzip, 'gzip']
  return [file.body]
}

/** Answers with a file of a build, which never changes under its name. */
export function builtFile(c: Context, file: BuiltFile): Response {
  const [body, coding] = encodingOf(c, file)
  return new Response(body, {
    headers: {
      ...apiHeaders,
      'Content-Type': file.type,
      'Cache-Control': 'public, max-age=31536000, immutable',
      Vary: 'Accept-Encoding',
      ...(coding && { 'Content-Encoding': coding }),
    },
  })
}
