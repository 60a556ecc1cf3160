/** Bot messages: rows of the transaction that causes them, taken for sending in each user's order, and what became of it. */
import { ask, type Nothing, type Query, type Reading, run, type Steps } from './engine/database.ts'
import { BARE, byIndex, param } from './engine/dialect.ts'
import { and, eq, gt, inArray, isNotNull, isNull, lte, type SQL, sql } from './engine/orm.ts'
import { built, field, written, writtenValues } from './engine/question.ts'
import { outbox, users } from './schema/index.ts'

interface NewMessage {
  tgId: number
  kind: string
  payload: Record<string, unknown>
  now: string
  /** Null: whichever bot there is when it is sent. */
  botToken: string | null
}

const add = built<NewMessage, unknown>((q) =>
  q.insert(outbox).values({
    tgId: field('tgId'),
    kind: field('kind'),
    payload: field('payload'),
    nextTryAt: field('now'),
    createdAt: field('now'),
    botToken: field('botToken'),
  }),
)

/** Queues a message to a user, to be sent at once. What the kinds and their payloads are: domain/notify/messages.ts. */
export function* insertMessage(_tx: Query, message: NewMessage) {
  yield* ask(add, message)
}

/** Leaves the messages of a kind that are not sent yet to the bot of this token. */
export function* assignUnsent(tx: Query, kind: string, botToken: string) {
  yield* run(
    tx
      .update(outbox)
      .set({ botToken })
      .where(
        and(
          eq(outbox.kind, kind),
          // As the index outbox_open has it.
          sql`status in ('ready', 'sending')`,
          isNull(outbox.botToken),
        ),
      ),
  )
}

const due = written<{ now: string }, unknown>(
  `select 1 from outbox where status = 'ready' and next_try_at <= ${param('now')} limit 1`,
)

const dueOfFormer = written<{ now: string }, unknown>(
  `select 1 from outbox where status = 'ready' and bot_token is not null and next_try_at <= ${param('now')} limit 1`,
)

/** Which bots send: all, or only former ones, because the present one is missing or has to wait. */
export type Senders = 'all' | 'former'

/** Whether a message may be sent at `now`. */
export function* hasDueMessages(_q: Reading, now: string, senders: Senders = 'all') {
  return (yield* ask(senders === 'all' ? due : dueOfFormer, { now })).length > 0
}

/** As the index outbox_ready has it: SQLite takes a partial index only for the very same words. */
const isReady = eq(outbox.status, sql`'ready'`)

const ofSameLine = sql`other.tg_id = outbox.tg_id and other.bot_token is not distinct from outbox.bot_token`

/** Whether an alert of the same user and bot is open: found among the alerts, which are few, and not among all that the user was ever sent. */
const openAlert = sql`select 1 from outbox as other ${sql.raw(byIndex('outbox_open'))}
  where other.status in ('ready', 'sending') and other.kind = 'alert' and ${ofSameLine}`

interface Line {
  /** Which messages stand in it. */
  members: SQL
  isNext(now: string): SQL
}

/**
 * Alerts wait for each other, and for what is with Telegram at the moment or was told to wait, but not behind anything: whoever has much
 * sent to a person must not keep an alert from them.
 */
const ALERTS: Line = {
  // As the index outbox_open has it.
  members: sql`status in ('ready', 'sending') and kind = 'alert'`,
  isNext: (now) => sql`not exists (${openAlert} and other.id < outbox.id)
    and not exists (select 1 from outbox as other where ${ofSameLine} and other.id <> outbox.id
      and (other.status = 'sending' or (other.status = 'ready' and other.next_try_at > ${now})))`,
}

const OTHERS: Line = {
  // Not by an index: nearly all are in this line.
  members: sql`${BARE}kind <> 'alert'`,
  isNext:
    () => sql`not exists (select 1 from outbox as other where ${ofSameLine} and other.id < outbox.id
      and other.status in ('ready', 'sending'))
    and not exists (${openAlert})`,
}

const anyAlert = built<Nothing, unknown[]>((q) =>
  q.select({ id: outbox.id }).from(outbox).where(ALERTS.members).limit(1),
)

interface Claim {
  now: string
  since: string
  senders: Senders
}

function* claimFrom(tx: Query, line: Line, count: number, { now, since, senders }: Claim) {
  const waiting = tx
    .select({ id: outbox.id })
    .from(outbox)
    .where(
      and(
        isReady,
        line.members,
        senders === 'all' ? undefined : isNotNull(outbox.botToken),
        lte(outbox.nextTryAt, now),
        gt(outbox.createdAt, since),
        line.isNext(now),
      ),
    )
    .orderBy(outbox.nextTryAt, outbox.id)
    .limit(count)
  return yield* run(
    tx
      .update(outbox)
      .set({ status: 'sending', attempts: sql`${outbox.attempts} + 1` })
      .where(inArray(outbox.id, waiting))
      .returning(),
  )
}

/**
 * Takes due messages that were written after `since` for sending, at most `count` and one of each user and bot: the next one has to
 * wait until it is known what became of the one before. Alerts go before everything else.
 */
export function* claimMessages(tx: Query, count: number, claim: Claim) {
  const isAlert = (yield* ask(anyAlert, {})).length > 0
  const alerts = isAlert ? yield* claimFrom(tx, ALERTS, count, claim) : []
  if (alerts.length === count) return alerts
  const others = yield* claimFrom(tx, OTHERS, count - alerts.length, claim)
  return [...alerts, ...others]
}

/** The users of messages by their Telegram ids, as far as these are written for them. */
export function* readRecipients(tx: Query, telegramIds: number[]) {
  const rows = yield* run(
    tx
      .select({ telegramId: users.telegramId, token: users.token, lang: users.lang })
      .from(users)
      .where(inArray(users.telegramId, telegramIds)),
  )
  return new Map(rows.map((row) => [row.telegramId, row]))
}

/** A try at sending a message: which one, as long as it is under way. */
export interface MessageTry {
  id: number
  attempts: number
}

const isUnderWay = ({ attempts }: Pick<MessageTry, 'attempts'>) =>
  and(eq(outbox.status, 'sending'), eq(outbox.attempts, attempts))

/** Notes the end of messages whose tries ended alike; nothing for one that is not under way any more. */
export function* endMessages(
  tx: Query,
  tries: MessageTry[],
  end: { status: 'done' | 'failed'; error: string | null; at: string },
) {
  const { status, error, at: doneAt } = end
  for (const [attempts, group] of Map.groupBy(tries, (one) => one.attempts)) {
    const ids = group.map(({ id }) => id)
    yield* run(
      tx
        .update(outbox)
        .set({ status, error, doneAt, botToken: null })
        .where(and(inArray(outbox.id, ids), isUnderWay({ attempts }))),
    )
  }
}

/** Puts a message that is under way back, to be sent at `nextTryAt`. */
export function* postponeMessage(
  tx: Query,
  message: MessageTry,
  { nextTryAt, error }: { nextTryAt: string; error: string | null },
) {
  yield* run(
    tx
      .update(outbox)
      .set({ status: 'ready', nextTryAt, error })
      .where(and(eq(outbox.id, message.id), isUnderWay(message))),
  )
}

/** Leaves a message to the present bot, at once: the former one that was to send it is refused. */
export function* handOver(
  tx: Query,
  message: MessageTry,
  { at, error }: { at: string; error: string },
) {
  yield* run(
    tx
      .update(outbox)
      .set({ status: 'ready', nextTryAt: at, error, botToken: null })
      .where(and(eq(outbox.id, message.id), isUnderWay(message))),
  )
}

const expired = written<{ since: string }, unknown>(
  `select 1 from outbox where status = 'ready' and created_at <= ${param('since')} limit 1`,
)

/** Whether there is something for `expireMessages`. */
export function* hasExpiredMessages(_q: Reading, since: string) {
  return (yield* ask(expired, { since })).length > 0
}

/** Gives messages up that wait since `since` or longer. */
export function* expireMessages(tx: Query, since: string, at: string, error: string) {
  yield* run(
    tx
      .update(outbox)
      .set({ status: 'failed', error, doneAt: at, botToken: null })
      .where(and(isReady, lte(outbox.createdAt, since))),
  )
}

/** Notes since when users have the bot blocked, or (null) that they have not; what is noted already stays. */
export function* markBlocked(tx: Query, telegramIds: number[], blockedAt: string | null) {
  const isOther = blockedAt === null ? isNotNull(users.blockedAt) : isNull(users.blockedAt)
  yield* run(
    tx
      .update(users)
      .set({ blockedAt })
      .where(and(inArray(users.telegramId, telegramIds), isOther)),
  )
}

const newest = writtenValues<Nothing, number>('select coalesce(max(id), 0) from outbox')

const firstUnfinished = writtenValues<{ from: number }, number | null>(
  `select min(id) from outbox where id >= ${param('from')} and status in ('ready', 'sending')`,
)

const underWay = written<{ from: number }, MessageTry>(
  `select id, attempts from outbox where id >= ${param('from')} and status = 'sending' order by id`,
)

/**
 * The tries that are under way, or whose process has gone, among the messages from number `from` on; and the number below which
 * there is none and never will be. No index has them: who looks again and again goes on from there.
 */
export function* listMessagesUnderWay(
  _q: Reading,
  from: number,
): Steps<{ tries: MessageTry[]; from: number }> {
  const [last = 0] = yield* ask(newest, {})
  const tries = yield* ask(underWay, { from })
  const [first] = yield* ask(firstUnfinished, { from })
  return { tries, from: first ?? last + 1 }
}
