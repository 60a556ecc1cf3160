/** Gift codes: list, create one or many, revoke. */
import { Hono } from 'hono'
import * as v from 'valibot'
import { GIFT_STATES } from '#db/gifts.ts'
import { createGifts, giftLinks, revokeGiftCode } from '#src/domain/subscriptions/gifts.ts'
import { omitUndefined } from '#src/lib/omit-undefined.ts'
import { formatTimestamp } from '#src/lib/time.ts'
import { integer, plainText } from '#src/lib/values.ts'
import { type AppEnv, type Http, whileHeard } from '../context.ts'
import { pagedJson, pageOf, pageQuery } from '../paging.ts'
import { readJson, readQuery, searchText } from '../validate.ts'
import { giftView } from '../views.ts'

const DEFAULT_LIMIT = 1000

export const listing = v.object({
  ...pageQuery,
  status: v.optional(v.picklist(GIFT_STATES, `must be one of ${GIFT_STATES.join(', ')}`)),
  node: v.optional(v.string()),
  plan: v.optional(v.string()),
  q: v.optional(searchText),
})

export const creation = v.object({
  node: plainText(64),
  plan: plainText(64),
  count: v.optional(integer(1, 1000)),
  expires_in_days: v.optional(v.nullable(integer(1, 3650)), null),
})

export function giftRoutes(s: Http) {
  return new Hono<AppEnv>()
    .get('/', async (c) => {
      const query = readQuery(c, listing)
      const page = pageOf(query, DEFAULT_LIMIT)
      const { status: state, node, plan, q: text } = query
      const filter = omitUndefined({ state, node, plan, text })
      const { rows, total } = await whileHeard(s, c).reads.ask(
        'gifts',
        filter,
        page,
        formatTimestamp(s.clock.now()),
      )
      const link = giftLinks(s)
      const last = rows.at(-1)
      return pagedJson(
        c,
        rows.map((gift) => giftView(gift, link(gift.row.code))),
        page,
        total,
        last ? { value: last.row.createdAt, rowid: last.rowid } : null,
      )
    })
    .post('/', async (c) => {
      const { node, plan, count, expires_in_days: expiresInDays } = await readJson(c, creation)
      const gift = { node, plan, count: count ?? 1, expiresInDays }
      const codes = await createGifts(s, c.get('actor'), gift)
      const link = giftLinks(s)
      const created = codes.map((code) => ({ code, link: link(code) }))
      return c.json(count === undefined ? created[0] : created)
    })
    .delete('/:code', async (c) => {
      await revokeGiftCode(s, c.get('actor'), c.req.param('code'))
      return c.json({ ok: true })
    })
}
