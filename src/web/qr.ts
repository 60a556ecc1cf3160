/** QR codes as SVG that a strict CSP allows: qrcode-svg's own output carries style attributes. */
import { qrShape } from '#src/lib/qr-code.ts'
import { html, type Markup } from './markup.ts'

/** The text as a QR code, dark on white in every colour scheme. Throws when it is too long for one. */
export function qrSvg(text: string, label = 'QR'): Markup {
  const { size, path } = qrShape(text)
  return html`<svg class="qr" viewBox="0 0 ${size} ${size}" role="img" aria-label="${label}" shape-rendering="crispEdges"><rect width="${size}" height="${size}" fill="#fff"/><path fill="#14171f" d="${path}"/></svg>`
}

/** One that a script draws, by the id `qr`. */
export const emptyQr = (label: string): Markup =>
  html`<svg class="qr" id="qr" viewBox="0 0 1 1" role="img" aria-label="${label}" shape-rendering="crispEdges"><rect width="100%" height="100%" fill="#fff"/><path fill="#14171f"/></svg>`
