/** A bot's side of the restart: the heartbeat that db/bot-state.ts describes. */
import type { World } from '#test/support/worlds/world.ts'

export interface FakeBot {
  stop(): void
}

/** A bot that beats by the world's clock; `follows` says whether it takes a wanted generation over. */
export function startFakeBot(w: World, { follows }: { follows: boolean }): FakeBot {
  w.change('insert or ignore into bot_state (id) values (1)')
  const beat = () => {
    const at = w.clock.now().toISOString().slice(0, 19)
    w.change('update bot_state set heartbeat_at = ?', at)
    if (follows) w.change('update bot_state set running_generation = wanted_generation')
  }
  beat()
  const timer = setInterval(beat, 10)
  return { stop: () => clearInterval(timer) }
}
