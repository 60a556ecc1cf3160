/** Payments: the listing with its review, a pay link for a user, a check, a grant or a refund by hand, orphans. */
import * as v from 'valibot'
import { listOpenOrphans } from '#db/orphan-payments.ts'
import { findListedPayment } from '#db/payment-listing.ts'
import { rowId as id, tgId } from '#db/values.ts'
import { checkPayment } from '#src/domain/payments/check.ts'
import { createPayment } from '#src/domain/payments/create.ts'
import { settleOrphan } from '#src/domain/payments/orphans.ts'
import { providerLabels } from '#src/domain/payments/providers.ts'
import { grantByHand, markRefunded } from '#src/domain/payments/review.ts'
import { readSettings } from '#src/domain/settings.ts'
import { omitUndefined } from '#src/lib/omit-undefined.ts'
import { flag, plainText } from '#src/lib/values.ts'
import { fieldRefusal, refusal } from '#src/refusals/index.ts'
import { type JsonAnswer, paged } from '../answers.ts'
import { type Http, whileHeard } from '../context.ts'
import { adminOperations, operation } from '../operation.ts'
import { onePage, pageOf, pageQuery } from '../paging.ts'
import { orphanView, paymentView } from '../payment-views.ts'
import { ok } from '../schemas/fields.ts'
import { orphanPayment, payLink, payment, paymentStatus, providerId } from '../schemas/payment.ts'
import { queryTgId, readId, searchText } from '../validate.ts'

const STATUSES = ['pending', 'paid', 'failed', 'all'] as const

const listing = v.object({
  ...pageQuery,
  status: v.optional(v.picklist(STATUSES, `must be one of ${STATUSES.join(', ')}`), 'all'),
  provider: v.optional(providerId),
  node: v.optional(v.string()),
  plan: v.optional(v.string()),
  tg_id: v.optional(queryTgId),
  q: v.optional(searchText),
  review: v.optional(v.picklist(['0', '1', 'true', 'false'], 'must be 1 or 0')),
})

const creation = v.variant('kind', [
  v.object({
    kind: v.optional(v.literal('access')),
    tg_id: tgId,
    node: v.optional(plainText(64)),
    plan: plainText(64),
    provider: plainText(64),
    renews: v.optional(v.nullable(plainText(64))),
  }),
  v.object({
    kind: v.literal('traffic'),
    tg_id: tgId,
    pack: plainText(64),
    provider: plainText(64),
    renews: plainText(64),
  }),
])

const refund = v.object({ revoke: v.optional(flag, false) })

const params = { payment_id: v.string() }

const checked: JsonAnswer<typeof paymentStatus> = {
  media: { 'application/json': paymentStatus },
  headers: {
    'X-Provider-Answer': {
      summary: 'none when the provider was asked and gave no answer',
      schema: v.literal('none'),
      always: false,
    },
  },
}

const labelsOf = (s: Http) => providerLabels(readSettings(s))

/** Throws 400 for what is no provider; undefined is all of them. */
function requireProvider({ config: { gateways } }: Http, id: string | undefined) {
  const ids = gateways.map((one) => one.id)
  if (id !== undefined && !ids.includes(id)) {
    throw fieldRefusal('provider', 'not-one-of', { names: ids.join(', ') })
  }
  return id
}

export const paymentOperations = adminOperations('Payments', [
  operation(
    {
      method: 'get',
      path: '/payments',
      scope: 'payments:read',
      summary: 'List and search payments, or those that need a look',
      query: listing,
      ok: paged(payment),
    },
    async ({ s, c, query }) => {
      const wanted = query()
      const page = pageOf(wanted)
      const { node, plan, tg_id: tgId, q: text } = wanted
      const provider = requireProvider(s, wanted.provider)
      const status = wanted.status === 'all' ? undefined : wanted.status
      const review = wanted.review === '1' || wanted.review === 'true' ? true : undefined
      const filter = omitUndefined({ status, provider, node, plan, tgId, text, review })
      const { rows, total } = await whileHeard(s, c).reads.ask('payments', filter, page)
      const labelOf = labelsOf(s)
      const last = rows.at(-1)
      return onePage(
        c,
        rows.map((row) => paymentView(row, labelOf)),
        page,
        total,
        last ? { value: last.row.createdAt, key: last.row.seq } : null,
      )
    },
  ),
  operation(
    {
      method: 'post',
      path: '/payments',
      scope: 'payments:write',
      summary: 'Make a pay link for a user; creates the user if need be',
      body: creation,
      ok: payLink,
      refusals: [404, 429],
    },
    async ({ s, actor, body }) => {
      const { tg_id: tgId, ...wanted } = await body()
      const from = { tgId, source: 'admin' } as const
      const made = await createPayment(s, actor, {
        ...from,
        ...(wanted.kind === 'traffic' ? wanted : { ...wanted, renews: wanted.renews ?? undefined }),
      })
      return { id: made.id, pay_url: made.payUrl }
    },
  ),
  operation(
    {
      method: 'get',
      path: '/payments/orphans',
      scope: 'payments:read',
      summary: 'Money that a provider has and no payment accounts for',
      ok: v.array(orphanPayment),
    },
    async ({ s }) => {
      const labelOf = labelsOf(s)
      const orphans = await s.db.read(listOpenOrphans)
      return orphans.map((orphan) => orphanView(orphan, labelOf))
    },
  ),
  operation(
    {
      method: 'post',
      path: '/payments/orphans/{orphan_id}/resolve',
      scope: 'payments:write',
      summary: 'Mark money without a payment as dealt with',
      params: { orphan_id: id },
      ok,
    },
    async ({ s, actor, params }) => {
      await settleOrphan(s, actor, readId(params.orphan_id))
      return { ok: true }
    },
  ),
  operation(
    {
      method: 'post',
      path: '/payments/{payment_id}/check',
      scope: 'payments:write',
      summary: 'Ask the provider of a pending payment what became of it',
      params,
      ok: checked,
    },
    async ({ s, c, actor, params }) => {
      const { status, answered } = await checkPayment(s, params.payment_id, actor)
      // A header: the interface fixes the body.
      if (!answered) c.header('X-Provider-Answer', 'none')
      return { status }
    },
  ),
  operation(
    {
      method: 'post',
      path: '/payments/{payment_id}/grant',
      scope: 'payments:write',
      summary: 'Grant a payment whatever its provider says',
      params,
      ok: paymentStatus,
      refusals: [400],
    },
    async ({ s, actor, params }) => ({ status: await grantByHand(s, actor, params.payment_id) }),
  ),
  operation(
    {
      method: 'post',
      path: '/payments/{payment_id}/refunded',
      scope: 'payments:write',
      summary: 'Note that the money went back; if wanted, take back what it gave',
      params,
      body: refund,
      bodyOptional: true,
      ok: payment,
    },
    async ({ s, actor, params: { payment_id: paymentId }, body }) => {
      await markRefunded(s, actor, paymentId, await body())
      const found = await s.db.read((q) => findListedPayment(q, paymentId))
      if (!found) throw refusal('payment-not-found')
      return paymentView(found, labelsOf(s))
    },
  ),
])
