/** Reminders of a subscription's end by bot messages: three days and one day before it, and when it has come. */
import { type Query, run } from '#db/engine/database.ts'
import { dueReminders, markReminded, type ReminderSpan } from '#db/reminders.ts'
import { placeAndPlan } from '#src/domain/labels.ts'
import { queueMessage } from '#src/domain/notify/messages.ts'
import { readSettingsIn } from '#src/domain/settings.ts'
import { addDays, formatTimestamp, parseTimestamp } from '#src/lib/time.ts'
import type { Services } from '#src/services.ts'

type Deps = Pick<Services, 'db' | 'config' | 'clock' | 'log' | 'nudge'>

/** Days before the end, in the order in which they come; the last one is due for a day. */
const DAYS = [3, 1, 0]
const LAST_DAYS = -1

/** Reminders that are written in one transaction: each costs 0.1 ms, in which nobody else is answered. */
const BATCH = 50

/** How many reminders of an expiry are no news to who is told of it at that moment. */
export const countPastReminders = (expiresAt: string, at: Date): number =>
  DAYS.filter((days) => days > 0 && addDays(parseTimestamp(expiresAt), -days) <= at).length

type Due = Awaited<ReturnType<typeof dueReminders>>[number]

/** Reminders whose moment was before the subscription began are left out: its owner has just been told how long it lasts. */
const isNews = ({ row }: Due, days: number): boolean =>
  days === 0 ||
  addDays(parseTimestamp(row.expiresAt), -days) >
    parseTimestamp(row.startedAt ?? row.startBy ?? row.createdAt)

function* remindIn(tx: Query, s: Deps, now: string, days: number, due: Due[]) {
  const settings = yield* readSettingsIn(tx, s)
  const told = due.filter((one) => one.telegramId !== null && isNews(one, days))
  for (const one of told) {
    const { node_label, plan_label } = placeAndPlan(one)
    const { uuid, expiresAt: expires_at } = one.row
    const renewable = settings.flag('PAYMENTS_ENABLED') && one.nodeLabel !== null
    yield* queueMessage(tx, now, one.telegramId, {
      kind: 'reminder',
      payload: {
        subscription: uuid,
        ended: days === 0,
        node_label,
        plan_label,
        expires_at,
        renewable,
      },
    })
  }
  return told.length
}

async function remindAll(s: Deps, now: string, days: number, span: ReminderSpan): Promise<number> {
  let told = 0
  const isDue = () => s.db.read((q) => run(dueReminders(q, span, 1)))
  while ((await isDue()).length > 0) {
    told += await s.db.tx(function* (tx) {
      const due = yield* run(dueReminders(tx, span, BATCH))
      yield* markReminded(
        tx,
        due.map(({ row }) => row.uuid),
        span.number,
      )
      return yield* remindIn(tx, s, now, days, due)
    })
  }
  return told
}

/**
 * One look at all active subscriptions: who has not had the reminder that is due now, gets it, once for an expiry, whichever process
 * looks. What was missed before that one is not made up for.
 */
export async function remindOwners(s: Deps): Promise<void> {
  const at = s.clock.now()
  const inDays = (days: number) => formatTimestamp(addDays(at, days))
  let told = 0
  for (const [i, days] of DAYS.entries()) {
    const span = {
      number: i + 1,
      now: formatTimestamp(at),
      after: inDays(DAYS[i + 1] ?? LAST_DAYS),
      until: inDays(days),
    }
    told += await remindAll(s, formatTimestamp(at), days, span)
  }
  if (told === 0) return
  s.log.info('owners are reminded of what ends', { count: told })
  s.nudge('messages')
}
