/**
 * The structure of an SQLite file that a stranger made, looked at before SQLite reads it (sqlite.org/fileformat2.html). SQLite follows the
 * page numbers that it finds: a page that is named again and again, by itself, by a tree's pages or by a chain, has it read for ever, in
 * one call that nothing ends. Here each page may be named once, and what its cells say they hold must fit: then what there is to read
 * is no more than the file.
 */
import { closeSync, fstatSync, openSync, readSync } from 'node:fs'

/** A file that is refused. */
export class DamagedFile extends Error {}

export const FILE_HEADER_BYTES = 100
/** Of the texts, by their number in the header. */
const ENCODINGS = ['', 'utf-8', 'utf-16le', 'utf-16be']
/** Pages from a tree's root to its leaves: SQLite has no more. */
const MAX_DEPTH = 20
/** Of the varint with a payload's size, which is below 2^32. */
const MAX_SIZE_BYTES = 5

const INDEX_INTERIOR = 2
export const TABLE_INTERIOR = 5
const INDEX_LEAF = 10
export const TABLE_LEAF = 13
const KINDS = new Set([INDEX_INTERIOR, TABLE_INTERIOR, INDEX_LEAF, TABLE_LEAF])

interface Varint {
  /** Rounded above 2^53. */
  value: number
  /** Where it ends. */
  end: number
}

/** A big-endian number of 1 to 9 bytes with 7 bits in each, the ninth with 8. */
function readVarint(bytes: Uint8Array, at: number): Varint {
  let value = 0
  for (let i = 0; i < 9; i++) {
    const byte = bytes[at + i]
    if (byte === undefined) throw new DamagedFile()
    if (i === 8) return { value: value * 256 + byte, end: at + 9 }
    value = value * 128 + (byte & 0x7f)
    if (byte < 0x80) return { value, end: at + i + 1 }
  }
  throw new DamagedFile()
}

/** A row or an entry of an index, as a page has it. */
interface Payload {
  /** All of it. */
  bytes: number
  /** What of it is in the page. */
  local: Uint8Array
  /** The page with the rest; 0 where there is none. */
  overflow: number
}

/** The bytes of numbers in a record, by serial type; null has none. */
const NUMBER_BYTES = [0, 1, 2, 3, 4, 6, 8, 8, 0, 0]

function bytesOfType(type: number): number {
  return NUMBER_BYTES[type] ?? Math.max(0, Math.floor((type - 12) / 2))
}

/**
 * What a row of sqlite_schema says: of what, the page that its tree begins at, 0 where it has none, and its statement, empty where it has
 * none.
 */
export interface SchemaRow {
  name: string
  root: number
  sql: string
}

const NAME_COLUMN = 1
const ROOT_COLUMN = 3
const SQL_COLUMN = 4

/** Its second, fourth and fifth columns. */
function readSchemaRow(record: Uint8Array, texts: TextDecoder): SchemaRow {
  const header = readVarint(record, 0)
  let at = header.value
  let { end } = header
  let name = ''
  let root = 0
  for (let column = 0; column <= SQL_COLUMN; column++) {
    if (end >= header.value) throw new DamagedFile()
    const { value: type, end: next } = readVarint(record, end)
    if (column === NAME_COLUMN) name = readText(record, type, at, texts)
    if (column === ROOT_COLUMN) root = readRoot(record, type, at)
    if (column === SQL_COLUMN) return { name, root, sql: readText(record, type, at, texts) }
    at += bytesOfType(type)
    end = next
  }
  throw new DamagedFile()
}

/** A text; null is an empty one, anything else no statement. */
function readText(record: Uint8Array, type: number, at: number, texts: TextDecoder): string {
  if (type === 0) return ''
  const end = at + bytesOfType(type)
  if (type < 13 || type % 2 === 0 || end > record.length) throw new DamagedFile()
  return texts.decode(record.subarray(at, end))
}

function readRoot(record: Uint8Array, type: number, at: number): number {
  if (type === 0 || type === 8) return 0
  if (type === 9) return 1
  const length = NUMBER_BYTES[type]
  if (length === undefined || type === 7 || at + length > record.length) throw new DamagedFile()
  return record.subarray(at, at + length).reduce((root, byte) => root * 256 + byte, 0)
}

/** The page's size, what of it is used, how many there are, and how texts are read, from the file's header. */
export function readLayout(file: number) {
  const header = Buffer.alloc(FILE_HEADER_BYTES)
  if (readSync(file, header, 0, header.length, 0) < header.length) throw new DamagedFile()
  const said = header.readUInt16BE(16)
  const pageBytes = said === 1 ? 65_536 : said
  const usable = pageBytes - (header[20] as number)
  const isPower = pageBytes >= 512 && (pageBytes & (pageBytes - 1)) === 0
  if (!isPower || usable < 480) throw new DamagedFile()
  const encoding = ENCODINGS[header.readUInt32BE(56)]
  if (!encoding) throw new DamagedFile()
  const pages = Math.floor(fstatSync(file).size / pageBytes)
  return { pageBytes, usable, pages, texts: new TextDecoder(encoding, { ignoreBOM: true }) }
}

/** The pages of an open file, each of which may be visited once. */
function createPages(file: number) {
  const { pageBytes, usable, pages, texts } = readLayout(file)
  const visited = new Uint8Array((pages >> 3) + 1)
  const page = Buffer.alloc(pageBytes)

  const read = (number: number, length: number): Buffer => {
    const bit = 1 << (number & 7)
    if (number < 1 || number > pages || ((visited[number >> 3] as number) & bit) !== 0)
      throw new DamagedFile()
    visited[number >> 3] = (visited[number >> 3] as number) | bit
    if (readSync(file, page, 0, length, (number - 1) * pageBytes) < length) throw new DamagedFile()
    return page.subarray(0, length)
  }
  return {
    texts,
    /** What a page holds, until the next one is read. */
    read: (number: number) => read(number, usable),
    /** The chain of pages with the rest of a payload; with `keep` their bytes. */
    readChain({ bytes, local, overflow }: Payload, keep: boolean): Uint8Array[] {
      const parts: Uint8Array[] = []
      let next = overflow
      for (let left = bytes - local.length; left > 0; left -= usable - 4) {
        const part = read(next, keep ? usable : 4)
        next = part.readUInt32BE(0)
        if (keep) parts.push(Uint8Array.from(part.subarray(4, 4 + left)))
      }
      if (next !== 0) throw new DamagedFile()
      return parts
    },
  }
}

type Pages = ReturnType<typeof createPages>

/** How much of a payload is in its page. */
export function localBytes(bytes: number, usable: number, isTable: boolean): number {
  const most = isTable ? usable - 35 : Math.floor(((usable - 12) * 64) / 255) - 23
  if (bytes <= most) return bytes
  const least = Math.floor(((usable - 12) * 32) / 255) - 23
  const some = least + ((bytes - least) % (usable - 4))
  return some <= most ? some : least
}

/** What of a payload is in its page, and where it ends there. */
function readPayload(page: Buffer, at: number, isTable: boolean): Payload & { end: number } {
  const usable = page.length
  const { value: bytes, end: from } = readVarint(page, at)
  // More than SQLite ever needs, and it reads the last one otherwise than others.
  if (from - at > MAX_SIZE_BYTES) throw new DamagedFile()
  const start = isTable ? readVarint(page, from).end : from
  const length = localBytes(bytes, usable, isTable)
  const isWhole = length === bytes
  const end = start + length + (isWhole ? 0 : 4)
  if (end > usable) throw new DamagedFile()
  const overflow = isWhole ? 0 : page.readUInt32BE(start + length)
  return { bytes, local: page.subarray(start, start + length), overflow, end }
}

/** Where a page's cells are, as its header at `at` says: their places, and where the first one may begin. */
function readPlaces(page: Buffer, at: number, isInterior: boolean) {
  const count = page.readUInt16BE(at + 3)
  const pointers = at + (isInterior ? 12 : 8)
  const from = pointers + 2 * count
  if (from > page.length) throw new DamagedFile()
  const places = Array.from({ length: count }, (_, i) => page.readUInt16BE(pointers + 2 * i))
  if (places.some((place) => place < from || place + 4 > page.length)) throw new DamagedFile()
  return { places, from }
}

interface Content {
  children: number[]
  payloads: Payload[]
}

/** What a page of a tree holds. Its cells have as many bytes as they say, none of another's. */
function readContent(page: Buffer, at: number): Content {
  const kind = page[at] as number
  if (!KINDS.has(kind)) throw new DamagedFile()
  const isInterior = kind === INDEX_INTERIOR || kind === TABLE_INTERIOR
  const { places, from } = readPlaces(page, at, isInterior)
  const children = isInterior ? [page.readUInt32BE(at + 8)] : []
  const payloads: Payload[] = []
  let used = from
  for (const place of places) {
    if (isInterior) children.push(page.readUInt32BE(place))
    const rest = isInterior ? place + 4 : place
    let { end } = readVarint(page, rest)
    if (kind !== TABLE_INTERIOR) {
      const payload = readPayload(page, rest, kind === TABLE_LEAF)
      payloads.push(payload)
      end = payload.end
    }
    used += end - place
  }
  if (used > page.length) throw new DamagedFile()
  return { children, payloads }
}

/** Goes through a tree; `take` reads the rest of each payload, which may then take the page's place. */
function walkTree(pages: Pages, root: number, take: (payloads: Payload[]) => void): void {
  const waiting = [{ number: root, depth: 1 }]
  for (let next = waiting.pop(); next; next = waiting.pop()) {
    const { number, depth } = next
    if (depth > MAX_DEPTH) throw new DamagedFile()
    const at = number === 1 ? FILE_HEADER_BYTES : 0
    const { children, payloads } = readContent(pages.read(number), at)
    for (const child of children) waiting.push({ number: child, depth: depth + 1 })
    take(payloads)
  }
}

/**
 * Goes through every tree of the file and every chain of its cells, and gives the rows of its schema. Throws DamagedFile where SQLite might
 * read without end, or where the schema has more than `maxBytes`: it is kept in memory. Pages that are not in use are not looked at, as
 * nothing that only reads does.
 */
export function checkSqliteFile(path: string, maxBytes: number): SchemaRow[] {
  const file = openSync(path, 'r')
  try {
    const pages = createPages(file)
    const schema: SchemaRow[] = []
    let schemaBytes = 0
    walkTree(pages, 1, (rows) => {
      schemaBytes += rows.reduce((sum, { bytes }) => sum + bytes, 0)
      if (schemaBytes > maxBytes) throw new DamagedFile()
      const whole = rows.map((row) => ({ ...row, local: Uint8Array.from(row.local) }))
      for (const row of whole) {
        const record = Buffer.concat([row.local, ...pages.readChain(row, true)])
        schema.push(readSchemaRow(record, pages.texts))
      }
    })
    for (const { root } of schema) {
      if (root === 0) continue
      walkTree(pages, root, (payloads) => {
        for (const payload of payloads) pages.readChain(payload, false)
      })
    }
    return schema
  } finally {
    closeSync(file)
  }
}
