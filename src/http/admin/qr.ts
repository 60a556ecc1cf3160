/** QR codes for the panel, which carries no encoder. */
import * as v from 'valibot'
import { qrShape } from '#src/lib/qr-code.ts'
import { secretText } from '#src/lib/values.ts'
import { adminOperations, operation } from '../operation.ts'
import { qrCode } from '../schemas/qr.ts'

/** Links and addresses, which are ASCII: other letters the library writes in a way of its own. */
const qrText = v.object({ text: secretText(1024) })

export const qrOperations = adminOperations('Data', [
  operation(
    {
      // Texts are secrets, which must not stand in addresses: not a GET.
      method: 'post',
      path: '/qr',
      scope: 'any',
      summary: 'The QR code of a text, to be drawn; nothing is stored',
      enrolment: true,
      body: qrText,
      ok: qrCode,
    },
    async ({ body }) => {
      return qrShape((await body()).text)
    },
  ),
])
