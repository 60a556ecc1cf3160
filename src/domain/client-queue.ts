/** Changes of single clients on their way to a core: collected while the core is busy, bounded in time for the caller. */
import { findNode } from '#db/nodes.ts'
import { NodeError } from '#src/lib/errors.ts'
import { inTime } from '#src/lib/pause.ts'
import type { Core, Services } from '#src/services.ts'

type Deps = Pick<Services, 'db' | 'cores' | 'log' | 'background'>

interface Waiting {
  uuids: Set<string>
  /** Resolves with the outcome of the call that carries these clients. */
  done: Promise<boolean>
}

/**
 * `apply` puts a set of clients of one core right. One call per core runs at a time; what arrives meanwhile goes together in
 * the next, so a thousand grants cost a handful of calls.
 */
export function createClientQueue(
  s: Deps,
  apply: (core: Core, uuids: string[]) => Promise<boolean>,
) {
  const running = new Map<Core, Promise<unknown>>()
  const waiting = new Map<Core, Waiting>()

  const carry = async (core: Core, own: Waiting): Promise<boolean> => {
    await running.get(core)
    waiting.delete(core)
    try {
      return await apply(core, [...own.uuids])
    } catch (error) {
      if (!(error instanceof NodeError)) throw error
      s.log.warn('client change waits for the next sync', {
        core: core.name,
        failure: error.failure,
      })
      return false
    }
  }

  const enqueue = (core: Core, uuids: string[]): Promise<boolean> => {
    let own = waiting.get(core)
    if (!own) {
      const entry: Waiting = { uuids: new Set(), done: Promise.resolve(false) }
      entry.done = carry(core, entry)
      waiting.set(core, entry)
      running.set(
        core,
        entry.done.catch(() => {}),
      )
      s.background.run('client change', () => entry.done)
      own = entry
    }
    for (const uuid of uuids) own.uuids.add(uuid)
    return own.done
  }

  return {
    /** True when all clients are in place within `timeoutMs`; the call goes on after that. */
    async touch(
      subscriptions: { uuid: string; node: string }[],
      timeoutMs: number,
    ): Promise<boolean> {
      const perCore = new Map<Core, string[]>()
      for (const { uuid, node: code } of subscriptions) {
        const node = findNode(s.db, code)
        const core = node && s.cores.of(node)
        if (core) perCore.set(core, [...(perCore.get(core) ?? []), uuid])
      }
      const outcomes = Promise.all(
        Array.from(perCore, ([core, uuids]) => enqueue(core, uuids).catch(() => false)),
      ).then((results) => results.every(Boolean))
      return inTime(outcomes, timeoutMs, false)
    },
  }
}
