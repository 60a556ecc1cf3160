/** Groups of nodes for tests. */
import type { FakeNode } from '#test/support/fakes/node.ts'
import type { World } from '#test/support/worlds/world.ts'
import { addNode, nowOf } from './records.ts'

/** A group with these members. */
export function addGroup(w: World, code: string, ...nodes: string[]): void {
  const sql = 'insert into node_groups (code, label, sort_order, created_at) values (?, ?, 1, ?)'
  w.change(sql, code, `Label of ${code}`, nowOf(w))
  for (const node of nodes) {
    w.change('insert into node_group_nodes (group_code, node) values (?, ?)', code, node)
  }
}

/** A managed node that has been set up; gives its program. */
export function addManaged(w: World, code: string): FakeNode {
  addNode(w, code, { kind: 'managed', private_key: 'K'.repeat(43), last_seen_at: nowOf(w) })
  return w.remote(code)
}

/** The group `all` of de1 and the managed nodes nl1 and us1, with which the plan 3m is sold; gives the programs of the three. */
export function addAll(w: World): Record<'de1' | 'nl1' | 'us1', FakeNode> {
  const [nl1, us1] = [addManaged(w, 'nl1'), addManaged(w, 'us1')]
  addGroup(w, 'all', 'de1', 'nl1', 'us1')
  w.change("update plans set node_group = 'all' where code = '3m'")
  return { de1: w.node, nl1, us1 }
}
