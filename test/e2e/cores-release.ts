/** Parts of a release as the projects publish them: archives, digest files, programs of another architecture. */
import { createHash } from 'node:crypto'
import { crc32, deflateRawSync } from 'node:zlib'

const MACHINE = { amd64: 62, arm64: 183 }

export const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex')

/** A zip archive as Info-ZIP writes it: a deflated or stored file, and a second one beside it. */
export function zip(files: [name: string, content: Uint8Array, stored?: boolean][]): Buffer {
  const parts: Buffer[] = []
  const directory: Buffer[] = []
  let offset = 0
  for (const [name, content, stored] of files) {
    const packed = stored ? content : deflateRawSync(content, { level: 1 })
    const sizes = Buffer.alloc(24)
    sizes.writeUInt16LE(20, 0)
    sizes.writeUInt16LE(stored ? 0 : 8, 4)
    sizes.writeUInt32LE(crc32(content), 10)
    sizes.writeUInt32LE(packed.length, 14)
    sizes.writeUInt32LE(content.length, 18)
    sizes.writeUInt16LE(name.length, 22)
    const local = Buffer.concat([
      Buffer.from('PK\x03\x04'),
      sizes,
      Buffer.alloc(2),
      Buffer.from(name),
    ])
    const central = Buffer.alloc(16)
    central.writeUInt32LE(offset, 12)
    directory.push(
      Buffer.concat([
        Buffer.from('PK\x01\x02\x14\x03'),
        sizes,
        Buffer.alloc(2),
        central.subarray(2),
      ]),
      Buffer.from(name),
    )
    parts.push(local, Buffer.from(packed))
    offset += local.length + packed.length
  }
  const central = Buffer.concat(directory)
  const end = Buffer.alloc(22)
  end.write('PK\x05\x06')
  end.writeUInt16LE(files.length, 8)
  end.writeUInt16LE(files.length, 10)
  end.writeUInt32LE(central.length, 12)
  end.writeUInt32LE(offset, 16)
  return Buffer.concat([...parts, central, end])
}

/** What `openssl dgst … | sed` writes beside an Xray release. */
export const dgst = (bytes: Uint8Array, digest = sha256(bytes)) =>
  Buffer.from(
    `MD5= ${'0'.repeat(32)}\nSHA1= ${'0'.repeat(40)}\nSHA2-256= ${digest}\nSHA2-512= 00\n`,
  )

/** The same program with another machine in its ELF header. */
export function forMachine(program: Buffer, arch: keyof typeof MACHINE): Buffer {
  const copy = Buffer.from(program)
  copy.writeUInt16LE(MACHINE[arch], 18)
  return copy
}
