/** Notices of the gateways that provider B can be: signed ones, and Platega's, which carry its merchant's credentials. */
import * as v from 'valibot'
import { equalSecrets } from '#src/lib/crypto.ts'
import { utf8 } from '#src/lib/encoding.ts'
import { type JsonObject, jsonObject } from '#src/lib/json.ts'
import type {
  Notice,
  NoticeRequest,
  NoticeRoute,
  ReadSetting,
  ShopCredentials,
} from '#src/ports/payment-gateway.ts'
import { BAD_SIGNATURE, idText, NOTHING, noticeId, proof } from '../notice.ts'
import { isDigestOf } from '../signature.ts'

const PAID = new Set(['succeeded', 'success', 'paid'])

/** The HMAC-SHA256 of the body as it came, keyed with the secret; an empty one proves nothing. */
export const isSignedByProviderB = (
  secret: string,
  body: Uint8Array,
  signature: string | null,
): boolean => secret !== '' && isDigestOf(utf8(secret), body, signature)

/** Platega signs nothing: its callback carries the merchant's own id and secret (docs.platega.io, "Callback"). */
export function isPlategaCallback(
  shop: Pick<ShopCredentials, 'shopId' | 'secret'>,
  headers: { merchantId: string | null; secret: string | null },
): boolean {
  if (shop.shopId === '' || shop.secret === '') return false
  const known = equalSecrets(headers.merchantId ?? '', shop.shopId)
  return equalSecrets(headers.secret ?? '', shop.secret) && known
}

/** The amount of a notice in whole units; undefined when it has none. cisPay counts in hundredths. */
function amountOf({ amount }: JsonObject, inHundredths: boolean): string | undefined {
  if (amount === undefined || amount === null) return undefined
  const text = typeof amount === 'number' || typeof amount === 'string' ? String(amount) : '?'
  if (!inHundredths) return text
  return /^\d{3,}$/.test(text) ? `${text.slice(0, -2)}.${text.slice(-2)}` : '?'
}

async function readSigned(request: NoticeRequest, shop: () => ShopCredentials): Promise<Notice> {
  const body = await request.body()
  const { secret, preset } = shop()
  const signature = request.header('x-signature') || request.header('signature')
  if (!isSignedByProviderB(secret, body, signature)) return BAD_SIGNATURE
  const notice = jsonObject(body)
  const status = typeof notice?.status === 'string' ? notice.status.toLowerCase() : ''
  if (!notice || !PAID.has(status)) return NOTHING
  const cispay = preset === 'cispay'
  return {
    says: 'paid',
    ids: [notice.id, notice.paymentId].map(idText),
    state: {
      state: 'paid',
      amount: amountOf(notice, cispay),
      currency: typeof notice.currency === 'string' ? notice.currency : undefined,
      test: cispay ? notice.is_sandbox === true : undefined,
    },
  }
}

async function readPlatega(request: NoticeRequest, shop: () => ShopCredentials): Promise<Notice> {
  const known = shop()
  if (known.preset !== 'platega') return { says: 'refused', status: 404, error: 'not found' }
  const sent = { merchantId: request.header('x-merchantid'), secret: request.header('x-secret') }
  if (!isPlategaCallback(known, sent)) return BAD_SIGNATURE
  const notice = jsonObject(await request.body())
  return notice ? { says: 'ask', ids: [notice.id, notice.payload].map(idText) } : NOTHING
}

/** The addresses, for the shop of these settings. */
export const noticesOf = (shop: (read: ReadSetting) => ShopCredentials): NoticeRoute[] => [
  {
    name: 'provider_b',
    summary: 'A notice of the second gateway, with the HMAC of its body',
    headers: { 'X-Signature': proof, Signature: proof },
    body: v.looseObject({
      id: v.optional(noticeId),
      paymentId: v.optional(noticeId),
      status: v.optional(v.string()),
      amount: v.optional(v.union([v.string(), v.number()])),
      currency: v.optional(v.string()),
    }),
    lenient: true,
    refusals: [401],
    read: (request, setting) => readSigned(request, () => shop(setting)),
  },
  {
    name: 'platega',
    summary: 'A notice of Platega, with its credentials; what it says is asked back',
    headers: { 'X-MerchantId': proof, 'X-Secret': proof },
    body: v.looseObject({ id: v.optional(noticeId), payload: v.optional(noticeId) }),
    lenient: true,
    refusals: [401, 404],
    read: (request, setting) => readPlatega(request, () => shop(setting)),
  },
]
