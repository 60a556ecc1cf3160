/** Passes over cores side by side: one of a core at a time, and none of them waits for another core. */
import type { Pass } from './clients.ts'

/** One pass that does what both were asked for. Whose removals count is the younger one that may remove: it looked at the clock. */
function joined(earlier: Pass, later: Pass): Pass {
  const base = later.remove || !earlier.remove ? later : earlier
  return { ...base, force: earlier.force || later.force, held: later.held ?? earlier.held }
}

/** The lanes of a process. `work` makes one pass over the core of this name. */
export function createPassLanes<Result>(work: (core: string, pass: Pass) => Promise<Result>) {
  const running = new Map<string, Promise<Result>>()
  const waiting = new Map<string, { pass: Pass; done: Promise<Result> }>()

  const begin = (core: string, pass: Pass): Promise<Result> => {
    const done = work(core, pass).finally(() => {
      if (running.get(core) === done) running.delete(core)
    })
    running.set(core, done)
    return done
  }
  const goOn = (core: string): Promise<Result> => {
    const { pass } = waiting.get(core) as { pass: Pass }
    waiting.delete(core)
    return begin(core, pass)
  }
  const wait = (core: string, pass: Pass, under: Promise<Result>): Promise<Result> => {
    const next = () => goOn(core)
    const done = under.then(next, next)
    waiting.set(core, { pass, done })
    return done
  }
  return {
    isBusy: (core: string) => running.has(core) || waiting.has(core),
    /** A pass that begins now or, while one is under way, after it: one for all who ask until then. */
    pass(core: string, pass: Pass): Promise<Result> {
      const next = waiting.get(core)
      if (next) {
        next.pass = joined(next.pass, pass)
        return next.done
      }
      const under = running.get(core)
      return under === undefined ? begin(core, pass) : wait(core, pass, under)
    },
  }
}
