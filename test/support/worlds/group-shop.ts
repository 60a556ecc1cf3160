/** A shop whose plan 3m is sold with a group of three nodes, and what tests ask of it. */
import { expect } from 'vitest'
import { nextTurn } from '#src/lib/event-loop.ts'
import type { FakeNode } from '#test/support/fakes/node.ts'
import { addAll } from '#test/support/rows/groups.ts'
import { createShop, type Shop } from './shop.ts'

export interface GroupShop extends Shop {
  nodes: Record<'de1' | 'nl1' | 'us1', FakeNode>
  /** Asks as an admin, and waits for what follows. */
  api(path: string, body?: unknown, method?: string): ReturnType<Shop['w']['admin']>
  /** The codes of the nodes that hold a client now. */
  holders(uuid: string): string[]
  // biome-ignore lint/suspicious/noExplicitAny: tests read columns of unknown type
  rowOf(uuid: string): any
  /** Closes it: no request failed, and the books balance. */
  close(): Promise<void>
}

export async function createGroupShop(): Promise<GroupShop> {
  const shop = await createShop()
  const { w } = shop
  const nodes = addAll(w)
  return {
    ...shop,
    nodes,
    async api(path, body, method = body === undefined ? 'GET' : 'POST') {
      const answer = await w.admin(`/admin/api/${path}`, { method, ...(body ? { body } : {}) })
      await w.s.background.idle()
      return answer
    },
    holders: (uuid) =>
      Object.entries(nodes).flatMap(([code, node]) => (node.clients.has(uuid) ? [code] : [])),
    rowOf: (uuid) =>
      w.rows('select node, node_group, plan from subscriptions where uuid = ?', uuid)[0],
    async close() {
      await w.s.background.idle()
      // What lists read is let go at the end of a turn.
      await nextTurn()
      expect(w.fatal).toEqual([])
      expect(w.log.filter((line) => line.includes('request failed'))).toEqual([])
      expect(w.faults()).toEqual([])
      w.close()
    },
  }
}
