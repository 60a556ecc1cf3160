/** Notices of the gateways: what they say is for their descriptors to read, what it does is the same for all. */
import type { Reading, Steps } from '#db/engine/database.ts'
import { isUnpaidGuest } from '#db/guests.ts'
import { readByExternalId, readPayment, readPaymentOf } from '#db/payments.ts'
import type { Payment } from '#db/schema/index.ts'
import { askAgainSoon, askProvider, recheckPayment } from '#src/domain/payments/check.ts'
import { confirmPayment } from '#src/domain/payments/confirm.ts'
import { lookUpUnknown } from '#src/domain/payments/orphans.ts'
import { readSettings } from '#src/domain/settings.ts'
import { ApiError } from '#src/lib/errors.ts'
import { inTime } from '#src/lib/pause.ts'
import type {
  GatewayDescriptor,
  Notice,
  NoticeRoute,
  PaidState,
} from '#src/ports/payment-gateway.ts'
import { refusal, refusalOfText } from '#src/refusals/index.ts'
import { type Context, type Http, ipOf } from './context.ts'
import { openOperations, operation, type ServedOperation } from './operation.ts'
import { ok } from './schemas/fields.ts'
import { OPEN_STRINGS, readJsonBytes } from './validate.ts'

const LIMIT_BYTES = 262_144
/** Who sends a notice waits some seconds for the answer, and sends it again. */
const GATEWAY_MS = 3000

/** What a gateway may call a payment: as docs/gateways.md has it. */
const EXTERNAL_ID = /^\w[\w.:-]{0,127}$/

/** What the kinds of notices are heard with. */
interface Hearing {
  s: Http
  c: Context
  provider: string
}

type Said<K extends Notice['says']> = Extract<Notice, { says: K }>

/** Whether it is of a guest who has bought nothing. */
const isOfGuest = (s: Http, { tgId }: Payment): Promise<boolean> =>
  s.db.read((q) => isUnpaidGuest(q, tgId))

/** Asks the provider of a payment; while enough is asked, that of a pending one is left to the reconciler. */
async function recheck(s: Http, payment: Payment): Promise<void> {
  if (payment.externalId === '') return
  const { id } = payment
  const guest = await isOfGuest(s, payment)
  if (!(await s.noticeLimits.mayAsk(payment, guest))) {
    if (payment.status === 'pending') await askAgainSoon(s, id)
    return
  }
  try {
    await recheckPayment(s, payment, { limited: s.noticeLimits.limited(guest) })
  } catch (error) {
    if (!(error instanceof ApiError && error.status === 503)) throw error
    await askAgainSoon(s, id)
  }
}

/** The same of one that is not granted yet. */
async function recheckOpen(s: Http, payment: Payment): Promise<void> {
  if (payment.status !== 'paid') await recheck(s, payment)
}

/** What a refused notice may still be good for, looked into after the answer. */
function followUp(
  { s, c, provider }: Hearing,
  payment: Payment | undefined,
  externalId: string,
): void {
  if (externalId === '') return
  const ip = ipOf(s, c)
  const find = () => s.db.read((q) => readByExternalId(q, provider, externalId))
  s.background.run('look up a payment', async () => {
    const known = payment ?? (await find())
    // The reconciler asks for it, or for its creation once more, and so learns what the provider calls it.
    if (known?.status === 'pending') await askAgainSoon(s, known.id)
    if (!known && (await s.noticeLimits.mayLookUp(ip))) await lookUpUnknown(s, provider, externalId)
  })
}

/** A refund is not answered as heard; its payment is looked at all the same. */
async function noteRefund({ s, provider }: Hearing, externalId: string): Promise<void> {
  const payment = await s.db.read((q) => readByExternalId(q, provider, externalId))
  if (payment?.status !== 'paid' || payment.refundedAt !== null) return
  s.background.run('look up a refund', () => recheck(s, payment))
}

async function refuse(
  hearing: Hearing,
  { status, error, refundOf }: Said<'refused'>,
): Promise<never> {
  if (refundOf !== undefined) await noteRefund(hearing, refundOf)
  throw refusalOfText(error, status)
}

async function askOwn(hearing: Hearing, { id, externalId }: Said<'ask own'>): Promise<void> {
  const { s, provider } = hearing
  const found = await s.db.read((q) => readPayment(q, id))
  const payment = found?.provider === provider ? found : undefined
  if (!payment || payment.externalId === '') {
    if (!found || payment) followUp(hearing, payment, externalId)
    throw refusal('unknown-payment')
  }
  await recheckOpen(s, payment)
}

/** The first payment of a provider that one of these ids names, ours or its own. */
function* readNamed(q: Reading, provider: string, ids: string[]): Steps<Payment | undefined> {
  for (const id of ids) {
    const payment = id === '' ? undefined : yield* readPaymentOf(q, provider, id)
    if (payment) return payment
  }
  return undefined
}

async function ask({ s, provider }: Hearing, { ids }: Said<'ask'>): Promise<void> {
  const payment = await s.db.read((q) => readNamed(q, provider, ids))
  if (payment) await recheckOpen(s, payment)
}

/** What a gateway calls a payment whose creation it never answered: without it nobody can ask about the payment later. */
function toldIdOf(payment: Payment, ids: string[]): { externalId?: string } {
  const theirs = ids.find((id) => id !== payment.id && EXTERNAL_ID.test(id))
  return payment.externalId === '' && theirs !== undefined ? { externalId: theirs } : {}
}

/**
 * What is known of a payment for which a gateway signed: its own answer where the notice leaves the amount open and the gateway
 * counts the payment as paid, too. Anything else it answers changes nothing, and no answer is waited for long: the signature counts.
 */
async function wordOf(s: Http, payment: Payment, told: PaidState): Promise<PaidState> {
  const { amount, test } = told
  if (amount !== undefined || payment.externalId === '' || payment.status === 'paid') return told
  const guest = await isOfGuest(s, payment)
  if (!(await s.noticeLimits.mayAsk(payment, guest))) return told
  const answer = askProvider(s, payment, s.noticeLimits.limited(guest)).catch((error) => {
    // Enough is asked at the moment.
    if (error instanceof ApiError) return null
    throw error
  })
  const found = await inTime(answer, GATEWAY_MS, null)
  return found?.state === 'paid' ? { ...found, test: found.test ?? test } : told
}

async function confirm({ s, provider }: Hearing, { ids, state }: Said<'paid'>): Promise<void> {
  const payment = await s.db.read((q) => readNamed(q, provider, ids))
  if (!payment) return
  const found = await wordOf(s, payment, state)
  await confirmPayment(s, payment.id, found, toldIdOf(payment, ids))
}

async function hear(hearing: Hearing, route: NoticeRoute): Promise<Response> {
  const { s, c } = hearing
  const notice = await route.read(
    {
      header: (name) => c.req.header(name) ?? null,
      body: () => readJsonBytes(c, LIMIT_BYTES, OPEN_STRINGS),
    },
    // As they are when they are asked for: a body may take its time.
    (key) => readSettings(s).ofGateway(key),
  )
  if (notice.says === 'refused') await refuse(hearing, notice)
  if (notice.says === 'ask own') await askOwn(hearing, notice)
  if (notice.says === 'ask') await ask(hearing, notice)
  if (notice.says === 'paid') await confirm(hearing, notice)
  return c.json({ ok: true })
}

/** Those of these gateways, as they describe them. */
export const noticeOperations = (gateways: readonly GatewayDescriptor[]): ServedOperation[] =>
  openOperations(
    'Notices',
    gateways.flatMap(({ id: provider, notices = [] }) =>
      notices.map((route) => {
        const { name, read: _read, ...described } = route
        return operation(
          {
            ...described,
            method: 'post',
            path: `/payments/webhook/${name}`,
            open: 'gateway',
            ok,
          },
          ({ s, c }) => hear({ s, c, provider }, route),
        )
      }),
    ),
  )
