import { gzipSync } from 'node:zlib'
import { createTar, parseTar } from 'nanotar'
import { describe, expect, test } from 'vitest'
import { createTarReader, TAR_END, TarError, tarHeader, tarPadding } from '#src/lib/tar.ts'
import { END, gnuUntar, rawTar } from '#test/support/archives/archives.ts'

const AT = new Date('2026-03-01T12:00:00Z')

/** An archive as this program writes it. */
const write = (files: Record<string, Uint8Array>): Buffer =>
  Buffer.concat([
    ...Object.entries(files).flatMap(([name, bytes]) => [
      tarHeader(name, bytes.length, AT),
      bytes,
      tarPadding(bytes.length),
    ]),
    TAR_END,
  ])

/** What a reader of `a` and `b` makes of an archive that comes in pieces of `step` bytes. */
function read(archive: Uint8Array, step: number, maxBytes = 1_000_000): Record<string, Buffer> {
  const found: Record<string, Buffer> = {}
  const member = (name: string) => ({
    maxBytes,
    write(bytes: Uint8Array) {
      found[name] = Buffer.concat([found[name] ?? Buffer.alloc(0), bytes])
    },
  })
  const reader = createTarReader({ a: member('a'), b: member('b') })
  for (let at = 0; at < archive.length; at += step) reader.write(archive.subarray(at, at + step))
  for (const name of reader.end()) found[name] ??= Buffer.alloc(0)
  return found
}

const bytes = (length: number) => Buffer.from(Array.from({ length }, (_, i) => (i * 7 + 1) & 255))

describe('what is written', () => {
  test.each([0, 1, 511, 512, 513, 1024, 10_240, 70_001])('is read back, %i bytes', (length) => {
    const files = { a: bytes(length), b: bytes(3) }
    for (const step of [1, 100, 512, 4096, 1_000_000])
      expect(read(write(files), step)).toEqual(files)
  })

  test('is read by GNU tar', () => {
    const files = { a: bytes(5000), b: bytes(0) }
    expect(gnuUntar(gzipSync(write(files)))).toEqual(files)
  })

  test.each([1, 511, 512, 513, 70_001])('is read by nanotar, %i bytes', (length) => {
    const files = { a: bytes(length), b: bytes(3) }
    const found = parseTar(new Uint8Array(write(files)))
    expect(found.map(({ name, size, data }) => [name, size, Buffer.from(data ?? [])])).toEqual([
      ['a', length, files.a],
      ['b', 3, files.b],
    ])
  })

  test('holds sizes beyond 8 GB', () => {
    const header = tarHeader('a', 9 * 1024 ** 3, AT)
    expect(() => read(header, 512, Number.MAX_SAFE_INTEGER)).toThrow('cut off')
    expect(() => read(header, 512, 9 * 1024 ** 3 - 1)).toThrow('too large')
  })
})

describe('what is read', () => {
  const good = [{ name: 'a', content: 'text' }]

  test('ends with at least two blocks of zeros and may be padded', () => {
    for (const zeros of [1024, 1536, 10_240]) {
      expect(read(rawTar(good, Buffer.alloc(zeros)), 700)).toEqual({ a: Buffer.from('text') })
    }
  })

  test.each([0, 1, 511, 512, 513, 60_000])('may be by nanotar, %i bytes', (length) => {
    const files = { a: bytes(length), b: bytes(3) }
    const archive = createTar(Object.entries(files).map(([name, data]) => ({ name, data })))
    for (const step of [1, 512, 100_000]) expect(read(archive, step)).toEqual(files)
  })

  test('has numbers as old programs write them', () => {
    for (const size of ['          4\0', '4\0          ', '000000000004', '    4      \0']) {
      expect(read(rawTar([{ name: 'a', content: 'text', size }]), 512)).toEqual({
        a: Buffer.from('text'),
      })
    }
  })

  test.each<[string, Uint8Array]>([
    ['nothing', Buffer.alloc(0)],
    ['half a header', rawTar(good).subarray(0, 300)],
    ['half a file', rawTar(good).subarray(0, 514)],
    ['half a padding', rawTar(good).subarray(0, 1000)],
    ['no end', rawTar(good, Buffer.alloc(0))],
    ['one block of zeros', rawTar(good, Buffer.alloc(512))],
    [
      'one block of zeros and a file',
      Buffer.concat([rawTar(good, Buffer.alloc(512)), rawTar(good)]),
    ],
    ['zeros after a header of zeros and more', Buffer.concat([END, Buffer.from('\0\0\0x')])],
  ])('is refused when it has %s', (_name, archive) => {
    for (const step of [1, 512, 100_000]) expect(() => read(archive, step)).toThrow(TarError)
  })

  test('is refused whichever bit of a header is flipped', () => {
    const archive = rawTar(good)
    let accepted = 0
    for (let bit = 0; bit < 512 * 8; bit++) {
      const flipped = Buffer.from(archive)
      flipped[bit >> 3] = (flipped[bit >> 3] as number) ^ (1 << (bit & 7))
      try {
        read(flipped, 100_000)
        accepted++
      } catch (error) {
        expect(error).toBeInstanceOf(TarError)
      }
    }
    // What follows the checksum's six digits is no part of the number.
    expect(accepted).toBeLessThan(8)
  })

  test('is refused when the padding of a file holds anything', () => {
    const archive = rawTar(good)
    archive[512 + 100] = 1
    expect(() => read(archive, 512)).toThrow('longer than it says')
  })

  test('never holds up: noise is refused or read in time', () => {
    let state = 1
    for (let round = 0; round < 300; round++) {
      const noise = rawTar([{ name: 'a', content: 'text' }])
      for (let i = 0; i < 6; i++) {
        state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
        noise[state % noise.length] = state >>> 24
      }
      expect(() => {
        try {
          read(noise, 512)
        } catch (error) {
          if (!(error instanceof TarError)) throw error
        }
      }).not.toThrow()
    }
  })
})
