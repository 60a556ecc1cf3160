/** What keeps cores in step. */
import type { PlacedClient } from '#db/node-groups.ts'

export interface NodeSyncResult {
  code: string
  ok: boolean
  added: number
  removed: number
  error: string | null
}

export interface PassOptions {
  /** Past the removal brake. */
  force: boolean
  remove: boolean
  only?: string[]
  timeoutMs?: number
}

/** Keeps the clients of every core equal to the active subscriptions. */
export interface NodeSync {
  /** Puts these clients right on their nodes. True when all of them are in place; false within `timeoutMs` otherwise. */
  touch(subscriptions: PlacedClient[], timeoutMs?: number): Promise<boolean>
  /**
   * One pass over all nodes, or over the cores of the nodes `only`: configuration, clients, traffic. Cores are passed side by side.
   * What takes a core longer than `timeoutMs` goes on, and its nodes are told as not done.
   */
  syncAll(options: PassOptions): Promise<NodeSyncResult[]>
  /** Begins a pass over each core that is known to be behind and whose time to be tried again has come. */
  retryBehind(options: { remove: boolean }): void
  /** Reads the counters of every core, bounded in time. */
  readTraffic(timeoutMs: number): Promise<void>
  /** Reads one node's core now; false when it did not answer. */
  readNode(code: string, timeoutMs: number): Promise<boolean>
}
