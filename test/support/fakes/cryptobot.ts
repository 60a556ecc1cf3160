/** Crypto Pay, as far as it is used: https://help.send.tg/en/articles/10279948-crypto-pay-api. Invoices are driven by the test. */
import { createHash, createHmac } from 'node:crypto'
import { type FakeSystem, type Reply, startFakeSystem } from './system.ts'

/** An invoice as the API shows it; `token` is whose app made it. */
// biome-ignore lint/suspicious/noExplicitAny: fields of the API
type FakeInvoice = Record<string, any> & { invoice_id: number; status: string }

export interface FakeCryptobot extends FakeSystem {
  tokens: string[]
  invoices: Map<number, FakeInvoice & { token: string }>
  /** What everything but getMe answers with instead. */
  refusal: Reply | null
  now(): Date
  pay(id: number | string): void
  expire(id: number | string): void
  /** The update of a paid invoice, with its signature. */
  update(id: number | string): { headers: Record<string, string>; body: string }
  /** Sends it; gives the status of the answer. */
  notify(url: string, id: number | string): Promise<number>
}

const error = (code: number, name: string): Reply => ({
  status: code,
  json: { ok: false, error: { code, name } },
})
const ok = (result: unknown): Reply => ({ status: 200, json: { ok: true, result } })

const FIATS = ['USD', 'EUR', 'RUB', 'BYN', 'UAH', 'GBP', 'CNY', 'KZT', 'UZS', 'GEL', 'TRY', 'AMD']

/** The name of what is wrong with an invoice. */
// biome-ignore lint/suspicious/noExplicitAny: a request's body
function faultOf(body: any): string | null {
  const { expires_in: life, paid_btn_name: button, paid_btn_url: url } = body
  if (body.currency_type !== 'fiat') return 'CURRENCY_TYPE_INVALID'
  if (!FIATS.includes(body.fiat)) return 'FIAT_INVALID'
  if (!/^\d+\.\d+$/.test(body.amount) || Number(body.amount) <= 0) return 'AMOUNT_INVALID'
  if ((body.description ?? '').length > 1024) return 'DESCRIPTION_TOO_LONG'
  if ((body.payload ?? '').length > 4096) return 'PAYLOAD_TOO_LONG'
  if (life !== undefined && !(life >= 1 && life <= 2_678_400)) return 'EXPIRES_IN_INVALID'
  const isButton = button === undefined || /^https?:\/\/[^/]+\.[^/]+/.test(url ?? '')
  return isButton ? null : 'PAID_BTN_URL_INVALID'
}

export async function startFakeCryptobot(tokens: string[]): Promise<FakeCryptobot> {
  // biome-ignore lint/suspicious/noExplicitAny: a request's body
  function create(token: string, body: any): Reply {
    const fault = faultOf(body)
    if (fault) return error(400, fault)
    const invoice_id = 828_733 + fake.invoices.size
    const hash = `IV${invoice_id}`
    const { currency_type, fiat, description, payload, paid_btn_name, paid_btn_url } = body
    const invoice = {
      invoice_id,
      hash,
      currency_type,
      fiat,
      amount: String(Number(body.amount)),
      pay_url: `https://t.me/CryptoTestnetBot?start=${hash}`,
      bot_invoice_url: `https://t.me/CryptoTestnetBot?start=${hash}`,
      mini_app_invoice_url: `https://t.me/CryptoTestnetBot/app?startapp=invoice-${hash}&mode=compact`,
      web_app_invoice_url: `https://testnet-app.send.tg/invoices/${hash}`,
      description,
      status: 'active',
      created_at: fake.now().toISOString(),
      allow_comments: body.allow_comments ?? true,
      allow_anonymous: body.allow_anonymous ?? true,
      expiration_date: new Date(fake.now().getTime() + body.expires_in * 1000).toISOString(),
      ...(paid_btn_name ? { paid_btn_name, paid_btn_url } : {}),
      payload,
    }
    fake.invoices.set(invoice_id, { ...invoice, token })
    return ok(invoice)
  }

  function find(token: string, ids: string): Reply {
    const wanted = ids.split(',').map(Number)
    const items = [...fake.invoices.values()]
      .filter((one) => one.token === token && wanted.includes(one.invoice_id))
      .map(({ token: _, ...invoice }) => invoice)
    return ok({ items })
  }

  const system = await startFakeSystem(({ path, headers, body }) => {
    const token = headers['crypto-pay-api-token'] ?? ''
    if (!fake.tokens.includes(token)) return error(401, 'UNAUTHORIZED')
    if (path === '/api/getMe') {
      return ok({ app_id: 1, name: 'Shop', payment_processing_bot_username: 'CryptoBot' })
    }
    if (fake.refusal) return fake.refusal
    if (path === '/api/createInvoice') return create(token, JSON.parse(body))
    if (path === '/api/getInvoices') return find(token, String(JSON.parse(body).invoice_ids ?? ''))
    return error(405, 'METHOD_NOT_FOUND')
  })

  const get = (id: number | string) => {
    const invoice = fake.invoices.get(Number(id))
    if (!invoice) throw new Error(`no invoice ${id}`)
    return invoice
  }
  const { reset } = system
  const fake: FakeCryptobot = Object.assign(system, {
    url: `${system.url}/api`,
    tokens,
    invoices: new Map<number, FakeInvoice & { token: string }>(),
    refusal: null,
    now: () => new Date(),
    reset() {
      reset()
      fake.invoices.clear()
      fake.refusal = null
      fake.now = () => new Date()
    },
    pay(id: number | string) {
      Object.assign(get(id), {
        status: 'paid',
        paid_asset: 'USDT',
        paid_amount: '2.11',
        paid_fiat_rate: '94.223484',
        fee_asset: 'USDT',
        fee_amount: '0.0633',
        fee_in_usd: '0.0632758',
        paid_usd_rate: '0.99961845',
        paid_at: fake.now().toISOString(),
        paid_anonymously: false,
      })
    },
    expire(id: number | string) {
      get(id).status = 'expired'
    },
    update(id: number | string) {
      const { token, ...payload } = get(id)
      const body = JSON.stringify({
        update_id: 37_694_754,
        update_type: 'invoice_paid',
        request_date: fake.now().toISOString(),
        payload,
      })
      const key = createHash('sha256').update(token).digest()
      const signature = createHmac('sha256', key).update(body).digest('hex')
      return {
        headers: { 'content-type': 'application/json', 'crypto-pay-api-signature': signature },
        body,
      }
    },
    async notify(url: string, id: number | string) {
      const answer = await fetch(url, { method: 'POST', ...fake.update(id) })
      await answer.body?.cancel()
      return answer.status
    },
  })
  return fake
}
