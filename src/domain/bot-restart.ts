/**
 * Restarts the bot, wherever it runs: who changes what it reads raises the wanted generation in the same transaction
 * (db/bot-state.ts), then waits here for the bot's heartbeat.
 */
import { type BotState, findBotState } from '#db/bot-state.ts'
import { parseTimestamp, SECOND_MS } from '#src/lib/time.ts'
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
    const state = findBotState(s.db)
    if (!isAlive(s, state)) return false
    if (state.runningGeneration >= generation) return true
    if (s.clock.monotonicMs() >= deadline) return false
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS))
  }
}
