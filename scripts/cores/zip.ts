/** Reads one file out of a zip archive held in memory: stored or deflated, with size caps (PKWARE APPNOTE 6.3.10). */
import { crc32 } from 'node:zlib'

const END = 0x06054b50
const CENTRAL = 0x02014b50
const LOCAL = 0x04034b50
const ENCRYPTED = 0x1

interface Entry {
  method: number
  flags: number
  crc: number
  packedBytes: number
  sizeBytes: number
  offset: number
}

const damaged = (what: string) => new Error(`the zip archive is damaged or cut short (${what})`)

function findEnd(view: DataView): number {
  // The end record is 22 bytes and may be followed by a comment of at most 65,535.
  const lowest = Math.max(0, view.byteLength - 22 - 0xffff)
  for (let at = view.byteLength - 22; at >= lowest; at--) {
    if (view.getUint32(at, true) === END) return at
  }
  throw damaged('it has no directory')
}

function findEntry(bytes: Uint8Array, view: DataView, name: string): Entry {
  const end = findEnd(view)
  const count = view.getUint16(end + 10, true)
  let at = view.getUint32(end + 16, true)
  for (let index = 0; index < count; index++) {
    if (at + 46 > end || view.getUint32(at, true) !== CENTRAL) throw damaged('its directory')
    const nameLength = view.getUint16(at + 28, true)
    const own = new TextDecoder().decode(bytes.subarray(at + 46, at + 46 + nameLength))
    if (own === name || own === `./${name}`) {
      return {
        flags: view.getUint16(at + 8, true),
        method: view.getUint16(at + 10, true),
        crc: view.getUint32(at + 16, true),
        packedBytes: view.getUint32(at + 20, true),
        sizeBytes: view.getUint32(at + 24, true),
        offset: view.getUint32(at + 42, true),
      }
    }
    at += 46 + nameLength + view.getUint16(at + 30, true) + view.getUint16(at + 32, true)
  }
  throw new Error(`the zip archive holds no file "${name}"`)
}

async function inflate(packed: Uint8Array<ArrayBuffer>, sizeBytes: number): Promise<Uint8Array> {
  const out = new Uint8Array(sizeBytes)
  let filled = 0
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream('deflate-raw'))
  for await (const chunk of stream as unknown as AsyncIterable<Uint8Array>) {
    if (filled + chunk.length > sizeBytes) throw damaged('more data than announced')
    out.set(chunk, filled)
    filled += chunk.length
  }
  if (filled !== sizeBytes) throw damaged('less data than announced')
  return out
}

/** The bytes of the file `name`. Throws when it is missing, damaged, or larger than `maxBytes` unpacked. */
export async function readZipFile(
  bytes: Uint8Array<ArrayBuffer>,
  name: string,
  maxBytes: number,
): Promise<Uint8Array> {
  if (bytes.length < 22) throw damaged('too short')
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const entry = findEntry(bytes, view, name)
  if (entry.flags & ENCRYPTED) throw new Error('the zip archive is encrypted')
  if (entry.sizeBytes > maxBytes) throw new Error(`"${name}" is larger than ${maxBytes} bytes`)
  if (entry.offset + 30 > bytes.length || view.getUint32(entry.offset, true) !== LOCAL) {
    throw damaged('a file header')
  }
  const names = view.getUint16(entry.offset + 26, true) + view.getUint16(entry.offset + 28, true)
  const start = entry.offset + 30 + names
  if (start + entry.packedBytes > bytes.length) throw damaged('a file')
  const packed = bytes.subarray(start, start + entry.packedBytes)
  const out = await unpack(packed, entry)
  if (crc32(out) !== entry.crc) throw damaged('a checksum')
  return out
}

async function unpack(packed: Uint8Array<ArrayBuffer>, entry: Entry): Promise<Uint8Array> {
  if (entry.method === 0) {
    if (packed.length !== entry.sizeBytes) throw damaged('a stored file')
    return packed
  }
  if (entry.method !== 8) throw new Error(`compression method ${entry.method} is not supported`)
  try {
    return await inflate(packed, entry.sizeBytes)
  } catch (error) {
    if (error instanceof Error && error.message.startsWith('the zip')) throw error
    throw damaged('its compressed data')
  }
}
