/** A bot's side of the restart: the heartbeat that db/bot-state.ts describes. */
import type { World } from '#test/support/worlds/world.ts'

export interface FakeBot {
  stop(): void
}

/** A bot that beats by the world's clock; `follows` says whether it takes a wanted generation over. */
export function startFakeBot(w: World, { follows }: { follows: boolean }): FakeBot {
  w.change('insert into bot_state (id) values (1) on conflict do nothing')
  const beat = () => {
    const at = w.clock.now().toISOString().slice(0, 19)
    const running = follows ? 'wanted_generation' : 'running_generation'
    return w.changeBeside(
      `update bot_state set heartbeat_at = ?, running_generation = ${running}`,
      at,
    )
  }
  w.change('update bot_state set heartbeat_at = ?', w.clock.now().toISOString().slice(0, 19))
  let timer: NodeJS.Timeout
  const next = () => {
    // A world that is closed meanwhile has no bot either.
    timer = setTimeout(() => void beat().then(next, () => {}), 10)
  }
  next()
  return { stop: () => clearTimeout(timer) }
}
