/**
 * One row by which web and bot agree on a restart. Who wants the bot to read its settings anew raises `wanted_generation`; the bot
 * writes about once a second its `heartbeat_at` and, as soon as it works with the settings of a generation, that generation as
 * `running_generation`.
 */
import { ask, type Nothing, type Query, type Reading, run } from './engine/database.ts'
import { sql } from './engine/orm.ts'
import { built } from './engine/question.ts'
import { botState } from './schema/index.ts'

const ONLY = 1

export type BotState = typeof botState.$inferSelect

const state = built<Nothing, BotState[]>((q) => q.select().from(botState))

/** Undefined while there has been neither a bot nor a wish. */
export function* readBotState(_q: Reading) {
  const [row] = yield* ask(state, {})
  return row
}

/** Raises the generation that is wanted, and gives it. */
export function* raiseWantedGeneration(tx: Query) {
  const [row] = yield* run(
    tx
      .insert(botState)
      .values({ id: ONLY, wantedGeneration: 1 })
      .onConflictDoUpdate({
        target: botState.id,
        set: { wantedGeneration: sql`${botState.wantedGeneration} + 1` },
      })
      .returning({ wanted: botState.wantedGeneration }),
  )
  return (row as { wanted: number }).wanted
}

/** What the bot says of itself; an absent field stays. */
export type BotReport = Partial<Omit<BotState, 'id' | 'wantedGeneration'>>

/** Writes the bot's side of the row. */
export function* putBotReport(tx: Query, report: BotReport) {
  yield* run(
    tx
      .insert(botState)
      .values({ id: ONLY, ...report })
      .onConflictDoUpdate({ target: botState.id, set: report }),
  )
}
