/** Payments: the listing with its review, a pay link for a user, a check, a grant or a refund by hand, orphans. */
import { Hono } from 'hono'
import * as v from 'valibot'
import { listOpenOrphans } from '#db/orphan-payments.ts'
import { findListedPayment } from '#db/payment-listing.ts'
import { tgId } from '#db/values.ts'
import { checkPayment } from '#src/domain/payments/check.ts'
import { createPayment } from '#src/domain/payments/create.ts'
import { settleOrphan } from '#src/domain/payments/orphans.ts'
import { PROVIDER_IDS, providerLabels } from '#src/domain/payments/providers.ts'
import { grantByHand, markRefunded } from '#src/domain/payments/review.ts'
import { readSettings } from '#src/domain/settings.ts'
import { notFound } from '#src/lib/errors.ts'
import { omitUndefined } from '#src/lib/omit-undefined.ts'
import { flag, plainText } from '#src/lib/values.ts'
import { type AppEnv, type Http, whileHeard } from '../context.ts'
import { pagedJson, pageOf, pageQuery } from '../paging.ts'
import { orphanView, paymentView } from '../payment-views.ts'
import {
  queryTgId,
  readId,
  readJson,
  readOptionalJson,
  readQuery,
  searchText,
} from '../validate.ts'

const STATUSES = ['pending', 'paid', 'failed', 'all'] as const

export const listing = v.object({
  ...pageQuery,
  status: v.optional(v.picklist(STATUSES, `must be one of ${STATUSES.join(', ')}`), 'all'),
  provider: v.optional(v.picklist(PROVIDER_IDS, `must be one of ${PROVIDER_IDS.join(', ')}`)),
  node: v.optional(v.string()),
  plan: v.optional(v.string()),
  tg_id: v.optional(queryTgId),
  q: v.optional(searchText),
  review: v.optional(v.picklist(['0', '1', 'true', 'false'], 'must be 1 or 0')),
})

export const creation = v.object({
  tg_id: tgId,
  node: v.optional(plainText(64)),
  plan: plainText(64),
  provider: plainText(64),
  renews: v.optional(v.nullable(plainText(64))),
})

export const refund = v.object({ revoke: v.optional(flag, false) })

export function paymentRoutes(s: Http) {
  const labels = () => providerLabels(readSettings(s))
  return new Hono<AppEnv>()
    .get('/', async (c) => {
      const query = readQuery(c, listing)
      const page = pageOf(query)
      const { provider, node, plan, tg_id: tgId, q: text } = query
      const status = query.status === 'all' ? undefined : query.status
      const review = query.review === '1' || query.review === 'true' ? true : undefined
      const filter = omitUndefined({ status, provider, node, plan, tgId, text, review })
      const { rows, total } = await whileHeard(s, c).reads.ask('payments', filter, page)
      const labelOf = labels()
      const last = rows.at(-1)
      return pagedJson(
        c,
        rows.map((payment) => paymentView(payment, labelOf)),
        page,
        total,
        last ? { value: last.row.createdAt, rowid: last.rowid } : null,
      )
    })
    .post('/', async (c) => {
      const { tg_id: tgId, node, plan, provider, renews } = await readJson(c, creation)
      const request = { tgId, node, plan, provider, renews: renews ?? undefined }
      const made = await createPayment(s, c.get('actor'), { ...request, source: 'admin' })
      return c.json({ id: made.id, pay_url: made.payUrl })
    })
    .get('/orphans', async (c) => {
      const labelOf = labels()
      const orphans = await listOpenOrphans(s.db)
      return c.json(orphans.map((orphan) => orphanView(orphan, labelOf)))
    })
    .post('/orphans/:id/resolve', async (c) => {
      await settleOrphan(s, c.get('actor'), readId(c, 'id'))
      return c.json({ ok: true })
    })
    .post('/:id/check', async (c) => {
      const { status, answered } = await checkPayment(s, c.req.param('id'), c.get('actor'))
      // A header: the interface fixes the body.
      if (!answered) c.header('X-Provider-Answer', 'none')
      return c.json({ status })
    })
    .post('/:id/grant', async (c) =>
      c.json({ status: await grantByHand(s, c.get('actor'), c.req.param('id')) }),
    )
    .post('/:id/refunded', async (c) => {
      const id = c.req.param('id')
      await markRefunded(s, c.get('actor'), id, await readOptionalJson(c, refund))
      const payment = await findListedPayment(s.db, id)
      if (!payment) throw notFound('payment not found')
      return c.json(paymentView(payment, labels()))
    })
}
