/** The proxy cores of the nodes. */
import type { Node, RetiredNode } from '#db/schema/index.ts'
import type { NodeProgram } from './node-program.ts'

/** One proxy core: the local one serves all nodes of kind 'local', every managed node has its own. */
export interface Core {
  /** `local`, or the code of a managed node. */
  name: string
  program: NodeProgram
  /** The last wanted revision that was worked out, of how many clients, and the hash of all that it was made of. */
  known: { revision: string; count: number; made: string } | null
}

export interface Cores {
  /** The core of a node; null for external nodes, for managed ones before their first activation, and while the local node is off. */
  of(node: Node): Core | null
  /** Ends the connection to a node that is gone, or is another server from now on. */
  forget(code: string): void
  /** The node program on the server of a deleted node. */
  retired(node: RetiredNode): NodeProgram
  /** Ends all connections. */
  close(): void
}
