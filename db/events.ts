/** Outbound events: rows of the transaction that causes them, taken for their attempt, its result, and the panel's listing. */
import { ask, type Nothing, type Query, type Reading, run, type Steps } from './engine/database.ts'
import { and, eq, inArray, ne, sql } from './engine/orm.ts'
import { built, field, written } from './engine/question.ts'
import { afterCursor, COUNT_CAP, countCapped, type PageRequest, pageOrder } from './paging.ts'
import { type Event, events } from './schema/index.ts'

type NewEvent = Pick<Event, 'id' | 'event' | 'data' | 'status' | 'createdAt'>

const add = built<NewEvent & { attempts: number }, unknown>((q) =>
  q.insert(events).values({
    id: field('id'),
    event: field('event'),
    data: field('data'),
    status: field('status'),
    attempts: field('attempts'),
    createdAt: field('createdAt'),
  }),
)

export function* insertEvent(_tx: Query, row: NewEvent & { attempts?: number }) {
  yield* ask(add, { attempts: 0, ...row })
}

/** As the index events_open has it: SQLite takes a partial index only for the very same words. */
const open = sql`${events.status} in ('ready', 'sending')`

const ready = written<Nothing, unknown>(
  "select 1 from events where status in ('ready', 'sending') and status = 'ready' limit 1",
)

/** Whether an event waits for its attempt. */
export function* hasReadyEvents(_q: Reading) {
  return (yield* ask(ready, {})).length > 0
}

/** Takes the oldest waiting events for their attempt, at most `count`: nobody else gets them. */
export function* claimEvents(tx: Query, count: number) {
  const waiting = tx
    .select({ id: events.id })
    .from(events)
    .where(and(open, eq(events.status, 'ready')))
    .orderBy(events.createdAt, events.seq)
    .limit(count)
  return yield* run(
    tx
      .update(events)
      .set({ status: 'sending', attempts: sql`${events.attempts} + 1` })
      .where(inArray(events.id, waiting))
      .returning(),
  )
}

/** Takes one event for another attempt; undefined while one is under way. */
export function* claimEventAgain(tx: Query, id: string) {
  const [event] = yield* run(
    tx
      .update(events)
      .set({ status: 'sending', attempts: sql`${events.attempts} + 1` })
      .where(and(eq(events.id, id), ne(events.status, 'sending')))
      .returning(),
  )
  return event as Event | undefined
}

/** An event inside a transaction. */
export function* readEvent(tx: Query, id: string) {
  const [event] = yield* run(tx.select().from(events).where(eq(events.id, id)))
  return event as Event | undefined
}

/** Gives the waiting events up: there is nowhere to send them. */
export function* skipReadyEvents(tx: Query) {
  yield* run(
    tx
      .update(events)
      .set({ status: 'skipped' })
      .where(and(open, eq(events.status, 'ready'))),
  )
}

/** An attempt: which one of which event, as long as it is under way. */
export interface EventAttempt {
  id: string
  attempts: number
}

/** What became of an attempt. */
export interface EventResult extends EventAttempt {
  status: 'done' | 'failed' | 'interrupted'
  httpStatus: number | null
  error: string | null
}

/** Notes what became of attempts, many at once where it is the same; nothing for one that is not under way any more. */
export function* noteEventResults(tx: Query, results: EventResult[]) {
  const groups = Map.groupBy(results, ({ attempts, status, httpStatus, error }) =>
    JSON.stringify([attempts, status, httpStatus, error]),
  )
  for (const group of groups.values()) {
    const { attempts, status, httpStatus, error } = group[0] as EventResult
    yield* run(
      tx
        .update(events)
        .set({ status, httpStatus, error })
        .where(
          and(
            eq(events.status, 'sending'),
            eq(events.attempts, attempts),
            inArray(
              events.id,
              group.map(({ id }) => id),
            ),
          ),
        ),
    )
  }
}

const underWay = written<Nothing, EventAttempt>(
  "select id, attempts from events where status in ('ready', 'sending') and status = 'sending'",
)

/** The attempts that are under way, or whose process has gone. */
export function* listEventsUnderWay(_q: Reading) {
  return yield* ask(underWay, {})
}

/** One page of the delivery log, newest first, and the count of all. */
export function* listEvents(
  q: Reading,
  page: PageRequest,
): Steps<{ rows: Event[]; total: number }> {
  const [column, key] = [sql`${events.createdAt}`, sql`${events.seq}`]
  const rows = yield* run(
    q
      .select()
      .from(events)
      .where(afterCursor(column, key, page))
      .orderBy(...pageOrder(column, key, page))
      .limit(page.limit),
  )
  const total = yield* countCapped(q, sql`select 1 from ${events} limit ${COUNT_CAP + 1}`)
  return { rows, total }
}
