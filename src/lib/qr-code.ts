/** QR codes as modules, for whoever draws them. */
import QRCode from 'qrcode-svg'

/** Light modules around the code (ISO/IEC 18004, section 6.3.8). */
export const QUIET_ZONE = 4

/** The dark modules of a text's code, row by column, without the quiet zone. Throws when it is too long for one. */
export const qrModules = (text: string): boolean[][] =>
  new QRCode({ content: text, ecl: 'M', padding: 0 }).qrcode.modules

/** The dark modules as the path of an SVG with the quiet zone: one rectangle per run, as the library's own svg() swaps rows and columns. */
export function qrPath(modules: boolean[][]): string {
  let path = ''
  for (const [y, row] of modules.entries()) {
    let x = 0
    while (x < row.length) {
      let width = 0
      while (row[x + width]) width++
      if (width > 0) path += `M${x + QUIET_ZONE} ${y + QUIET_ZONE}h${width}v1h-${width}z`
      x += width + 1
    }
  }
  return path
}

/** A text's code as an SVG has it: the side of its square, quiet zone included, and the path of its dark modules. Throws when it is too long for one. */
export function qrShape(text: string): { size: number; path: string } {
  const modules = qrModules(text)
  return { size: modules.length + 2 * QUIET_ZONE, path: qrPath(modules) }
}
