/** QR codes as PNG (W3C PNG, third edition): Telegram takes no SVG for a photo. */
import { crc32, deflateSync } from 'node:zlib'
import { utf8 } from './encoding.ts'
import { QUIET_ZONE, qrModules } from './qr-code.ts'

const SIGNATURE = Uint8Array.of(137, 80, 78, 71, 13, 10, 26, 10)
/** Pixels to a module: as many as a byte has bits, so that a line has a byte for each. A code of a link is some 400 pixels wide then. */
const SCALE = 8

function chunk(type: string, data: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(data.length + 12)
  const view = new DataView(bytes.buffer)
  view.setUint32(0, data.length)
  bytes.set(utf8(type), 4)
  bytes.set(data, 8)
  view.setUint32(data.length + 8, crc32(bytes.subarray(4, data.length + 8)))
  return bytes
}

/** IHDR: square, 1 bit of grey, neither interlaced nor filtered beyond the standard's one way. */
function header(size: number): Uint8Array {
  const bytes = new Uint8Array(13)
  const view = new DataView(bytes.buffer)
  view.setUint32(0, size)
  view.setUint32(4, size)
  bytes[8] = 1
  return bytes
}

/** A line of pixels behind its filter byte, 0: a byte to a module, 0 for a dark one. */
function line(row: boolean[], width: number): Uint8Array {
  const bytes = new Uint8Array(1 + width).fill(0xff, 1)
  for (const [at, dark] of row.entries()) if (dark) bytes[1 + QUIET_ZONE + at] = 0
  return bytes
}

/** The text as a QR code, black on white with its quiet zone, as the bytes of a PNG. Throws when it is too long for one. */
export function qrPng(text: string): Uint8Array<ArrayBuffer> {
  const modules = qrModules(text)
  const width = modules.length + 2 * QUIET_ZONE
  const margin = Array<boolean[]>(QUIET_ZONE).fill([])
  const lines = [...margin, ...modules, ...margin].flatMap((row) =>
    Array<Uint8Array>(SCALE).fill(line(row, width)),
  )
  const chunks = [
    SIGNATURE,
    chunk('IHDR', header(width * SCALE)),
    chunk('IDAT', deflateSync(Buffer.concat(lines))),
    chunk('IEND', new Uint8Array()),
  ]
  return new Uint8Array(Buffer.concat(chunks))
}
