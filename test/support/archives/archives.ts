/** Backup archives for tests, good and bad: made by GNU tar, or byte by byte where GNU tar would not make them. */
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { gzipSync } from 'node:zlib'
import Sqlite from 'better-sqlite3'
import type { CallOptions } from '#test/support/worlds/world.ts'

type Content = Uint8Array | string

/** Runs `work` with a folder that is gone afterwards. */
export function inFolder<T>(work: (folder: string) => T): T {
  const folder = mkdtempSync(join(tmpdir(), 'subpanel-archive-'))
  try {
    return work(folder)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** An archive that GNU tar makes of these files; `options` go before their names. */
export function gnuTar(files: Record<string, Content>, options: string[] = []): Buffer {
  return inFolder((folder) => {
    for (const [name, content] of Object.entries(files)) {
      mkdirSync(dirname(join(folder, name)), { recursive: true })
      writeFileSync(join(folder, name), content)
    }
    const args = ['-cz', '-f', '-', '-C', folder, ...options, ...Object.keys(files)]
    return execFileSync('tar', args, { maxBuffer: 2 ** 30 })
  })
}

/** What GNU tar finds in an archive. */
export function gnuUntar(archive: Uint8Array): Record<string, Buffer> {
  return inFolder((folder) => {
    const file = join(folder, 'archive')
    writeFileSync(file, archive)
    const names = execFileSync('tar', ['-tzf', file], { encoding: 'utf8' }).trim().split('\n')
    execFileSync('tar', ['-xzf', file, '-C', folder])
    return Object.fromEntries(names.map((name) => [name, readFileSync(join(folder, name))]))
  })
}

export interface RawMember {
  name: string
  content?: Content
  /** Fields as they are written, past all rules. */
  size?: string
  type?: string
  link?: string
  prefix?: string
  magic?: string
  checksum?: string
}

/** The blocks of one member. */
function member(raw: RawMember): Buffer {
  const content = Buffer.from(raw.content ?? '')
  const header = Buffer.alloc(512)
  header.write(raw.name, 0, 'latin1')
  header.write('0000600\x000000000\x000000000\x00', 100, 'latin1')
  header.write(raw.size ?? `${content.length.toString(8).padStart(11, '0')}\0`, 124, 'latin1')
  header.write('00000000000\0', 136, 'latin1')
  header.write(raw.type ?? '0', 156, 'latin1')
  header.write(raw.link ?? '', 157, 'latin1')
  header.write(raw.magic ?? 'ustar\x0000', 257, 'latin1')
  header.write(raw.prefix ?? '', 345, 'latin1')
  header.fill(' ', 148, 156)
  const sum = header.reduce((total, byte) => total + byte, 0)
  header.write(raw.checksum ?? `${sum.toString(8).padStart(6, '0')}\0 `, 148, 'latin1')
  return Buffer.concat([header, content, Buffer.alloc((512 - (content.length % 512)) % 512)])
}

export const END = Buffer.alloc(1024)

/** A tar archive of members as they are told; without the blocks at its end when `end` is empty. */
export const rawTar = (members: RawMember[], end: Uint8Array = END): Buffer =>
  Buffer.concat([...members.map(member), end])

export const rawTarGz = (members: RawMember[], end?: Uint8Array): Buffer =>
  gzipSync(rawTar(members, end))

/** A database changed by SQL, as the bytes of its file. */
export function changedDatabase(database: Uint8Array, sql: string): Buffer {
  return inFolder((folder) => {
    const file = join(folder, 'changed.db')
    writeFileSync(file, database)
    const raw = new Sqlite(file)
    raw.pragma('journal_mode = DELETE')
    raw.pragma('synchronous = OFF')
    raw.pragma('foreign_keys = OFF')
    raw.unsafeMode()
    raw.exec(sql)
    raw.close()
    return readFileSync(file)
  })
}

/** A form with one file field, as a browser sends it, and texts behind it. */
export function upload(
  archive: Uint8Array,
  field = 'file',
  texts: Record<string, string> = {},
): CallOptions {
  const boundary = '----WebKitFormBoundary7MA4YWxkTrZu0gW'
  const rest = Object.entries(texts).map(
    ([name, text]) =>
      `\r\n--${boundary}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${text}`,
  )
  const head = `--${boundary}\r\nContent-Disposition: form-data; name="${field}"; filename="backup.tar.gz"\r\nContent-Type: application/gzip\r\n\r\n`
  return {
    method: 'POST',
    headers: { 'content-type': `multipart/form-data; boundary=${boundary}` },
    raw: Buffer.concat([
      Buffer.from(head),
      archive,
      Buffer.from(`${rest.join('')}\r\n--${boundary}--\r\n`),
    ]),
  }
}
