/**
 * Tar archives of a few known files (POSIX.1-1988 "ustar", and the same header as GNU tar writes it): a writer, and a reader that
 * takes nothing it was not told to expect. Libraries fail here: endless loops on a negative size, checksums nobody looks at.
 */

const BLOCK = 512
/** Two blocks of zeros end an archive. */
export const TAR_END = new Uint8Array(2 * BLOCK)
/** After the end GNU tar pads to its blocking factor: 10 KB by default, never more than this in practice. */
const MAX_TRAILING_ZEROS = 1024 ** 2
/** The largest number of 11 octal digits. */
const MAX_OCTAL = 8 ** 11 - 1

const NAME = { at: 0, length: 100 }
const SIZE = { at: 124, length: 12 }
const CHECKSUM = { at: 148, length: 8 }
const TYPE = 156
const LINK = { at: 157, length: 100 }
const MAGIC = { at: 257, length: 8 }
/** The prefix of a name in ustar; times and maps of sparse files in GNU's header. */
const EXTENSION = { at: 345, length: 167 }

interface Field {
  at: number
  length: number
}

/** An archive that is refused; the message says what is wrong with it and quotes nothing of it. */
export class TarError extends Error {}

const bytesOf = (header: Uint8Array, { at, length }: Field) => header.subarray(at, at + length)
const isZero = (bytes: Uint8Array) => bytes.every((byte) => byte === 0)

/** Sum of all bytes, those of the checksum itself counted as spaces. */
function checksum(header: Uint8Array): number {
  let sum = CHECKSUM.length * 0x20
  for (const byte of header) sum += byte
  for (const byte of bytesOf(header, CHECKSUM)) sum -= byte
  return sum
}

const padded = (value: number, digits: number) => value.toString(8).padStart(digits, '0')

/** The header of a regular file that only its owner may read. */
export function tarHeader(name: string, size: number, modifiedAt: Date): Uint8Array<ArrayBuffer> {
  const header = new Uint8Array(BLOCK)
  const put = (text: string, at: number) => header.set(new TextEncoder().encode(text), at)
  put(name, NAME.at)
  put(`${padded(0o600, 7)}\0${padded(0, 7)}\0${padded(0, 7)}\0`, 100)
  if (size <= MAX_OCTAL) put(padded(size, 11), SIZE.at)
  else {
    // Base 256, as GNU tar and every other reader has it beyond 8 GB.
    header[SIZE.at] = 0x80
    new DataView(header.buffer).setBigUint64(SIZE.at + 4, BigInt(size))
  }
  put(padded(Math.floor(modifiedAt.getTime() / 1000), 11), 136)
  header[TYPE] = 0x30
  put('ustar\x0000', MAGIC.at)
  put(`${padded(checksum(header), 6)}\0 `, CHECKSUM.at)
  return header
}

/** The zeros that fill a file's last block. */
export const tarPadding = (size: number): Uint8Array<ArrayBuffer> =>
  new Uint8Array((BLOCK - (size % BLOCK)) % BLOCK)

/** The text of a field up to its first NUL; what follows must be NULs too. */
function readText(header: Uint8Array, field: Field): string | null {
  const bytes = bytesOf(header, field)
  const end = bytes.indexOf(0)
  if (end < 0) return String.fromCharCode(...bytes)
  return isZero(bytes.subarray(end)) ? String.fromCharCode(...bytes.subarray(0, end)) : null
}

/** A number in octal, or in base 256 where it is positive; null for anything else. */
function readNumber(header: Uint8Array, field: Field): number | null {
  const bytes = bytesOf(header, field)
  if (bytes[0] === 0x80) {
    const value = bytes.subarray(1).reduce((sum, byte) => sum * 256 + byte, 0)
    return Number.isSafeInteger(value) ? value : null
  }
  const digits = /^ *([0-7]{1,12})[ \0]*$/.exec(String.fromCharCode(...bytes))?.[1]
  return digits === undefined ? null : Number.parseInt(digits, 8)
}

const MAGICS = ['ustar\x0000', 'ustar  \0']

function readHeader(header: Uint8Array): { name: string; size: number } {
  if (readNumber(header, CHECKSUM) !== checksum(header)) {
    throw new TarError('the archive is no tar archive, or it is damaged: a checksum is wrong')
  }
  const type = header[TYPE]
  if (!MAGICS.includes(String.fromCharCode(...bytesOf(header, MAGIC)))) {
    throw new TarError('the archive is of an unknown kind: make it with GNU tar')
  }
  if ((type !== 0x30 && type !== 0) || !isZero(bytesOf(header, LINK))) {
    throw new TarError('the archive holds something that is no plain file')
  }
  const name = readText(header, NAME)
  const size = readNumber(header, SIZE)
  if (size === null) throw new TarError('the archive is damaged: a size is no number')
  if (name === null || !isZero(bytesOf(header, EXTENSION))) {
    throw new TarError('the archive holds a file that no backup has')
  }
  return { name: name.replace(/^\.\//, ''), size }
}

/** A file of an archive: how large it may be, and where its bytes go. */
export interface TarMember {
  maxBytes: number
  write(bytes: Uint8Array): void
}

export interface TarReader {
  /** The next bytes of the archive. Throws TarError at the first that is not as it must be. */
  write(chunk: Uint8Array): void
  /** The archive's end. Throws TarError when something is missing; gives the names that were there. */
  end(): Set<string>
}

/** What of an archive comes next: takes a piece of it, and says what follows when it has all it needs. */
type State = (chunk: Uint8Array) => { used: number; next: State }

/** A reader of archives that hold no other files than `members`, each at most once. */
export function createTarReader(members: Record<string, TarMember>): TarReader {
  const seen = new Set<string>()
  let trailing = 0

  const end: State = (chunk) => {
    if (!isZero(chunk)) throw new TarError('something follows the end of the archive')
    trailing += chunk.length
    if (trailing > MAX_TRAILING_ZEROS) throw new TarError('the archive is too large')
    return { used: chunk.length, next: end }
  }
  /** Takes `left` bytes and hands them on. */
  const take = (left: number, write: (part: Uint8Array) => void, next: () => State): State => {
    if (left === 0) return next()
    return (chunk) => {
      const part = chunk.subarray(0, left)
      write(part)
      return { used: part.length, next: take(left - part.length, write, next) }
    }
  }
  const padding = (size: number): State =>
    take(
      tarPadding(size).length,
      (part) => {
        if (!isZero(part))
          throw new TarError('the archive is damaged: a file is longer than it says')
      },
      header,
    )
  const begin = (block: Uint8Array): State => {
    if (isZero(block)) {
      trailing = BLOCK
      return end
    }
    const { name, size } = readHeader(block)
    const member = Object.hasOwn(members, name) ? members[name] : undefined
    if (!member) throw new TarError('the archive holds a file that no backup has')
    if (seen.has(name)) throw new TarError('the archive holds a file twice')
    if (size > member.maxBytes) throw new TarError('a file in the archive is too large')
    seen.add(name)
    return take(size, member.write, () => padding(size))
  }
  function header(): State {
    const block = new Uint8Array(BLOCK)
    let filled = 0
    const fill = (part: Uint8Array) => {
      block.set(part, filled)
      filled += part.length
    }
    return take(BLOCK, fill, () => begin(block))
  }

  let state = header()
  return {
    write(chunk) {
      for (let at = 0; at < chunk.length; ) {
        const { used, next } = state(chunk.subarray(at))
        at += used
        state = next
      }
    },
    end() {
      if (trailing < 2 * BLOCK) throw new TarError('the archive is cut off')
      return seen
    },
  }
}
