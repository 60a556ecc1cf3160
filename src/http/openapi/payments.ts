/** Payments: the cabinet's shop, notices of the providers. */
import * as v from 'valibot'
import { rowId as id, token } from '#db/values.ts'
import { paymentOperations as adminPayments } from '#src/http/admin/payments.ts'
import { ok } from '#src/http/schemas/fields.ts'
import { payLink, shop } from '#src/http/schemas/payment.ts'
import { purchase } from '#src/http/shop.ts'
import { openOperations } from './operation.ts'

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

export const paymentOperations = [...adminPayments, ...cabinet, ...notices]
