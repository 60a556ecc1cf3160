/** A gateway that the service has never heard of, as docs/gateways.md says to add one: all of it is this folder. */
import { createHmac } from 'node:crypto'
import * as v from 'valibot'
import {
  callGateway,
  idSchema,
  isRefusal,
  moneySchema,
  readAnswer,
  unanswered,
  wholeUnits,
} from '#src/integrations/payments/gateway-call.ts'
import {
  BAD_SIGNATURE,
  idText,
  NOTHING,
  noticeId,
  proof,
} from '#src/integrations/payments/notice.ts'
import { isDigestOf } from '#src/integrations/payments/signature.ts'
import { utf8 } from '#src/lib/encoding.ts'
import { jsonObject } from '#src/lib/json.ts'
import { secretText, webLink } from '#src/lib/values.ts'
import type {
  GatewayDescriptor,
  GatewayParts,
  NoticeRoute,
  PaymentGateway,
  PaymentState,
} from '#src/ports/payment-gateway.ts'

const invoice = v.object({
  id: idSchema,
  state: v.picklist(['open', 'paid', 'void']),
  order: v.string(),
  amount: moneySchema,
  currency: v.string(),
  url: webLink,
})

function toState({ state, order, amount, currency }: v.InferOutput<typeof invoice>): PaymentState {
  if (state === 'open') return { state: 'pending' }
  if (state === 'void') return { state: 'failed', reason: 'void' }
  return { state: 'paid', paymentId: order, amount, currency }
}

function connect({ apiUrl, outbound, timeoutMs = 10_000 }: GatewayParts): PaymentGateway {
  const call = (method: 'GET' | 'POST', path: string, secret: string, json?: unknown) =>
    callGateway(outbound, {
      method,
      url: apiUrl + path,
      headers: { authorization: `Bearer ${secret}` },
      json,
      signal: AbortSignal.timeout(timeoutMs),
    })
  return {
    idempotent: true,
    async create(order, { secret }) {
      const { paymentId, amount, currency } = order
      const answer = await call('POST', '/invoices', secret, {
        order: paymentId,
        amount: wholeUnits(amount),
        currency,
        notify: order.noticeUrl,
      })
      const made = readAnswer(invoice, answer)
      if (made)
        return { outcome: 'created', externalId: made.id, payUrl: made.url, expiresAt: null }
      if (isRefusal(answer)) return { outcome: 'refused', reason: `answered ${answer.status}` }
      return { outcome: 'unknown', ...unanswered(answer) }
    },
    async check({ externalId }, { secret }) {
      const answer = await call('GET', `/invoices/${encodeURIComponent(externalId)}`, secret)
      const found = readAnswer(invoice, answer)
      return found ? toState(found) : { state: 'unknown', ...unanswered(answer) }
    },
    async verify({ secret }) {
      const answer = await call('GET', '/account', secret)
      if (answer.status === 200) return { outcome: 'accepted' }
      if (answer.status === 401) return { outcome: 'rejected' }
      return { outcome: 'unreachable', reason: unanswered(answer).reason }
    },
  }
}

/** What the gateway signs its notices with. */
export const signExample = (body: string, secret: string): string =>
  createHmac('sha256', secret).update(body).digest('hex')

const notices: NoticeRoute = {
  name: 'example',
  summary: 'A notice of the example gateway, signed',
  headers: { 'X-Example-Signature': proof },
  body: v.looseObject({ order: v.optional(noticeId), state: v.optional(v.string()) }),
  lenient: true,
  refusals: [401],
  async read({ header, body }, setting) {
    const bytes = await body()
    const secret = setting('EXAMPLE_KEY')
    if (secret === '' || !isDigestOf(utf8(secret), bytes, header('x-example-signature'))) {
      return BAD_SIGNATURE
    }
    const notice = jsonObject(bytes)
    if (notice?.state !== 'paid') return NOTHING
    return { says: 'paid', ids: [idText(notice.order)], state: { state: 'paid' } }
  },
}

export const example: GatewayDescriptor = {
  id: 'example',
  docs: 'Example Pay',
  enabledKey: 'EXAMPLE_ENABLED',
  settings: [
    {
      key: 'EXAMPLE_SHOP',
      name: 'shop',
      label: { en: 'Shop', ru: 'Магазин' },
      value: secretText(64),
      docs: 'id of the shop',
    },
    {
      key: 'EXAMPLE_KEY',
      name: 'key',
      label: { en: 'Key', ru: 'Ключ' },
      secret: true,
      value: secretText(256),
      docs: 'its key',
    },
  ],
  apiUrl: { key: 'EXAMPLE_API_URL', fallback: 'https://api.example.com' },
  shop: (read) => ({ shopId: read('EXAMPLE_SHOP'), secret: read('EXAMPLE_KEY') }),
  isComplete: ({ shopId, secret }) => shopId !== '' && secret !== '',
  label: () => 'Example Pay',
  notices: [notices],
  connect,
}
