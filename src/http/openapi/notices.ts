/** Notices of the gateways. */
import * as v from 'valibot'
import { ok } from '#src/http/schemas/fields.ts'
import { openOperations } from '../operation.ts'

const externalId = v.union([v.string(), v.number()])

/** A header that a notice proves itself by. */
const proof = v.pipe(v.string(), v.regex(/^[\x21-\x7e]{1,256}$/))

export const noticeOperations = openOperations('Notices', [
  {
    method: 'post',
    path: '/payments/webhook/provider_a',
    summary: 'A notice of YooKassa; what it says is asked back',
    body: v.looseObject({
      event: v.picklist(['payment.succeeded', 'payment.waiting_for_capture', 'payment.canceled']),
      object: v.looseObject({
        id: v.optional(externalId),
        metadata: v.looseObject({ payment_id: v.pipe(v.string(), v.minLength(1)) }),
      }),
    }),
    ok,
  },
  {
    method: 'post',
    path: '/payments/webhook/provider_b',
    summary: 'A notice of the second gateway, with the HMAC of its body',
    headers: { 'X-Signature': proof, Signature: proof },
    body: v.looseObject({
      id: v.optional(externalId),
      paymentId: v.optional(externalId),
      status: v.optional(v.string()),
      amount: v.optional(v.union([v.string(), v.number()])),
      currency: v.optional(v.string()),
    }),
    lenient: true,
    ok,
    refusals: [401],
  },
  {
    method: 'post',
    path: '/payments/webhook/platega',
    summary: 'A notice of Platega, with its credentials; what it says is asked back',
    headers: { 'X-MerchantId': proof, 'X-Secret': proof },
    body: v.looseObject({ id: v.optional(externalId), payload: v.optional(externalId) }),
    lenient: true,
    ok,
    refusals: [401, 404],
  },
  {
    method: 'post',
    path: '/payments/webhook/cryptobot',
    summary: 'A notice of CryptoBot, signed; what it says is asked back',
    headers: { 'Crypto-Pay-Api-Signature': proof },
    body: v.looseObject({
      payload: v.optional(
        v.looseObject({ invoice_id: v.optional(externalId), payload: v.optional(externalId) }),
      ),
    }),
    lenient: true,
    ok,
    refusals: [401],
  },
])
