/** Alerts of nodes: down for three minutes, back again, removals held back. */

import { isAlertOpen } from '#db/open-alerts.ts'
import type { Node } from '#db/schema/index.ts'
import { alertState } from '#src/domain/notify/alerts.ts'
import { formatTimestamp, MINUTE_MS } from '#src/lib/time.ts'
import type { Services } from '#src/services.ts'

type Deps = Pick<Services, 'db' | 'clock' | 'config'>

const DOWN_MS = 3 * MINUTE_MS

/** The names of a node's states (alerts.ts). */
export const nodeStates = (code: string) => ({
  down: `node:${code}`,
  brake: `brake:${code}`,
  hostKey: `host-key:${code}`,
})

export interface NodeAlerts {
  /** What a pass found of nodes: their trouble, or null where all is well. */
  note(nodes: Node[], trouble: string | null): Promise<void>
  /** That removals from a node are held back from now on, or are not any more. */
  noteBrake(node: Node, blocked: boolean): Promise<void>
}

/** The alerts of a process that syncs. What it saw of troubles is its own, what was told is in the database. */
export function createNodeAlerts(s: Deps): NodeAlerts {
  const troubles = new Map<string, { sinceMs: number; seenMs: number }>()
  /** Two looks further apart say nothing of the time between: another process may sync. */
  const gapMs = Math.max(DOWN_MS, 2 * s.config.syncIntervalMs)

  /** For how long a node has been in trouble without a break. */
  const troubledMs = (code: string): number => {
    const now = s.clock.monotonicMs()
    const last = troubles.get(code)
    const sinceMs = last && now - last.seenMs <= gapMs ? last.sinceMs : now
    troubles.set(code, { sinceMs, seenMs: now })
    return now - sinceMs
  }
  const noteNode = async ({ code, label, status }: Node, trouble: string | null) => {
    const name = nodeStates(code).down
    if (trouble === null) troubles.delete(code)
    // A node that is being provisioned is not down.
    else if (status !== 'active' || troubledMs(code) < DOWN_MS) return
    const begins = trouble !== null
    if ((await s.db.read((q) => isAlertOpen(q, name))) === begins) return
    const at = formatTimestamp(s.clock.now())
    await s.db.tx((tx) =>
      alertState(tx, s, at, {
        name,
        begins,
        alert:
          trouble === null
            ? { about: 'node-back', node: label }
            : { about: 'node-down', node: label, reason: trouble },
      }),
    )
  }
  return {
    async note(nodes, trouble) {
      for (const node of nodes) await noteNode(node, trouble)
    },
    async noteBrake({ code, label }, blocked) {
      const at = formatTimestamp(s.clock.now())
      await s.db.tx((tx) =>
        alertState(tx, s, at, {
          name: nodeStates(code).brake,
          begins: blocked,
          alert: blocked ? { about: 'removals-held-back', node: label } : null,
        }),
      )
    },
  }
}
