/** Reads QR codes of level M in byte mode (ISO/IEC 18004), without correcting errors: a wrong module shows. */
import { expect } from 'vitest'

export type Modules = boolean[][]

/** Light modules around a code. */
export const QUIET = 4

const MASKS: ((row: number, column: number) => boolean)[] = [
  (i, j) => (i + j) % 2 === 0,
  (i) => i % 2 === 0,
  (_, j) => j % 3 === 0,
  (i, j) => (i + j) % 3 === 0,
  (i, j) => (Math.floor(i / 2) + Math.floor(j / 3)) % 2 === 0,
  (i, j) => ((i * j) % 2) + ((i * j) % 3) === 0,
  (i, j) => (((i * j) % 2) + ((i * j) % 3)) % 2 === 0,
  (i, j) => (((i + j) % 2) + ((i * j) % 3)) % 2 === 0,
]

/** The modules that the path of an SVG darkens in a square of `size`. */
export function drawn(size: number, path: string): Modules {
  const modules = Array.from({ length: size }, () => Array<boolean>(size).fill(false))
  for (const [, x, y, width] of path.matchAll(/M(\d+) (\d+)h(\d+)v1h-\3z/g)) {
    const row = modules[Number(y)] as boolean[]
    row.fill(true, Number(x), Number(x) + Number(width))
  }
  expect(path.replace(/M\d+ \d+h(\d+)v1h-\1z/g, '')).toBe('')
  return modules
}

/** Blocks and data codewords per block at level M (ISO/IEC 18004, table 9), for versions 1 to 7. */
const BLOCKS: [blocks: number, dataPerBlock: number][] = [
  [1, 16],
  [1, 28],
  [1, 44],
  [2, 32],
  [2, 43],
  [4, 27],
  [4, 31],
]

/** Finder, timing, alignment, format and version modules of versions 1 to 7. */
function isFunction(size: number, i: number, j: number): boolean {
  const finder = (i < 9 && (j < 9 || j >= size - 8)) || (i >= size - 8 && j < 9)
  const centers = size === 21 ? [] : size < 45 ? [6, size - 7] : [6, (size - 1) / 2, size - 7]
  const last = centers.length - 1
  const [row, column] = [i, j].map((at) =>
    centers.findIndex((center) => Math.abs(at - center) <= 2),
  ) as [number, number]
  // In three corners finders stand in their place.
  const corner = row + column <= last && row % last === 0 && column % last === 0
  const alignment = row >= 0 && column >= 0 && !corner
  const version = size >= 45 && ((i < 6 && j >= size - 11) || (j < 6 && i >= size - 11))
  return finder || alignment || version || i === 6 || j === 6
}

/** Mask of the format information beside the top left finder; fails unless the level is M. */
function readMask(code: Modules): number {
  const columns = [0, 1, 2, 3, 4]
  const bits = columns.reduce((value, j) => (value << 1) | Number(code[8]?.[j]), 0) ^ 0b10101
  expect(bits >> 3).toBe(0)
  return bits & 7
}

function readCodewords(code: Modules): number[] {
  const size = code.length
  const mask = MASKS[readMask(code)] as (i: number, j: number) => boolean
  const bits: number[] = []
  let upwards = true
  for (let right = size - 1; right > 0; right -= 2) {
    if (right === 6) right--
    for (let step = 0; step < size; step++) {
      const i = upwards ? size - 1 - step : step
      for (const j of [right, right - 1]) {
        if (!isFunction(size, i, j)) bits.push(Number(code[i]?.[j] !== mask(i, j)))
      }
    }
    upwards = !upwards
  }
  return Array.from({ length: bits.length >> 3 }, (_, at) =>
    Number.parseInt(bits.slice(at * 8, at * 8 + 8).join(''), 2),
  )
}

/** The text of a code with its quiet zone. */
export function decode(modules: Modules): string {
  const code = modules.slice(QUIET, -QUIET).map((row) => row.slice(QUIET, -QUIET))
  const [blocks, length] = BLOCKS[(code.length - 21) / 4] as [number, number]
  const codewords = readCodewords(code)
  const data: number[] = []
  for (let block = 0; block < blocks; block++) {
    for (let at = 0; at < length; at++) data.push(codewords[at * blocks + block] as number)
  }
  const bits = data.map((byte) => byte.toString(2).padStart(8, '0')).join('')
  expect(bits.slice(0, 4)).toBe('0100')
  const count = Number.parseInt(bits.slice(4, 12), 2)
  const bytes = Array.from({ length: count }, (_, at) =>
    Number.parseInt(bits.slice(12 + at * 8, 20 + at * 8), 2),
  )
  return new TextDecoder().decode(new Uint8Array(bytes))
}
