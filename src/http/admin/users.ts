/** Users: the listing, the card, grants, devices and the device limit, note and ban, another link, deletion. */
import { Hono } from 'hono'
import * as v from 'valibot'
import { listDevices } from '#db/devices.ts'
import type { PageRequest } from '#db/paging.ts'
import { listOfUser } from '#db/subscriptions.ts'
import {
  findListedUser,
  USER_SORTS,
  USER_STATES,
  type UserFilter,
  type UserSort,
  userCursor,
} from '#db/user-listing.ts'
import { findUser, hasProfiles } from '#db/users.ts'
import {
  customerName,
  email,
  MAX_HWID_LIMIT,
  note,
  tag,
  tags,
  telegramId,
  tgId,
} from '#db/values.ts'
import { removeDevice, setHwidLimit, userDevices } from '#src/domain/customers/devices.ts'
import { rotateToken } from '#src/domain/customers/links.ts'
import { createCustomer, editUser, removeUser } from '#src/domain/customers/users.ts'
import { readSettings } from '#src/domain/settings.ts'
import { actOnUsers } from '#src/domain/subscriptions/bulk.ts'
import { grant } from '#src/domain/subscriptions/subscriptions.ts'
import { badRequest, errorMessage, notFound } from '#src/lib/errors.ts'
import { omitUndefined } from '#src/lib/omit-undefined.ts'
import { subLink } from '#src/lib/sub-link.ts'
import { formatTimestamp } from '#src/lib/time.ts'
import { flag, integer, plainText } from '#src/lib/values.ts'
import { type AppEnv, type Http, whileHeard } from '../context.ts'
import { csvResponse } from '../csv.ts'
import { pagedJson, pageOf, pageQuery } from '../paging.ts'
import {
  queryFlag,
  readId,
  readJson,
  readOptionalJson,
  readQuery,
  readTgId,
  searchText,
} from '../validate.ts'
import {
  customerView,
  deviceView,
  listedUserView,
  profileView,
  subscriptionView,
} from '../views.ts'

const STATES = [...USER_STATES, 'all'] as const

export const listing = v.object({
  ...pageQuery,
  q: v.optional(searchText),
  status: v.optional(v.picklist(STATES, `must be one of ${STATES.join(', ')}`), 'all'),
  banned: v.optional(queryFlag),
  tag: v.optional(tag),
  sort: v.optional(v.picklist(USER_SORTS, `must be one of ${USER_SORTS.join(', ')}`), 'created_at'),
  format: v.optional(v.picklist(['json', 'csv'], 'must be json or csv'), 'json'),
})

export const order = v.object({ node: plainText(64), plan: plainText(64) })

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

export const edition = v.object({ ...profile.entries, banned: v.optional(flag) })

const profileOf = ({ telegram_id: telegramId, ...rest }: v.InferOutput<typeof profile>) =>
  omitUndefined({ ...rest, telegramId })

/** `keep_imported`: links that came from another panel go on. */
export const rotation = v.object({ keep_imported: v.optional(flag, false) })

const tgIds = v.pipe(
  v.array(tgId, 'must be a list of Telegram ids'),
  v.minLength(1, 'must not be empty'),
  v.maxLength(1000, 'must have at most 1000 ids'),
)

export const bulk = v.variant(
  'action',
  [
    v.object({ action: v.literal('grant'), tg_ids: tgIds, ...order.entries }),
    v.object({ action: v.literal('extend'), tg_ids: tgIds, days: integer(1, 3650) }),
    v.object({ action: v.picklist(['ban', 'unban']), tg_ids: tgIds }),
  ],
  'must be one of grant, extend, ban, unban',
)

/** Read by `parseHwidLimit`, which takes what these words say. */
export const hwidLimit = v.object({
  limit: v.optional(
    v.pipe(
      v.unknown(),
      v.metadata({
        anyOf: [
          { type: 'integer', minimum: 0, maximum: MAX_HWID_LIMIT },
          { type: 'string', pattern: '^\\d{0,7}$' },
          { enum: [null, false] },
        ],
      }),
    ),
  ),
})

/** A falsy limit means the fallback limit; else an integer or a string of digits. Throws 400. */
function parseHwidLimit(limit: unknown): number | null {
  if (limit === undefined || limit === null || limit === false || limit === '') return null
  const text = typeof limit === 'number' || typeof limit === 'string' ? String(limit) : ''
  if (!/^\d{1,7}$/.test(text) || Number(text) > MAX_HWID_LIMIT) {
    throw badRequest(`limit must be a whole number up to ${MAX_HWID_LIMIT}`)
  }
  return Number(text) === 0 ? null : Number(text)
}

/** How many users are read between two turns of other requests. */
const CSV_BATCH = 500

const CSV_COLUMNS = [
  'tg_id',
  'username',
  'created_at',
  'note',
  'banned_at',
  'blocked_at',
  'active',
  'held',
  'next_expiry',
  'devices',
] as const

/** Those of customers who did not come by Telegram: in the table only where there are such. */
const CUSTOMER_COLUMNS = ['telegram_id', 'name', 'email', 'tags'] as const

/** All users that match, from the page's cursor on. */
function usersAsCsv(
  s: Http,
  filter: UserFilter,
  sort: UserSort,
  page: PageRequest,
): Promise<Response> {
  const now = formatTimestamp(s.clock.now())
  const columns = [...CSV_COLUMNS, ...(hasProfiles(s.db) ? CUSTOMER_COLUMNS : [])]
  async function* batches() {
    let cursor = page.cursor
    for (;;) {
      const { rows, next } = await s.reads.ask(
        'usersAlone',
        filter,
        sort,
        { ...page, limit: CSV_BATCH, cursor },
        now,
      )
      yield rows.map((user) => {
        const { tags, ...view } = { ...customerView(user), ...listedUserView(user) }
        const row = { ...view, tags: tags.join(' ') }
        return columns.map((column) => row[column])
      })
      if (next === null) return
      cursor = next
    }
  }
  return csvResponse(`users-${now.slice(0, 10)}.csv`, columns, batches(), (error) => {
    s.fatal(error)
    s.log.error('a download broke off', { what: 'users', reason: errorMessage(error) })
  })
}

export function userRoutes(s: Http) {
  return new Hono<AppEnv>()
    .get('/', async (c) => {
      const query = readQuery(c, listing)
      const { q: text, status, banned, tag, sort } = query
      const page = pageOf(query)
      const filter = omitUndefined({
        text,
        banned,
        tag,
        state: status === 'all' ? undefined : status,
      })
      if (query.format === 'csv') return usersAsCsv(s, filter, sort, page)
      const now = formatTimestamp(s.clock.now())
      const { rows, total } = await whileHeard(s, c).reads.ask('users', filter, sort, page, now)
      const last = rows.at(-1)
      return pagedJson(
        c,
        rows.map(listedUserView),
        page,
        total,
        last ? userCursor(last, sort) : null,
      )
    })
    .post('/', async (c) => {
      const created = await readJson(c, profile)
      const { tgId, token } = await createCustomer(s, c.get('actor'), profileOf(created))
      return c.json({ tg_id: tgId, token, sub_link: subLink(s.config, token) })
    })
    .post('/bulk', async (c) => {
      const { tg_ids, ...action } = await readJson(c, bulk)
      const outcomes = await actOnUsers(s, c.get('actor'), tg_ids, action)
      return c.json(
        outcomes.map(({ tgId, error }) =>
          error === null ? { tg_id: tgId, ok: true } : { tg_id: tgId, ok: false, error },
        ),
      )
    })
    .get('/:tgId', (c) => {
      const user = findUser(s.db, readTgId(c))
      if (!user) throw notFound('user not found')
      const now = s.clock.now()
      return c.json({
        tg_id: user.tgId,
        username: user.username,
        created_at: user.createdAt,
        token: user.token,
        subscriptions: listOfUser(s.db, user.tgId).map((found) => subscriptionView(found, now)),
        devices: listDevices(s.db, user.tgId).map(deviceView),
        hwid_limit: user.hwidLimit,
        hwid_fallback_limit: readSettings(s).int('HWID_FALLBACK_LIMIT'),
        ...profileView(user),
      })
    })
    .patch('/:tgId', async (c) => {
      const user = findUser(s.db, readTgId(c))
      if (!user) throw notFound('user not found')
      const { banned, ...changes } = await readJson(c, edition)
      const edits = { ...profileOf(changes), ...omitUndefined({ banned }) }
      await editUser(s, c.get('actor'), user.tgId, edits)
      const edited = await findListedUser(s.db, user.tgId, formatTimestamp(s.clock.now()))
      if (!edited) throw notFound('user not found')
      return c.json(listedUserView(edited))
    })
    .delete('/:tgId', async (c) => {
      await removeUser(s, c.get('actor'), readTgId(c))
      return c.json({ ok: true })
    })
    .post('/:tgId/rotate-token', async (c) => {
      const tgId = readTgId(c)
      const { keep_imported: keepImported } = await readOptionalJson(c, rotation)
      const token = await rotateToken(s, c.get('actor'), tgId, keepImported)
      return c.json({ ok: true, token, sub_link: subLink(s.config, token) })
    })
    .post('/:tgId/grant', async (c) => {
      const tgId = readTgId(c)
      const granted = await grant(s, c.get('actor'), tgId, await readJson(c, order))
      return c.json(subscriptionView(granted, s.clock.now()))
    })
    .get('/:tgId/devices', (c) => {
      const { devices, limit, fallbackLimit } = userDevices(s, readTgId(c))
      return c.json({ devices: devices.map(deviceView), limit, fallback_limit: fallbackLimit })
    })
    .delete('/:tgId/devices/:deviceId', async (c) => {
      await removeDevice(s, c.get('actor'), readTgId(c), readId(c.req.param('deviceId')))
      return c.json({ ok: true })
    })
    .post('/:tgId/hwid-limit', async (c) => {
      const tgId = readTgId(c)
      const { limit } = await readJson(c, hwidLimit)
      await setHwidLimit(s, c.get('actor'), tgId, parseHwidLimit(limit))
      return c.json({ ok: true })
    })
}
