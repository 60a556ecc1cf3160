/**
 * Puts another schema into an SQLite file that has been checked (sqlite-file.ts). SQLite carries out every statement of a schema when it opens
 * the file, and finds by it what a query names: a stranger's could take the place of its own tables and functions, or run. After this
 * the file has the statements that it is given, for trees that it has.
 */
import { closeSync, openSync, readSync, writeSync } from 'node:fs'
import {
  DamagedFile,
  FILE_HEADER_BYTES,
  localBytes,
  readLayout,
  TABLE_INTERIOR,
  TABLE_LEAF,
} from './sqlite-file.ts'

/** A row of sqlite_schema; an index that a table's statement makes has none of its own. */
export interface SchemaEntry {
  type: string
  name: string
  table: string
  root: number
  sql: string | null
}

/** The page of this byte is one of locks: no tree has it. */
const LOCK_BYTE = 2 ** 30
/**
 * Fields of the file's header that would speak of other pages: how many there are (0: what the file has), the unused ones and their
 * number, and two that say whether pages name their parents.
 */
const OF_PAGES = [28, 32, 36, 52, 64]
const NULL = 0
const INTEGER_OF_4_BYTES = 4

function varint(value: number): Buffer {
  const bytes = [value & 0x7f]
  for (let rest = value >>> 7; rest > 0; rest >>>= 7) bytes.unshift(0x80 | (rest & 0x7f))
  return Buffer.from(bytes)
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(value)
  return bytes
}

/** Serial type and bytes of a text. */
function textValue(text: string | null): [type: number, bytes: Buffer] {
  const bytes = Buffer.from(text ?? '')
  return [text === null ? NULL : 13 + 2 * bytes.length, bytes]
}

function recordOf({ type, name, table, root, sql }: SchemaEntry): Buffer {
  const values = [
    ...[type, name, table].map(textValue),
    [INTEGER_OF_4_BYTES, uint32(root)] as const,
    textValue(sql),
  ]
  const types = Buffer.concat(values.map(([serial]) => varint(serial)))
  return Buffer.concat([varint(types.length + 1), types, ...values.map(([, bytes]) => bytes)])
}

/** Writes cells and the header above them into a page of a tree, whose header is at `at`. */
function putCells(page: Buffer, at: number, cells: Buffer[], rightmost?: number): void {
  const pointers = at + (rightmost === undefined ? 8 : 12)
  let begin = page.length
  for (const [i, cell] of cells.entries()) {
    begin -= cell.length
    if (begin < pointers + 2 * cells.length) throw new DamagedFile()
    cell.copy(page, begin)
    page.writeUInt16BE(begin, pointers + 2 * i)
  }
  page[at] = rightmost === undefined ? TABLE_LEAF : TABLE_INTERIOR
  page.writeUInt16BE(cells.length, at + 3)
  // 0 stands for 65,536.
  page.writeUInt16BE(begin & 0xffff, at + 5)
  if (rightmost !== undefined) page.writeUInt32BE(rightmost, at + 8)
}

/** Replaces the schema of the file. Texts are UTF-8, as in every database of ours. */
export function writeSchema(path: string, entries: SchemaEntry[]): void {
  const file = openSync(path, 'r+')
  try {
    const { pageBytes, usable, pages, texts } = readLayout(file)
    if (texts.encoding !== 'utf-8') throw new DamagedFile()
    let last = pages

    const write = (number: number, page: Buffer) =>
      writeSync(file, page, 0, page.length, (number - 1) * pageBytes)
    /** Adds a page, of which `fill` gets what may be used; gives its number. */
    const add = (fill: (page: Buffer) => void): number => {
      const page = Buffer.alloc(pageBytes)
      fill(page.subarray(0, usable))
      last += last * pageBytes === LOCK_BYTE ? 2 : 1
      write(last, page)
      return last
    }
    /** Adds the pages with the rest of a record, the last one first; gives the number of the first. */
    const addChain = (rest: Buffer): number => {
      const most = usable - 4
      let next = 0
      for (let from = Math.floor((rest.length - 1) / most) * most; from >= 0; from -= most) {
        const after = next
        next = add((page) => {
          page.writeUInt32BE(after)
          rest.copy(page, 4, from, from + most)
        })
      }
      return next
    }
    const addRow = (entry: SchemaEntry, i: number): number => {
      const record = recordOf(entry)
      const local = localBytes(record.length, usable, true)
      const cell = [varint(record.length), varint(i + 1), record.subarray(0, local)]
      if (local < record.length) cell.push(uint32(addChain(record.subarray(local))))
      return add((page) => putCells(page, 0, [Buffer.concat(cell)]))
    }

    const leaves = entries.map(addRow)
    const first = Buffer.alloc(pageBytes)
    readSync(file, first, 0, FILE_HEADER_BYTES, 0)
    for (const field of OF_PAGES) first.writeUInt32BE(0, field)
    const cells = leaves.slice(0, -1).map((page, i) => Buffer.concat([uint32(page), varint(i + 1)]))
    putCells(first.subarray(0, usable), FILE_HEADER_BYTES, cells, leaves.at(-1))
    write(1, first)
  } finally {
    closeSync(file)
  }
}
