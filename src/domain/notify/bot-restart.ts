/**
 * Restarts the bot, wherever it runs: who changes what it reads raises the wanted generation in the same transaction
 * (db/bot-state.ts), then waits here for the bot's word that it works with it.
 */
import { type BotState, putBotReport, readBotState } from '#db/bot-state.ts'
import { pause } from '#src/lib/pause.ts'
import { formatTimestamp, parseTimestamp, SECOND_MS } from '#src/lib/time.ts'
import type { Services } from '#src/services.ts'

type Deps = Pick<Services, 'db' | 'clock'>

/** How long the caller waits for the bot. */
const PATIENCE_MS = 15 * SECOND_MS
/** A bot whose heartbeat is further from now than this is not there. */
const HEARTBEAT_MS = 5 * SECOND_MS
const LOOK_EVERY_MS = 50

const isAlive = (s: Deps, state: BotState | undefined): state is BotState =>
  typeof state?.heartbeatAt === 'string' &&
  Math.abs(s.clock.now().getTime() - parseTimestamp(state.heartbeatAt).getTime()) <= HEARTBEAT_MS

/** True as soon as the bot runs with that generation; false at once when there is no live bot, else after 15 s. */
export async function awaitBotRestart(s: Deps, generation: number): Promise<boolean> {
  const deadline = s.clock.monotonicMs() + PATIENCE_MS
  for (;;) {
    const state = await s.db.read(readBotState)
    if (!isAlive(s, state)) return false
    if (state.runningGeneration >= generation) return true
    if (s.clock.monotonicMs() >= deadline) return false
    await pause(LOOK_EVERY_MS)
  }
}

/** The generation that the bot is to run with. */
export const wantedGeneration = async (s: Pick<Deps, 'db'>): Promise<number> =>
  (await s.db.read(readBotState))?.wantedGeneration ?? 0

/**
 * The bot's sign of life, about once a second. `running`: the generation whose settings it works with, absent while it does not;
 * having nothing to do for lack of a token is working too. `username`: whose it is, null while nobody is answered.
 */
export async function reportBot(
  s: Deps,
  { running, username }: { running?: number | undefined; username: string | null },
): Promise<void> {
  await s.db.txVolatile((tx) =>
    putBotReport(tx, {
      heartbeatAt: formatTimestamp(s.clock.now()),
      username,
      ...(running === undefined ? {} : { runningGeneration: running }),
    }),
  )
}

/** Says that there is no bot any more, so that nobody waits for one. */
export async function reportBotGone(s: Pick<Deps, 'db'>): Promise<void> {
  await s.db.txVolatile((tx) => putBotReport(tx, { heartbeatAt: null, username: null }))
}
