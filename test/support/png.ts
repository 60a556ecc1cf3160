/** Reads a PNG of one grey bit per pixel (W3C PNG): chunks, checksums, lines. */
import { crc32, inflateSync } from 'node:zlib'
import { expect } from 'vitest'

/** The dark pixels, row by column. */
export function readPng(bytes: Uint8Array): boolean[][] {
  const data = Buffer.from(bytes)
  expect(data.subarray(0, 8).toString('latin1')).toBe('\x89PNG\r\n\x1a\n')
  const chunks: { type: string; body: Buffer }[] = []
  for (let at = 8; at < data.length; ) {
    const length = data.readUInt32BE(at)
    const typed = data.subarray(at + 4, at + 8 + length)
    expect(data.readUInt32BE(at + 8 + length)).toBe(crc32(typed))
    chunks.push({ type: typed.toString('latin1', 0, 4), body: typed.subarray(4) })
    at += length + 12
  }
  expect(chunks.map(({ type }) => type)).toEqual(['IHDR', 'IDAT', 'IEND'])
  const [{ body: header }, { body: packed }] = chunks as [(typeof chunks)[0], (typeof chunks)[0]]
  const width = header.readUInt32BE(0)
  const height = header.readUInt32BE(4)
  // Depth 1, grey, deflate, filter method 0, not interlaced.
  expect([...header.subarray(8)]).toEqual([1, 0, 0, 0, 0])
  const pixels = inflateSync(packed)
  const lineBytes = 1 + Math.ceil(width / 8)
  expect(pixels.length).toBe(height * lineBytes)
  return Array.from({ length: height }, (_, y) => {
    const line = pixels.subarray(y * lineBytes, (y + 1) * lineBytes)
    expect(line[0]).toBe(0)
    return Array.from(
      { length: width },
      (_, x) => (((line[1 + (x >> 3)] as number) >> (7 - (x & 7))) & 1) === 0,
    )
  })
}

/** Every `scale`-th pixel of a picture whose modules are `scale` pixels wide; fails where one is not of one colour. */
export function modulesOf(pixels: boolean[][], scale: number): boolean[][] {
  for (const [y, row] of pixels.entries()) {
    const first = pixels[y - (y % scale)] as boolean[]
    for (const [x, dark] of row.entries()) {
      if (dark !== first[x - (x % scale)]) throw new Error(`no module at ${x} ${y}`)
    }
  }
  const every = <T>(list: T[]) => list.filter((_, at) => at % scale === 0)
  return every(pixels).map(every)
}
