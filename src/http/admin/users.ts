/** All users: the listing, a new customer, changes of many at once. */

import * as v from 'valibot'
import { USER_SORTS, USER_STATES, userCursor } from '#db/user-listing.ts'
import { customerName, email, note, tag, tags, telegramId, termDays, tgId } from '#db/values.ts'
import { createCustomer } from '#src/domain/customers/users.ts'
import { actOnUsers, type BulkAction } from '#src/domain/subscriptions/bulk.ts'
import { omitUndefined } from '#src/lib/omit-undefined.ts'
import { subLink } from '#src/lib/sub-link.ts'
import { formatTimestamp } from '#src/lib/time.ts'
import { integer } from '#src/lib/values.ts'
import { paged } from '../answers.ts'
import { whileHeard } from '../context.ts'
import { adminOperations, operation } from '../operation.ts'
import { onePage, pageOf, pageQuery } from '../paging.ts'
import { placed, START, startOrder } from '../schemas/place.ts'
import { bulkOutcomes, createdUser, listedUser } from '../schemas/user.ts'
import { queryFlag, searchText } from '../validate.ts'
import { listedUserView } from '../views.ts'
import { usersAsCsv } from './users-csv.ts'

const STATES = [...USER_STATES, 'all'] as const
/** The words from before subscriptions could be disabled. */
const SAID_STATES = 'must be one of active, held, expired, none, all'

const listing = v.object({
  ...pageQuery,
  q: v.optional(searchText),
  status: v.optional(v.picklist(STATES, SAID_STATES), 'all'),
  banned: v.optional(queryFlag),
  tag: v.optional(tag),
  sort: v.optional(v.picklist(USER_SORTS, `must be one of ${USER_SORTS.join(', ')}`), 'created_at'),
  format: v.optional(v.picklist(['json', 'csv'], 'must be json or csv'), 'json'),
})

/** How long what is granted lasts, in place of its plan's days. */
const term = { days: v.optional(termDays), ...START }

export const order = placed(term)

/** What an admin writes of a customer. */
export const profile = v.object({
  name: v.optional(v.nullable(customerName)),
  email: v.optional(v.nullable(email)),
  telegram_id: v.optional(v.nullable(telegramId)),
  note: v.optional(
    v.nullable(
      v.pipe(
        note,
        v.transform((text) => text.trim() || null),
      ),
    ),
  ),
  tags: v.optional(tags),
})

export const profileOf = ({ telegram_id: telegramId, ...rest }: v.InferOutput<typeof profile>) =>
  omitUndefined({ ...rest, telegramId })

const tgIds = v.pipe(
  v.array(tgId, 'must be a list of Telegram ids'),
  v.minLength(1, 'must not be empty'),
  v.maxLength(1000, 'must have at most 1000 ids'),
)

const bulk = v.variant(
  'action',
  [
    placed({ action: v.literal('grant'), tg_ids: tgIds, ...term }),
    v.object({ action: v.literal('extend'), tg_ids: tgIds, days: integer(1, 3650) }),
    v.object({ action: v.picklist(['ban', 'unban']), tg_ids: tgIds }),
    v.object({
      action: v.literal('group'),
      tg_ids: tgIds,
      node_group: v.nullable(v.string('must be a string')),
    }),
  ],
  'must be one of grant, extend, ban, unban',
)

function actionOf(wanted: v.InferOutput<typeof bulk>): BulkAction {
  if (wanted.action === 'group') return { action: wanted.action, nodeGroup: wanted.node_group }
  return wanted.action === 'grant' ? startOrder(wanted) : wanted
}

export const usersOperations = adminOperations('Users', [
  operation(
    {
      method: 'get',
      path: '/users',
      scope: 'users:read',
      summary: 'List and search users, as JSON or as a table (CSV)',
      query: listing,
      ok: paged(listedUser, { 'text/csv': 'text' }),
    },
    async ({ s, c, query }) => {
      const { q: text, status, banned, tag, sort, format, ...wanted } = query()
      const page = pageOf(wanted)
      const state = status === 'all' ? undefined : status
      const filter = omitUndefined({ text, banned, tag, state })
      if (format === 'csv') return usersAsCsv(s, filter, sort, page)
      const now = formatTimestamp(s.clock.now())
      const { rows, total } = await whileHeard(s, c).reads.ask('users', filter, sort, page, now)
      const last = rows.at(-1)
      return onePage(c, rows.map(listedUserView), page, total, last ? userCursor(last, sort) : null)
    },
  ),
  operation(
    {
      method: 'post',
      path: '/users',
      scope: 'users:write',
      summary: 'Create a customer, who need not be on Telegram',
      body: profile,
      ok: createdUser,
    },
    async ({ s, actor, body }) => {
      const { tgId, token } = await createCustomer(s, actor, profileOf(await body()))
      return { tg_id: tgId, token, sub_link: subLink(s.config, token) }
    },
  ),
  operation(
    {
      method: 'post',
      path: '/users/bulk',
      scope: 'users:write',
      summary: 'Grant, extend, ban, unban or regroup many users at once',
      body: bulk,
      ok: bulkOutcomes,
    },
    async ({ s, actor, body }) => {
      const wanted = await body()
      const outcomes = await actOnUsers(s, actor, wanted.tg_ids, actionOf(wanted))
      return outcomes.map(({ tgId, error }) =>
        error === null
          ? { tg_id: tgId, ok: true as const }
          : { tg_id: tgId, ok: false as const, error },
      )
    },
  ),
])
