/** Backup archives: a gzipped tar of the database and the env file. */
import { closeSync, fstatSync, openSync, readSync, statSync, writeSync } from 'node:fs'
import { gzipChunks } from '#src/lib/gzip.ts'
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

/** The bytes of a file. */
function* readFile(path: string): Generator<Uint8Array> {
  const file = openSync(path, 'r')
  try {
    for (;;) {
      const buffer = new Uint8Array(CHUNK_BYTES)
      const length = readSync(file, buffer)
      if (length === 0) return
      yield buffer.subarray(0, length)
    }
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

/** The bytes of an archive, packed as they are asked for. */
export const packArchive = (content: ArchiveContent, at: Date): Generator<Uint8Array> =>
  gzipChunks(tarChunks(content, at))

/** An archive that is refused; the message quotes nothing of it. */
export class ArchiveRefused extends Error {}

function readableFile(file: number): ReadableStream<BufferSource> {
  return new ReadableStream<BufferSource>(
    {
      pull(controller) {
        const buffer = new Uint8Array(INFLATE_BYTES)
        const length = readSync(file, buffer)
        if (length === 0) controller.close()
        else controller.enqueue(buffer.subarray(0, length))
      },
    },
    { highWaterMark: 0 },
  )
}

/** The last four bytes of a gzip file: the size of its content modulo 2^32 (RFC 1952, section 2.3.1). */
function statedSize(file: number): number {
  const { size } = fstatSync(file)
  const bytes = new DataView(new ArrayBuffer(4))
  if (size < 18 || readSync(file, bytes, 0, 4, size - 4) !== 4)
    throw new ArchiveRefused('the file is no gzip archive')
  return bytes.getUint32(0, true)
}

/**
 * Unpacks an archive: the database into the new file `database`, the env file as text. Throws ArchiveRefused for anything that is
 * not an archive of exactly these files, and as soon as more than `maxBytes` came out of it.
 */
export async function unpackArchive(
  archive: string,
  database: string,
  maxBytes: number,
): Promise<{ env: string | null }> {
  const source = openSync(archive, 'r')
  const target = openSync(database, 'wx', 0o600)
  try {
    const stated = statedSize(source)
    const env: Uint8Array[] = []
    const reader = createTarReader({
      [DATABASE_MEMBER]: { maxBytes, write: (bytes) => writeSync(target, bytes) },
      [ENV_MEMBER]: { maxBytes: MAX_ENV_BYTES, write: (bytes) => env.push(bytes.slice()) },
    })
    let size = 0
    for await (const chunk of inflate(source)) {
      size += chunk.length
      if (size > maxBytes) throw new ArchiveRefused('the archive holds more than fits here')
      reader.write(chunk)
    }
    const names = reader.end()
    // Bun takes what follows the first gzip member for more of it, Node refuses it.
    if (size % 2 ** 32 !== stated)
      throw new ArchiveRefused('something follows the end of the archive')
    if (!names.has(DATABASE_MEMBER)) throw new ArchiveRefused('the archive holds no database')
    return { env: names.has(ENV_MEMBER) ? decodeEnv(env) : null }
  } catch (error) {
    if (error instanceof TarError) throw new ArchiveRefused(error.message)
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

/** What the file holds, piece by piece. */
async function* inflate(file: number): AsyncGenerator<Uint8Array> {
  const stream = readableFile(file).pipeThrough(new DecompressionStream('gzip'))
  const chunks = stream as unknown as AsyncIterable<Uint8Array>
  try {
    for await (const chunk of chunks) yield chunk
  } catch (error) {
    if (error instanceof TypeError)
      throw new ArchiveRefused('the file is no gzip archive, or it is damaged or cut off')
    throw error
  }
}
