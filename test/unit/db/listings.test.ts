/**
 * Listings of a shop that is too large for the simple ways: what is found and counted must not depend on how it is looked for. The
 * thresholds are those of db/listing.ts: 5000 rows are few.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { listAudit } from '#db/audit-log.ts'
import type { SqliteDatabase } from '#db/engine/sqlite/handle.ts'
import { openDatabase } from '#db/engine/sqlite/open.ts'
import type { PageRequest } from '#db/paging.ts'
import { listPayments, type PaymentFilter } from '#db/payment-listing.ts'
import {
  listSubscriptions,
  SUBSCRIPTION_SORTS,
  type SubscriptionFilter,
  type SubscriptionState,
} from '#db/subscription-listing.ts'
import { omitUndefined } from '#src/lib/omit-undefined.ts'

const NOW = '2026-03-01T12:00:00'
const USERS = 6000
const CAP = 10_001
let db: SqliteDatabase

/** Numbers that are the same in each run, and in no order. */
const mixed = (i: number, most: number) => (i * 7919 + 13) % most

const at = (hours: number) =>
  new Date(Date.UTC(2026, 0, 1) + hours * 3_600_000).toISOString().slice(0, 19)

interface Row {
  seq: number
  tg_id: number
  node: string
  plan: string
  created_at: string
  expires_at: string
  state: SubscriptionState
}

const stateOf = (i: number, expiresAt: string): SubscriptionState => {
  if (i % 17 === 0) return 'revoked'
  if (i % 23 === 0) return 'held'
  return expiresAt > NOW ? 'active' : 'expired'
}

const nameOf = (user: number) => `${user < COMMON ? 'common' : 'rare'}_${user}`
/** Ids that begin with 1, but for a few. */
const idOf = (user: number) => (user < COMMON ? 1_000_000 : 2_000_000) + user

const COMMON = 5600
/** One row for each common user, and many for the others. */
const ownerOf = (i: number) => (i < COMMON ? i : COMMON + mixed(i, USERS - COMMON))
/** Those of common users are the oldest: a walk from the newest on meets none of them for more than 5000 rows. */
const createdAtOf = (i: number) => at(i < COMMON ? mixed(i, 300) : 500 + mixed(i, 900))

const statusOf = (i: number) => (i % 50 === 0 ? 'pending' : 'failed')

const orderOf = (i: number) => ({
  plan: i % 4 === 0 ? '3m' : '1m',
  provider: i % 200 === 1 ? ('stars' as const) : ('provider_a' as const),
})

let subscriptions: Row[] = []

function addAll(raw: SqliteDatabase['raw']): void {
  const user = raw.prepare(
    'insert into users (tg_id, username, token, created_at) values (?, ?, ?, ?)',
  )
  const subscription = raw.prepare(
    `insert into subscriptions (seq, uuid, tg_id, node, plan, created_at, expires_at, active, held_at, source)
     values (?, ?, ?, ?, ?, ?, ?, ?, ?, 'admin')`,
  )
  const payment = raw.prepare(
    `insert into payments (id, tg_id, node, plan, provider, external_id, status, amount, currency, days, created_at, source)
     values (?, ?, 'de1', ?, ?, ?, ?, 1, 'RUB', 30, ?, 'bot')`,
  )
  const entry = raw.prepare('insert into audit_log (at, admin, ip, action) values (?, ?, ?, ?)')
  for (let i = 0; i < USERS; i++) user.run(idOf(i), nameOf(i), `token ${i}`, at(i))
  subscriptions = Array.from({ length: 2 * USERS }, (_, i) => {
    const expiresAt = at(mixed(i * 31, 3000))
    return {
      seq: i + 1,
      tg_id: idOf(ownerOf(i)),
      node: i % 9 === 0 ? 'fi1' : 'de1',
      plan: i % 4 === 0 ? '3m' : '1m',
      created_at: createdAtOf(i),
      expires_at: expiresAt,
      state: stateOf(i, expiresAt),
    }
  })
  for (const row of subscriptions) {
    const { seq, state } = row
    const held = state === 'held' ? NOW : null
    const active = state === 'revoked' ? 0 : 1
    const { tg_id, node, plan, created_at, expires_at } = row
    subscription.run(seq, `u${seq}`, tg_id, node, plan, created_at, expires_at, active, held)
  }
  for (let i = 0; i < 2 * USERS; i++) {
    const { plan, provider } = orderOf(i)
    payment.run(
      ...[`p${i}`, idOf(ownerOf(i)), plan, provider, `ext ${i}`],
      ...[statusOf(i), createdAtOf(i)],
    )
    const byAdmin = i % 2 === 0
    entry.run(
      at(i),
      byAdmin ? 'alice' : null,
      '10.0.0.1',
      byAdmin ? (i % 400 === 0 ? 'Login' : 'user.ban') : 'payment.paid',
    )
  }
}

beforeAll(() => {
  db = openDatabase(':memory:', { now: new Date(`${NOW}Z`) })
  db.raw.transaction(addAll)(db.raw)
})
afterAll(() => db.close())

const LIMIT = 60

/** The first pages, read one after another, and what was said of the count on each. */
async function readPages<R>(
  list: (page: PageRequest) => Promise<{ rows: R[]; total: number }>,
  order: PageRequest['order'],
  keyOf: (row: R) => NonNullable<PageRequest['cursor']>,
) {
  const keys: number[] = []
  const totals = new Set<number>()
  let cursor: PageRequest['cursor'] = null
  for (let i = 0; i < 2; i++) {
    const { rows, total } = await list({ limit: LIMIT, cursor, order })
    keys.push(...rows.map((row) => keyOf(row).key))
    totals.add(total)
    const last = rows.at(-1)
    if (!last) break
    cursor = keyOf(last)
  }
  return { keys, totals: [...totals] }
}

/** What must be found: all are looked at. */
function expected<R extends { seq: number }>(
  rows: R[],
  sortedBy: (row: R) => string,
  order: PageRequest['order'],
) {
  const sign = order === 'asc' ? 1 : -1
  const sorted = rows.toSorted((a, b) => {
    const [x, y] = [sortedBy(a), sortedBy(b)]
    return sign * (x === y ? a.seq - b.seq : x < y ? -1 : 1)
  })
  return {
    keys: sorted.slice(0, 2 * LIMIT).map((row) => row.seq),
    totals: [Math.min(rows.length, CAP)],
  }
}

const STATES = [undefined, 'active', 'held', 'expired', 'revoked'] as const
const TEXTS = [undefined, 'common', '@RARE_', 'nobody', '1', '2']
const MORE: SubscriptionFilter[] = [
  {},
  { node: 'de1' },
  { node: 'fi1', plan: '3m', expiresBefore: at(2000) },
  { plan: '1m', expiresBefore: at(1000) },
  { tgId: idOf(7) },
]

const isNamed = (tgId: number, text: string) =>
  /^\d/.test(text)
    ? String(tgId).startsWith(text)
    : nameOf(tgId % 1_000_000).startsWith(text.replace('@', '').toLowerCase())

const fits = (row: Row, { state, node, plan, tgId, expiresBefore, text }: SubscriptionFilter) =>
  (state === undefined || row.state === state) &&
  (node === undefined || row.node === node) &&
  (plan === undefined || row.plan === plan) &&
  (tgId === undefined || row.tg_id === tgId) &&
  (expiresBefore === undefined || row.expires_at < expiresBefore) &&
  (text === undefined || isNamed(row.tg_id, text))

const filters = MORE.flatMap((more) =>
  TEXTS.map((text): SubscriptionFilter => (text ? { ...more, text } : more)),
)

describe.each(SUBSCRIPTION_SORTS)('subscriptions by %s', (sort) => {
  const sorted = (row: Row) => row[sort]
  const property = sort === 'created_at' ? 'createdAt' : 'expiresAt'

  describe.each(STATES)('with status %s', (state) => {
    test.each(['asc', 'desc'] as const)('%s', async (order) => {
      for (const more of filters) {
        const filter = state ? { ...more, state } : more
        const found = await readPages(
          (page) => db.read((q) => listSubscriptions(q, filter, sort, page, NOW)),
          order,
          ({ row }) => ({ value: row[property], key: row.seq }),
        )
        const fitting = subscriptions.filter((row) => fits(row, filter))
        expect([filter, found]).toEqual([filter, expected(fitting, sorted, order)])
      }
    })
  })
})

const PAYMENT_FILTERS: PaymentFilter[] = [
  ...([{}, { status: 'pending' }, { status: 'failed' }] as const).flatMap((status) => [
    status,
    { ...status, provider: 'provider_a' as const },
    { ...status, provider: 'stars' as const, plan: '3m' },
    { ...status, plan: '1m' },
  ]),
  { provider: 'cryptobot' },
]

describe.each(['asc', 'desc'] as const)('%s', (order) => {
  test.each([...TEXTS, 'ext 77'])('payments found by %s', async (text) => {
    const payments = Array.from({ length: 2 * USERS }, (_, i) => ({
      seq: i + 1,
      tgId: idOf(ownerOf(i)),
      externalId: `ext ${i}`,
      status: statusOf(i),
      createdAt: createdAtOf(i),
      ...orderOf(i),
    }))
    const fitting = payments.filter(
      (row) => text === undefined || row.externalId === text || isNamed(row.tgId, text),
    )
    for (const more of PAYMENT_FILTERS) {
      const filter = omitUndefined({ text, ...more })
      const found = await readPages(
        (page) => db.read((q) => listPayments(q, filter, page)),
        order,
        ({ row }) => ({ value: row.createdAt, key: row.seq }),
      )
      const { status, provider, plan } = more
      const matching = fitting.filter(
        (row) =>
          (status === undefined || row.status === status) &&
          (provider === undefined || row.provider === provider) &&
          (plan === undefined || row.plan === plan),
      )
      expect([filter, found]).toEqual([filter, expected(matching, (row) => row.createdAt, order)])
    }
  })

  test.each([
    [{ action: 'log' }, 30],
    [{ action: 'LOGIN', admin: 'alice' }, 30],
    [{ action: 'payment' }, 6000],
    [{ action: '%ban' }, 5970],
    [{ action: 'log_n' }, 30],
    [{ action: 'login', admin: 'bob' }, 0],
    [{ action: 'payment', admin: 'alice' }, 0],
    [{ admin: 'alice' }, 6000],
    [{}, CAP],
  ])('audit entries of %j', async (filter, total) => {
    const page = { limit: LIMIT, cursor: null, order }
    const listed = await db.read((q) => listAudit(q, filter, page))
    expect([listed.total, listed.rows.length]).toEqual([total, Math.min(total, LIMIT)])
    const times = listed.rows.map((row) => row.at)
    expect(times).toEqual(order === 'asc' ? times.toSorted() : times.toSorted().reverse())
  })
})
