/** QR codes as SVG that a strict CSP allows: qrcode-svg's own output carries style attributes. */
import { QUIET_ZONE, qrModules } from '#src/lib/qr-code.ts'
import { html, type Markup } from './markup.ts'

/** The text as a QR code, dark on white in every colour scheme. Throws when it is too long for one. */
export function qrSvg(text: string, label = 'QR'): Markup {
  const modules = qrModules(text)
  const size = modules.length + 2 * QUIET_ZONE
  return html`<svg class="qr" viewBox="0 0 ${size} ${size}" role="img" aria-label="${label}" shape-rendering="crispEdges"><rect width="${size}" height="${size}" fill="#fff"/><path fill="#14171f" d="${pathOf(modules)}"/></svg>`
}

/** One rectangle per run of dark modules; the library's own svg() swaps rows and columns. */
function pathOf(modules: boolean[][]): string {
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
