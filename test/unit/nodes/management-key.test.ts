import { expect, test } from 'vitest'
import { generateManagementKey } from '#src/integrations/nodes/management-key.ts'
import { fromBase64 } from '#src/lib/encoding.ts'

/** The fields of a line's key: each has its length before it (RFC 4251, section 5). */
function fieldsOf(line: string): Uint8Array[] {
  const blob = fromBase64(line.split(' ')[1] as string)
  const fields: Uint8Array[] = []
  for (let at = 0; at < blob.length; ) {
    const end = at + 4 + new DataView(blob.buffer, blob.byteOffset + at).getUint32(0)
    fields.push(blob.subarray(at + 4, end))
    at = end
  }
  return fields
}

test('every pair is one that sshd takes, those that begin with a zero included', async () => {
  const { default: ssh2 } = await import('ssh2')
  // Without the check each 256th is cut: all of these would be whole once in 100,000 runs.
  for (let i = 0; i < 3000; i++) {
    const { privateKey, publicKey } = await generateManagementKey()
    const [type, key] = fieldsOf(publicKey)
    expect([String(type && Buffer.from(type)), key?.length]).toEqual(['ssh-ed25519', 32])
    const pair = ssh2.utils.parseKey(privateKey)
    if (pair instanceof Error) throw pair
    expect(`ssh-ed25519 ${pair.getPublicSSH().toString('base64')} subpanel`).toBe(publicKey)
  }
})
