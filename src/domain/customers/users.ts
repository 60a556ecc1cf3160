/** Users as an admin manages them: profile, ban, deletion. Each one transaction, then their nodes. */
import type { Query, Reading } from '#db/engine/database.ts'
import type { PlacedClient } from '#db/node-groups.ts'
import type { User } from '#db/schema/index.ts'
import { readUnexpiredOfUser } from '#db/subscriptions.ts'
import {
  countPendingOfUser,
  deleteUser,
  ensureUser,
  insertCustomer,
  readUser,
  updateUser,
} from '#db/users.ts'
import { type Actor, audit } from '#src/domain/audit.ts'
import { PENDING_PAYMENT_MS } from '#src/domain/pending-payments.ts'
import { randomToken } from '#src/lib/random.ts'
import { formatTimestamp, timestampBefore } from '#src/lib/time.ts'
import { refusal } from '#src/refusals/index.ts'
import type { Services } from '#src/services.ts'

type Deps = Pick<Services, 'db' | 'clock' | 'nodeSync'>

/** A client whose nodes must be told of it. */
export type NodeClient = PlacedClient

/** The customer whom a number means. Throws 404. */
export function* readKnownUser(tx: Reading, number: number) {
  const user = yield* readUser(tx, number)
  if (!user) throw refusal('user-not-found')
  return user
}

/** The same, created where nobody has this Telegram id. Throws 404 for a number below 0 that is nobody's: those are given by us. */
export function* ensureCustomer(tx: Query, number: number, now: string) {
  return number < 0
    ? yield* readKnownUser(tx, number)
    : yield* ensureUser(tx, number, randomToken(), now)
}

/**
 * Bans a user or lifts their ban; the clients whose nodes must be told, none when the user already is as asked. What they have stays: a
 * banned user's list is empty, and their clients are off the nodes until the ban ends. Throws 404, before it writes.
 */
export function* banIn(tx: Query, actor: Actor, now: string, number: number, banned: boolean) {
  const user = yield* readKnownUser(tx, number)
  const { tgId } = user
  if ((user.bannedAt !== null) === banned) return []
  yield* updateUser(tx, tgId, { bannedAt: banned ? now : null })
  yield* audit(tx, actor, now, { action: banned ? 'user.ban' : 'user.unban', object: `${tgId}` })
  return (yield* readUnexpiredOfUser(tx, tgId, now)) as NodeClient[]
}

/** What an admin writes of a customer. */
export type Profile = Partial<Pick<User, 'note' | 'name' | 'email' | 'tags' | 'telegramId'>>

/** What is different in a profile. */
function changesOf(user: User, profile: Profile): Profile {
  const isOther = ([key, value]: [string, unknown]) =>
    JSON.stringify(value) !== JSON.stringify(user[key as keyof Profile])
  return Object.fromEntries(Object.entries(profile).filter(isOther))
}

/** Throws 400 for a Telegram id that can't be this customer's. */
function* checkTelegramId(tx: Query, user: User, { telegramId }: Profile) {
  if (telegramId === undefined) return
  if (telegramId !== null && (yield* readUser(tx, telegramId))) throw refusal('telegram-id-taken')
  // Who has come by Telegram is named by that id.
  if (user.tgId > 0) throw refusal('telegram-id-fixed')
}

/** Writes what is different in a customer's profile. Throws 400 for a Telegram id that can't be theirs. */
function* writeProfile(tx: Query, actor: Actor, now: string, user: User, profile: Profile) {
  const changes = changesOf(user, profile)
  const names = Object.keys(changes).map((key) => (key === 'telegramId' ? 'telegram_id' : key))
  if (names.length === 0) return
  yield* checkTelegramId(tx, user, changes)
  // Of another account nothing is known.
  const met = changes.telegramId === undefined ? undefined : { blockedAt: null }
  // Whom an admin has written down is not forgotten with other guests.
  yield* updateUser(tx, user.tgId, { ...changes, ...met, guestAt: null })
  yield* audit(tx, actor, now, {
    action: 'user.edit',
    object: `${user.tgId}`,
    detail: names.join(' '),
  })
}

/**
 * Creates a customer: by their Telegram id where it is given, else by a number of ours. Throws 400 where the Telegram id is another
 * customer's.
 */
export async function createCustomer(s: Deps, actor: Actor, profile: Profile): Promise<User> {
  const now = formatTimestamp(s.clock.now())
  const { telegramId = null, ...rest } = profile
  const token = randomToken()
  return s.db.tx(function* (tx) {
    if (telegramId !== null && (yield* readUser(tx, telegramId))) throw refusal('telegram-id-taken')
    const user =
      telegramId === null
        ? yield* insertCustomer(tx, token, now)
        : yield* ensureUser(tx, telegramId, token, now)
    if (Object.keys(rest).length > 0) yield* updateUser(tx, user.tgId, rest)
    yield* audit(tx, actor, now, { action: 'user.create', object: `${user.tgId}` })
    return user
  })
}

/** Changes a user's profile and whether they are banned; what is not given stays. Throws 404, or 400 for the Telegram id. */
export async function editUser(
  s: Deps,
  actor: Actor,
  number: number,
  { banned, ...profile }: Profile & { banned?: boolean },
): Promise<void> {
  const now = formatTimestamp(s.clock.now())
  const clients = await s.db.tx(function* (tx) {
    const user = yield* readKnownUser(tx, number)
    yield* writeProfile(tx, actor, now, user, profile)
    return banned === undefined ? [] : yield* banIn(tx, actor, now, user.tgId, banned)
  })
  await s.nodeSync.touch(clients)
}

/**
 * Deletes a user with their subscriptions, devices and undelivered messages, and removes their clients. The payments stay, marked.
 * Throws 404, or 400 while they may be paying: a payment younger than 48 hours is pending.
 */
export async function removeUser(s: Deps, actor: Actor, number: number): Promise<void> {
  const at = s.clock.now()
  const now = formatTimestamp(at)
  const clients = await s.db.tx(function* (tx) {
    const user = yield* readKnownUser(tx, number)
    const { tgId } = user
    if ((yield* countPendingOfUser(tx, tgId, timestampBefore(at, PENDING_PAYMENT_MS))) > 0) {
      throw refusal('pending-payments-of-user')
    }
    const served: NodeClient[] = yield* readUnexpiredOfUser(tx, tgId, now)
    yield* deleteUser(tx, user)
    yield* audit(tx, actor, now, { action: 'user.delete', object: `${tgId}` })
    return served
  })
  await s.nodeSync.touch(clients)
}
