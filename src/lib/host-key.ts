/** SSH public keys as OpenSSH writes them: `type base64`, one a line. */
import { sha256 } from '@noble/hashes/sha2.js'
import { base64, fromBase64, fromUtf8 } from './encoding.ts'

/** `type base64` of a key as it is on the wire: its type is its first string (RFC 4253, section 6.6). */
export function hostKeyOf(blob: Uint8Array): string {
  return `${typeOf(blob) ?? ''} ${base64(blob)}`
}

function typeOf(blob: Uint8Array): string | undefined {
  if (blob.length < 4) return undefined
  const length = new DataView(blob.buffer, blob.byteOffset).getUint32(0)
  const type = fromUtf8(blob.subarray(4, 4 + Math.min(length, 100)))
  return /^[a-z0-9@.-]{1,64}$/.test(type) ? type : undefined
}

/** Whether the bytes are strings with their lengths before them, and nothing else (RFC 4251, section 5). */
function isWhole(blob: Uint8Array): boolean {
  const view = new DataView(blob.buffer, blob.byteOffset, blob.length)
  let at = 0
  while (at + 4 <= blob.length) at += 4 + view.getUint32(at)
  return at === blob.length
}

/** The key of a line `type base64 [comment]`, without its comment; null when it is none. */
export function parseHostKey(line: string): string | null {
  const [type, text = ''] = line.trim().split(/\s+/)
  if (!/^[A-Za-z0-9+/]{40,4000}={0,2}$/.test(text)) return null
  try {
    const blob = fromBase64(text)
    return typeOf(blob) === type && isWhole(blob) ? hostKeyOf(blob) : null
  } catch {
    return null
  }
}

/** Whether a line is an ed25519 key of all its 32 bytes (RFC 8709, section 4): the length before them is its last fixed part. */
export const isWholeEd25519 = (line: string): boolean =>
  line.startsWith('ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI') && parseHostKey(line) !== null

/** The keys of a node's `host_key`. */
export const splitHostKeys = (text: string | null): string[] =>
  (text ?? '').split('\n').filter((line) => line !== '')

/** `SHA256:…` as ssh-keygen -l shows it; `unreadable` for what is no key. */
export function fingerprintOf(line: string): string {
  const key = parseHostKey(line)
  if (key === null) return 'unreadable'
  const digest = sha256(fromBase64(key.slice(key.indexOf(' ') + 1)))
  return `SHA256:${base64(digest).replace(/=+$/, '')}`
}
