/** What the bot learns of people by talking to them. No audit rows: nobody decides anything here. */
import { markBlocked } from '#db/messages.ts'
import type { User } from '#db/schema/index.ts'
import { ensureUser, readUser, updateUser } from '#db/users.ts'
import type { Lang } from '#src/domain/notify/messages.ts'
import { omitUndefined } from '#src/lib/omit-undefined.ts'
import { randomToken } from '#src/lib/random.ts'
import { formatTimestamp } from '#src/lib/time.ts'
import type { Services } from '#src/services.ts'

type Deps = Pick<Services, 'db' | 'clock'>

/** Somebody who wrote, as Telegram describes them. */
export interface Contact {
  tgId: number
  username: string | null
  /** The language in which the bot speaks to them until they choose one. */
  lang: Lang
}

/** What a contact makes different in a user's row; undefined: nothing. */
export function changesBy({ username, lang }: Contact, user: User) {
  const changes = omitUndefined({
    username: username === user.username ? undefined : username,
    lang: user.lang === null ? lang : undefined,
    blockedAt: user.blockedAt === null ? undefined : null,
  })
  return Object.keys(changes).length > 0 ? changes : undefined
}

/**
 * The user who wrote, created if missing: with the username that they have now, a language since the first contact, and not counted as
 * one who blocked the bot. Writes only what is new.
 */
export async function meetUser(s: Deps, contact: Contact): Promise<User> {
  const { tgId } = contact
  const known = await s.db.read((q) => readUser(q, tgId))
  if (known && !changesBy(contact, known)) return known
  const now = formatTimestamp(s.clock.now())
  return s.db.tx(function* (tx) {
    const user = yield* ensureUser(tx, tgId, randomToken(), now)
    const changes = changesBy(contact, user)
    if (changes) yield* updateUser(tx, user.tgId, changes)
    return { ...user, ...changes }
  })
}

/** Stores the language that a user chose. */
export async function chooseLang(s: Pick<Deps, 'db'>, tgId: number, lang: Lang): Promise<void> {
  await s.db.tx((tx) => updateUser(tx, tgId, { lang }))
}

/** Notes that a user has blocked the bot, or lets it write again; whoever is no user stays none. */
export async function noteBlocked(s: Deps, telegramId: number, blocked: boolean): Promise<void> {
  const now = formatTimestamp(s.clock.now())
  await s.db.tx((tx) => markBlocked(tx, [telegramId], blocked ? now : null))
}
