/** Customers without Telegram connect their account there: by a code that their page gives, told to the bot. */
import type { Query } from '#db/engine/database.ts'
import {
  deleteLinkCode,
  findLinkOwner,
  readLinkCode,
  readLinkOwner,
  storeLinkCode,
} from '#db/link-codes.ts'
import { moveCustomer } from '#db/merge.ts'
import { listPlans } from '#db/plans.ts'
import type { User } from '#db/schema/index.ts'
import { listActiveOfUser } from '#db/subscriptions.ts'
import { readUser, readUserByToken, updateUser } from '#db/users.ts'
import { MAX_NOTE, MAX_TAGS } from '#db/values.ts'
import { type Actor, audit } from '#src/domain/audit.ts'
import { readSettings, readSettingsIn, type Settings } from '#src/domain/settings.ts'
import { botLink } from '#src/lib/bot-link.ts'
import { sha256Hex } from '#src/lib/crypto.ts'
import { base64url } from '#src/lib/encoding.ts'
import { tooMany } from '#src/lib/errors.ts'
import { randomBytes } from '#src/lib/random.ts'
import { formatTimestamp, MINUTE_MS, parseTimestamp, SECOND_MS } from '#src/lib/time.ts'
import { refusal } from '#src/refusals/index.ts'
import type { Services } from '#src/services.ts'
import { type Contact, changesBy } from './contacts.ts'
import { deviceLimit, limitOfPlans } from './devices.ts'

type Deps = Pick<Services, 'db' | 'clock' | 'config'>

const CODE_BYTES = 24
const CODE_MS = 15 * MINUTE_MS
/** A page that is opened again and again makes no more codes than this. */
const EVERY_MS = 2 * SECOND_MS

/** Whether a customer may connect a Telegram account, and there is a bot to connect it with. */
export const canConnect = (
  user: Pick<User, 'telegramId' | 'bannedAt'>,
  settings: Settings,
): boolean =>
  user.telegramId === null && user.bannedAt === null && settings.text('BOT_USERNAME') !== ''

/**
 * The link into the bot that connects the Telegram account of whoever has the subscription link `token`: for 15 minutes, once, and in place
 * of the one before it. Whose link it is is asked with the write: one that ends meanwhile gives no code that would outlive it. Throws 404
 * for a link that is nobody's, 400 where there is nothing to connect, 429 for a second one within 2 seconds.
 */
export async function createConnectLink(s: Deps, token: string): Promise<string> {
  const settings = readSettings(s)
  const code = base64url(randomBytes(CODE_BYTES))
  const link = botLink(s.config.botLinkBase, settings.text('BOT_USERNAME'), `link_${code}`)
  if (link === null) throw refusal('telegram-not-available')
  const at = s.clock.now()
  await s.db.tx(function* (tx) {
    const owner = yield* readUserByToken(tx, token)
    if (!owner) throw refusal('not-found')
    const { tgId, telegramId, bannedAt } = owner
    if (bannedAt !== null) throw refusal('user-banned')
    if (telegramId !== null) throw refusal('telegram-connected')
    const present = yield* readLinkCode(tx, tgId)
    const since = present ? parseTimestamp(present.expiresAt).getTime() - CODE_MS : 0
    const waitMs = since + EVERY_MS - at.getTime()
    if (waitMs > 0 && waitMs <= EVERY_MS) throw tooMany(waitMs / SECOND_MS)
    const expiresAt = formatTimestamp(new Date(at.getTime() + CODE_MS))
    yield* storeLinkCode(tx, { tgId, code: sha256Hex(code), expiresAt })
  })
  return link
}

/** What a code would connect. */
export interface Connection {
  /** Whose code it is. */
  customer: User
  /** Who has this Telegram account already: both would be one. */
  known: User | undefined
}

/** Whether one of both is banned: the ban of one would be the other's, or end. */
const isBanned = ({ customer, known }: Connection): boolean =>
  customer.bannedAt !== null || (known !== undefined && known.bannedAt !== null)

/** Why a code connects nothing: it has run out, was used or never was one, or one of both is banned. */
export type ConnectRefusal = 'stale' | 'banned'

/** What a code would connect to a Telegram account, or why it connects nothing. */
export async function findConnection(
  s: Pick<Deps, 'db' | 'clock'>,
  code: string,
  telegramId: number,
): Promise<Connection | ConnectRefusal> {
  const now = formatTimestamp(s.clock.now())
  const { customer, known } = await s.db.read(function* (q) {
    const owner = yield* findLinkOwner(q, sha256Hex(code), now)
    return { customer: owner, known: yield* readUser(q, telegramId) }
  })
  if (!customer) return 'stale'
  const connection = { customer, known }
  return isBanned(connection) ? 'banned' : connection
}

/** The smaller of two limits; null where there is none. */
const stricter = (a: number | null, b: number | null) =>
  a === null || b === null ? (a ?? b) : Math.min(a, b)

/** As many as count against a limit. */
const MOST_TIMES = 3
const newestFirst = (a: string[] | null, b: string[] | null) => {
  const all = [...(a ?? []), ...(b ?? [])].sort().reverse()
  return all.length > 0 ? all.slice(0, MOST_TIMES) : null
}

/** What two customers are as one: the limits of the stricter, the words of both. */
function mergedProfile(from: User, to: User) {
  const notes = [to.note, from.note].filter((note) => note !== null && note !== '')
  return {
    hwidLimit: stricter(to.hwidLimit, from.hwidLimit),
    deviceRemovals: newestFirst(to.deviceRemovals, from.deviceRemovals),
    linkResets: newestFirst(to.linkResets, from.linkResets),
    name: to.name ?? from.name,
    email: to.email ?? from.email,
    tags: [...new Set([...to.tags, ...from.tags])].slice(0, MAX_TAGS),
    note: notes.length > 0 ? notes.join('\n').slice(0, MAX_NOTE).toWellFormed() : null,
  }
}

/**
 * Makes one customer of two: all of `from` is `to`'s from now on, and the link of `from` goes on as a former one. To their clients nothing
 * happens, so no node is told.
 */
function* mergeIn(
  tx: Query,
  s: Pick<Deps, 'db'>,
  actor: Actor,
  now: string,
  { from, to, settings }: { from: User; to: User; settings: Settings },
) {
  const profile = mergedProfile(from, to)
  const active = [
    ...(yield* listActiveOfUser(tx, from.tgId, now)),
    ...(yield* listActiveOfUser(tx, to.tgId, now)),
  ]
  const plans = new Map(listPlans(s.db).map((plan) => [plan.code, plan]))
  const limit = deviceLimit(profile, settings, limitOfPlans(plans, active))
  yield* moveCustomer(tx, from, to.tgId, now, limit)
  yield* updateUser(tx, to.tgId, profile)
  yield* audit(tx, actor, now, {
    action: 'user.merge',
    object: `${to.tgId}`,
    detail: `from=${from.tgId}`,
  })
}

/** Gives a customer a Telegram account that is nobody's. */
function* linkIn(tx: Query, actor: Actor, now: string, { tgId }: User, telegramId: number) {
  yield* updateUser(tx, tgId, { telegramId })
  yield* audit(tx, actor, now, {
    action: 'user.connect',
    object: `${tgId}`,
    detail: `telegram_id=${telegramId}`,
  })
}

/**
 * Uses a code up: the customer whose it is has this Telegram account from now on, and who had it already gets all that they have. The
 * customer as they are then, or why nothing is connected; the code of a refusal for a ban stays good.
 */
export async function connectTelegram(
  s: Deps,
  actor: Actor,
  code: string,
  contact: Contact,
): Promise<User | ConnectRefusal> {
  const telegramId = contact.tgId
  const now = formatTimestamp(s.clock.now())
  return s.db.tx(function* (tx) {
    const owner = yield* readLinkOwner(tx, sha256Hex(code), now)
    const customer = owner === undefined ? undefined : yield* readUser(tx, owner)
    // Who was connected meanwhile by an admin has nothing to connect.
    if (!customer || customer.telegramId !== null) return 'stale'
    const known = yield* readUser(tx, telegramId)
    if (isBanned({ customer, known })) return 'banned'
    const user = known ?? customer
    yield* deleteLinkCode(tx, customer.tgId)
    const settings = yield* readSettingsIn(tx, s)
    if (known) yield* mergeIn(tx, s, actor, now, { from: customer, to: known, settings })
    else yield* linkIn(tx, actor, now, customer, telegramId)
    const contacted = changesBy(contact, user)
    if (contacted) yield* updateUser(tx, user.tgId, contacted)
    return (yield* readUser(tx, telegramId)) as User
  })
}
