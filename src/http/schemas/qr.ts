/** QR codes as the API gives them. */
import * as v from 'valibot'
import { count } from '#db/values.ts'

/** What is dark in a square of `size`, quiet zone included, as the path of an SVG. */
export const qrCode = v.strictObject({
  size: count,
  path: v.pipe(v.string(), v.regex(/^(M\d+ \d+h\d+v1h-\d+z)+$/)),
})
