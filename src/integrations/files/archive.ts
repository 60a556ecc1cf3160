/** Backup archives: a gzipped tar of the database and the env file, encrypted where there is a passphrase. */
import { closeSync, openSync, readSync, statSync, writeSync } from 'node:fs'
import {
  DecryptionRefused,
  decryptChunks,
  encryptChunks,
  HEADER_BYTES,
  isEncrypted,
  readHeader,
} from '#src/lib/encrypted-file.ts'
import { gzipChunks } from '#src/lib/gzip.ts'
import { derivePassphraseKey, type PassphraseKey } from '#src/lib/passphrase-key.ts'
import { streamOf } from '#src/lib/stream-of.ts'
import { createTarReader, TAR_END, TarError, tarHeader, tarPadding } from '#src/lib/tar.ts'

export const DATABASE_MEMBER = 'panel.db'
export const ENV_MEMBER = '.env'

const MAX_ENV_BYTES = 256 * 1024
const CHUNK_BYTES = 1024 ** 2
/** Small, because Node inflates all of a piece at once, whoever is to take it: a thousand times as much at worst. */
const INFLATE_BYTES = 8 * 1024

export interface ArchiveContent {
  /** The file of the database. */
  database: string
  /** The env file's text; null when there is none. */
  env: string | null
}

/** The bytes of an open file from `at` on. */
function* readFrom(file: number, at: number): Generator<Uint8Array> {
  for (let position = at; ; ) {
    const buffer = new Uint8Array(CHUNK_BYTES)
    const length = readSync(file, buffer, 0, CHUNK_BYTES, position)
    if (length === 0) return
    position += length
    yield buffer.subarray(0, length)
  }
}

/** The bytes of a file. */
function* readFile(path: string): Generator<Uint8Array> {
  const file = openSync(path, 'r')
  try {
    yield* readFrom(file, 0)
  } finally {
    closeSync(file)
  }
}

function* tarChunks({ database, env }: ArchiveContent, at: Date): Generator<Uint8Array> {
  const { size } = statSync(database)
  yield tarHeader(DATABASE_MEMBER, size, at)
  yield* readFile(database)
  const bytes = new TextEncoder().encode(env ?? '')
  const rest =
    env === null ? [] : [tarHeader(ENV_MEMBER, bytes.length, at), bytes, tarPadding(bytes.length)]
  yield Buffer.concat([tarPadding(size), ...rest, TAR_END])
}

/** The bytes of an archive, packed as they are asked for, and encrypted where there is a key. */
export function packArchive(
  content: ArchiveContent,
  at: Date,
  key: PassphraseKey | null = null,
): Generator<Uint8Array> {
  const packed = gzipChunks(tarChunks(content, at))
  return key === null ? packed : encryptChunks(packed, key)
}

/** An archive that is refused; the message quotes nothing of it. */
export class ArchiveRefused extends Error {}

/** The first bytes of a file, as many as an encrypted file's header has where there are so many. */
function readHead(file: number): Uint8Array {
  const buffer = new Uint8Array(HEADER_BYTES)
  return buffer.subarray(0, readSync(file, buffer, 0, HEADER_BYTES, 0))
}

/** Whether a file is an encrypted archive, by its first bytes. */
export function isEncryptedArchive(path: string): boolean {
  const file = openSync(path, 'r')
  try {
    return isEncrypted(readHead(file))
  } finally {
    closeSync(file)
  }
}

/** The gzipped bytes of an archive, and the key that opens it; null for one that is not encrypted. */
async function openArchive(
  file: number,
  passphrase: string | null,
): Promise<{ gzipped: Generator<Uint8Array>; key: PassphraseKey | null }> {
  const head = readHead(file)
  if (!isEncrypted(head)) return { gzipped: readFrom(file, 0), key: null }
  const header = readHeader(head)
  if (passphrase === null)
    throw new ArchiveRefused('the backup is encrypted: its passphrase is needed')
  const key = await derivePassphraseKey(passphrase, header.salt, header.cost)
  return { gzipped: decryptChunks(header, key, readFrom(file, HEADER_BYTES)), key }
}

/** A gzip file in pieces that are small enough to be inflated, and what is known of it when they have all been taken. */
function createGzipReader(gzipped: Generator<Uint8Array>) {
  let size = 0
  let tail = Buffer.alloc(0)
  function* pieces(): Generator<Uint8Array<ArrayBuffer>> {
    for (const chunk of gzipped) {
      size += chunk.length
      tail = Buffer.concat([tail, chunk.subarray(-4)]).subarray(-4)
      for (let at = 0; at < chunk.length; at += INFLATE_BYTES)
        yield new Uint8Array(chunk.subarray(at, at + INFLATE_BYTES))
    }
  }
  return {
    pieces,
    /** The last four bytes: the size of the content modulo 2^32 (RFC 1952, section 2.3.1). */
    statedSize: () => (size < 18 ? null : tail.readUInt32LE(0)),
  }
}

/**
 * Unpacks an archive: the database into the new file `database`, the env file as text. Throws ArchiveRefused for anything that is
 * not an archive of exactly these files, and as soon as more than `maxBytes` came out of it. An encrypted one is opened by the
 * passphrase as it is read; `key` is what it made, null for one that is not encrypted.
 */
export async function unpackArchive(
  archive: string,
  database: string,
  maxBytes: number,
  passphrase: string | null = null,
): Promise<{ env: string | null; key: PassphraseKey | null }> {
  const source = openSync(archive, 'r')
  const target = openSync(database, 'wx', 0o600)
  try {
    const { gzipped, key } = await openArchive(source, passphrase)
    const gzip = createGzipReader(gzipped)
    const env: Uint8Array[] = []
    const reader = createTarReader({
      [DATABASE_MEMBER]: { maxBytes, write: (bytes) => writeSync(target, bytes) },
      [ENV_MEMBER]: { maxBytes: MAX_ENV_BYTES, write: (bytes) => env.push(bytes.slice()) },
    })
    let size = 0
    for await (const chunk of inflate(gzip.pieces())) {
      size += chunk.length
      if (size > maxBytes) throw new ArchiveRefused('the archive holds more than fits here')
      reader.write(chunk)
    }
    const names = reader.end()
    // Bun takes what follows the first gzip member for more of it, Node refuses it.
    if (size % 2 ** 32 !== gzip.statedSize())
      throw new ArchiveRefused('something follows the end of the archive')
    if (!names.has(DATABASE_MEMBER)) throw new ArchiveRefused('the archive holds no database')
    return { env: names.has(ENV_MEMBER) ? decodeEnv(env) : null, key }
  } catch (error) {
    if (error instanceof TarError || error instanceof DecryptionRefused)
      throw new ArchiveRefused(error.message)
    throw error
  } finally {
    closeSync(source)
    closeSync(target)
  }
}

function decodeEnv(chunks: Uint8Array[]): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(chunks))
  } catch {
    throw new ArchiveRefused('the env file in the archive is no text')
  }
}

/** What gzipped pieces hold, piece by piece. */
async function* inflate(pieces: Generator<BufferSource>): AsyncGenerator<Uint8Array> {
  const stream = streamOf(pieces).pipeThrough(new DecompressionStream('gzip'))
  const chunks = stream as unknown as AsyncIterable<Uint8Array>
  try {
    for await (const chunk of chunks) yield chunk
  } catch (error) {
    if (error instanceof TypeError)
      throw new ArchiveRefused('the file is no gzip archive, or it is damaged or cut off')
    throw error
  }
}
