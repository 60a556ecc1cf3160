/** Crypto Pay's notices. They are signed, and their invoice is asked for all the same: it says more. */
import * as v from 'valibot'
import { sha256Bytes } from '#src/lib/crypto.ts'
import { isJsonObject, jsonObject } from '#src/lib/json.ts'
import type { NoticeRoute } from '#src/ports/payment-gateway.ts'
import { BAD_SIGNATURE, idText, NOTHING, noticeId, proof } from '../notice.ts'
import { isDigestOf } from '../signature.ts'

/** The HMAC is keyed with the SHA-256 of the app's token (help.send.tg, Crypto Pay API, "Verifying webhook updates"). */
export const isSignedByCryptobot = (
  token: string,
  body: Uint8Array,
  signature: string | null,
): boolean => token !== '' && isDigestOf(sha256Bytes(token), body, signature)

/** The address, for the app whose token is in the setting `key`. */
export const noticesOf = (key: string): NoticeRoute => ({
  name: 'cryptobot',
  summary: 'A notice of CryptoBot, signed; what it says is asked back',
  headers: { 'Crypto-Pay-Api-Signature': proof },
  body: v.looseObject({
    payload: v.optional(
      v.looseObject({ invoice_id: v.optional(noticeId), payload: v.optional(noticeId) }),
    ),
  }),
  lenient: true,
  refusals: [401],
  async read({ header, body }, setting) {
    const bytes = await body()
    const signature = header('crypto-pay-api-signature')
    if (!isSignedByCryptobot(setting(key), bytes, signature)) return BAD_SIGNATURE
    const invoice = jsonObject(bytes)?.payload
    if (!isJsonObject(invoice)) return NOTHING
    return { says: 'ask', ids: [invoice.payload, invoice.invoice_id].map(idText) }
  },
})
