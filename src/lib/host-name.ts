/** Where something is on the network: a name or an address. */
import { parseIp } from './ip.ts'

const LABEL = '[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?'
/** RFC 1123, section 2.1; the last label is not numeric, so that it can't be taken for an IPv4 address (RFC 3696, section 2). */
const HOST_NAME = new RegExp(`^(?=.{1,253}$)(?:${LABEL}\\.)*(?!\\d+$|0x[0-9a-f]*$)${LABEL}$`)

/** A DNS name in lower case, an international one as punycode; null when the text is none. */
export function hostNameOf(text: string): string | null {
  const name = text.toLowerCase().replace(/\.$/, '')
  if (HOST_NAME.test(name)) return name
  // Only letters beyond ASCII are left to the URL parser: it would also take "a b", "0x7f.1" and "%61".
  if (!/[^\0-\x7f]/.test(name) || /[\0-,/:-@[-`{-\x7f]/.test(name)) return null
  const ascii = URL.parse(`http://${name}`)?.hostname ?? ''
  return HOST_NAME.test(ascii) ? ascii : null
}

/** A host name as hostNameOf has it, or an IP address without brackets; null when the text is neither. */
export function addressOf(text: string): string | null {
  const bare = /^\[[0-9a-fA-F:.]+\]$/.test(text) ? text.slice(1, -1) : text
  if (parseIp(bare) !== null && !bare.includes('%')) return bare.toLowerCase()
  return bare === text ? hostNameOf(text) : null
}
