/** Reads a node's certificate: what the client apps pin that node by. */
import { sha256 } from '@noble/hashes/sha2.js'
import { fromBase64, hex } from '#src/lib/encoding.ts'

export interface PinnedCertificate {
  pem: string
  sha256: string
}

const PEM_BLOCK = /-----BEGIN CERTIFICATE-----([A-Za-z0-9+/=\s]+)-----END CERTIFICATE-----/

/**
 * The first certificate of a PEM text, as one clean block, with the hex SHA-256 of its DER.
 * Null when the text holds no whole certificate.
 */
export function readCertificate(text: string): PinnedCertificate | null {
  const base64 = PEM_BLOCK.exec(text)?.[1]?.replace(/\s+/g, '') ?? ''
  if (base64.length % 4 !== 0 || !/^[A-Za-z0-9+/]+={0,2}$/.test(base64)) return null
  const der = fromBase64(base64)
  if (!isOneSequence(der)) return null
  const lines = base64.match(/.{1,64}/g) ?? []
  return {
    pem: ['-----BEGIN CERTIFICATE-----', ...lines, '-----END CERTIFICATE-----'].join('\n'),
    sha256: hex(sha256(der)),
  }
}

/** X.690 8.1.3: a SEQUENCE whose length covers all that follows. A cut certificate fails here. */
function isOneSequence(der: Uint8Array): boolean {
  const first = der[1] ?? 0
  if (der[0] !== 0x30 || first < 0x80) return false
  const lengthBytes = first & 0x7f
  if (lengthBytes < 1 || lengthBytes > 3) return false
  let length = 0
  for (let i = 0; i < lengthBytes; i++) length = length * 256 + (der[2 + i] ?? 0)
  return der.length === 2 + lengthBytes + length
}
