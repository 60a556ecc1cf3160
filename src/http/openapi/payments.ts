/** Payments: the admin's, the cabinet's shop, notices of the providers. */
import * as v from 'valibot'
import { rowId as id, token } from '#db/values.ts'
import { creation, listing, refund } from '#src/http/admin/payments.ts'
import { ok } from '#src/http/schemas/fields.ts'
import { orphanPayment, payLink, payment, paymentStatus, shop } from '#src/http/schemas/payment.ts'
import { purchase } from '#src/http/shop.ts'
import { adminOperations, type JsonAnswer, openOperations, paged } from './operation.ts'

const params = { payment_id: v.string() }

const checkedPayment: JsonAnswer<typeof paymentStatus> = {
  media: { 'application/json': paymentStatus },
  headers: {
    'X-Provider-Answer': {
      summary: 'none when the provider was asked and gave no answer',
      schema: v.literal('none'),
      always: false,
    },
  },
}

export const adminPaymentOperations = adminOperations('Payments', [
  {
    method: 'get',
    path: '/payments',
    summary: 'List and search payments, or those that need a look',
    query: listing,
    ok: paged(payment),
  },
  {
    method: 'post',
    path: '/payments',
    summary: 'Make a pay link for a user; creates the user if need be',
    body: creation,
    ok: payLink,
    refusals: [404, 429],
  },
  {
    method: 'get',
    path: '/payments/orphans',
    summary: 'Money that a provider has and no payment accounts for',
    ok: v.array(orphanPayment),
  },
  {
    method: 'post',
    path: '/payments/orphans/{orphan_id}/resolve',
    summary: 'Mark money without a payment as dealt with',
    params: { orphan_id: id },
    ok,
  },
  {
    method: 'post',
    path: '/payments/{payment_id}/check',
    summary: 'Ask the provider of a pending payment what became of it',
    params,
    ok: checkedPayment,
  },
  {
    method: 'post',
    path: '/payments/{payment_id}/grant',
    summary: 'Grant a payment whatever its provider says',
    params,
    ok: paymentStatus,
    refusals: [400],
  },
  {
    method: 'post',
    path: '/payments/{payment_id}/refunded',
    summary: 'Note that the money went back; if wanted, take back what it gave',
    params,
    body: refund,
    bodyOptional: true,
    ok: payment,
  },
])

const cabinet = openOperations('Shop', [
  {
    path: '/api/cabinet/{token}/shop',
    summary: 'What the owner of a link can buy, with their subscriptions and devices',
    params: { token },
    ok: shop,
  },
  {
    method: 'post',
    path: '/api/cabinet/{token}/payments',
    summary: 'Make a pay link; the same order again gets the same one',
    params: { token },
    body: purchase,
    ok: payLink,
    refusals: [429],
  },
  {
    method: 'delete',
    path: '/api/cabinet/{token}/devices/{device_id}',
    summary: 'Forget an own device, 3 a day; an unknown one is forgotten already',
    params: { token, device_id: id },
    ok,
    refusals: [429],
  },
])

const externalId = v.union([v.string(), v.number()])

/** A header that a notice proves itself by. */
const proof = v.pipe(v.string(), v.regex(/^[\x21-\x7e]{1,256}$/))

const notices = openOperations('Notices', [
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

export const paymentOperations = [...adminPaymentOperations, ...cabinet, ...notices]
