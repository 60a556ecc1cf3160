/** Gift codes: list, create one or many, revoke. */

import * as v from 'valibot'
import { GIFT_STATES } from '#db/gifts.ts'
import { createGifts, giftLinks, revokeGiftCode } from '#src/domain/subscriptions/gifts.ts'
import { omitUndefined } from '#src/lib/omit-undefined.ts'
import { formatTimestamp } from '#src/lib/time.ts'
import { integer } from '#src/lib/values.ts'
import { paged } from '../answers.ts'
import { whileHeard } from '../context.ts'
import { adminOperations, operation } from '../operation.ts'
import { onePage, pageOf, pageQuery } from '../paging.ts'
import { ok } from '../schemas/fields.ts'
import { placed, START, startOrder } from '../schemas/place.ts'
import { createdGifts, gift } from '../schemas/plan.ts'
import { searchText } from '../validate.ts'
import { giftView } from '../views.ts'

const DEFAULT_LIMIT = 1000

const listing = v.object({
  ...pageQuery,
  status: v.optional(v.picklist(GIFT_STATES, `must be one of ${GIFT_STATES.join(', ')}`)),
  node: v.optional(v.string()),
  plan: v.optional(v.string()),
  q: v.optional(searchText),
})

const creation = placed({
  count: v.optional(integer(1, 1000)),
  expires_in_days: v.optional(v.nullable(integer(1, 3650)), null),
  ...START,
})

export const giftOperations = adminOperations('Gift codes', [
  operation(
    {
      method: 'get',
      path: '/gift-codes',
      scope: 'gifts:read',
      summary: 'List and search gift codes; revoked ones only when asked for',
      query: listing,
      ok: paged(gift),
    },
    async ({ s, c, query }) => {
      const wanted = query()
      const page = pageOf(wanted, DEFAULT_LIMIT)
      const { status: state, node, plan, q: text } = wanted
      const filter = omitUndefined({ state, node, plan, text })
      const { rows, total } = await whileHeard(s, c).reads.ask(
        'gifts',
        filter,
        page,
        formatTimestamp(s.clock.now()),
      )
      const link = giftLinks(s)
      const last = rows.at(-1)
      return onePage(
        c,
        rows.map((found) => giftView(found, link(found.row.code))),
        page,
        total,
        last ? { value: last.row.createdAt, key: last.row.seq } : null,
      )
    },
  ),
  operation(
    {
      method: 'post',
      path: '/gift-codes',
      scope: 'gifts:write',
      summary: 'Make a gift code, or many of a kind',
      body: creation,
      ok: createdGifts,
    },
    async ({ s, actor, body }) => {
      const { count, expires_in_days: expiresInDays, ...order } = await body()
      const gift = { ...startOrder(order), count: count ?? 1, expiresInDays }
      const codes = await createGifts(s, actor, gift)
      const link = giftLinks(s)
      const created = codes.map((code) => ({ code, link: link(code) }))
      const [only] = created
      return count === undefined && only ? only : created
    },
  ),
  operation(
    {
      method: 'delete',
      path: '/gift-codes/{code}',
      scope: 'gifts:write',
      summary: 'Make a gift code worthless',
      params: { code: v.string() },
      ok,
      refusals: [400],
    },
    async ({ s, actor, params }) => {
      await revokeGiftCode(s, actor, params.code)
      return { ok: true }
    },
  ),
])
