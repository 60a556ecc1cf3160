/** QR codes as modules, for whoever draws them. */
import QRCode from 'qrcode-svg'

/** Light modules around the code (ISO/IEC 18004, section 6.3.8). */
export const QUIET_ZONE = 4

/** The dark modules of a text's code, row by column, without the quiet zone. Throws when it is too long for one. */
export const qrModules = (text: string): boolean[][] =>
  new QRCode({ content: text, ecl: 'M', padding: 0 }).qrcode.modules
