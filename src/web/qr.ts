/** QR codes as SVG that a strict CSP allows: qrcode-svg's own output carries style attributes. */
import { QUIET_ZONE, qrModules, qrPath } from '#src/lib/qr-code.ts'
import { html, type Markup } from './markup.ts'

/** The text as a QR code, dark on white in every colour scheme. Throws when it is too long for one. */
export function qrSvg(text: string, label = 'QR'): Markup {
  const modules = qrModules(text)
  const size = modules.length + 2 * QUIET_ZONE
  return html`<svg class="qr" viewBox="0 0 ${size} ${size}" role="img" aria-label="${label}" shape-rendering="crispEdges"><rect width="${size}" height="${size}" fill="#fff"/><path fill="#14171f" d="${qrPath(modules)}"/></svg>`
}
