/** When a core that is behind is to be tried again: after 5, 10, 20 … s, until the passes of all nodes come as soon. */
import { SECOND_MS } from '#src/lib/time.ts'
import type { Services } from '#src/services.ts'

type Deps = Pick<Services, 'clock' | 'config'>

/** `restarted`: all went well, but whether the core came up again is still to be seen. */
export type Outcome = 'in step' | 'restarted' | 'failed'

const FIRST_MS = 5 * SECOND_MS

/** The times of a process: another one that takes over begins anew. */
export function createRetryTimes(s: Deps) {
  const times = new Map<string, { failed: number; dueMs: number }>()
  const set = (core: string, failed: number) => {
    const afterMs = FIRST_MS * 2 ** Math.max(0, failed - 1)
    const dueMs =
      afterMs < s.config.syncIntervalMs ? s.clock.monotonicMs() + afterMs : Number.POSITIVE_INFINITY
    times.set(core, { failed, dueMs })
  }
  return {
    /** Notes how a pass over a core ended. */
    note(core: string, outcome: Outcome): void {
      if (outcome === 'in step') times.delete(core)
      else set(core, outcome === 'restarted' ? 0 : (times.get(core)?.failed ?? 0) + 1)
    },
    /** Notes that a core did not take what it was told outside of a pass. */
    missed(core: string): void {
      if (!times.has(core)) set(core, 1)
    },
    /** Which of the cores that are behind are to be tried now: at once what another process has left to this one. */
    due(behind: string[]): string[] {
      for (const core of times.keys()) if (!behind.includes(core)) times.delete(core)
      const now = s.clock.monotonicMs()
      return behind.filter((core) => (times.get(core)?.dueMs ?? now) <= now)
    },
  }
}
