/** A bot's side of the restart: the heartbeat that db/bot-state.ts describes. */
import { pause } from '#src/lib/pause.ts'
import type { World } from '#test/support/worlds/world.ts'

export interface FakeBot {
  /** Ends it, and the beat that it may be at. */
  stop(): Promise<void>
}

/** A bot that beats by the world's clock; `follows` says whether it takes a wanted generation over. */
export function startFakeBot(w: World, { follows }: { follows: boolean }): FakeBot {
  const running = follows ? 'wanted_generation' : 'running_generation'
  const now = () => w.clock.now().toISOString().slice(0, 19)
  w.change('insert into bot_state (id) values (1) on conflict do nothing')
  w.change('update bot_state set heartbeat_at = ?', now())
  const ending = new AbortController()
  const { signal } = ending
  const beating = (async () => {
    while (!signal.aborted) {
      await pause(10, signal)
      if (signal.aborted) return
      await w.changeBeside(
        `update bot_state set heartbeat_at = ?, running_generation = ${running}`,
        now(),
      )
    }
  })()
  return {
    stop() {
      ending.abort()
      return beating
    },
  }
}
