/** Nodes whose server has no program to serve with. */

/** Whether the last pass over a node found no core; `last_error` begins so then (src/domain/nodes/sync/core-pass.ts). */
export const lacksCore = (node: { last_error: string | null }): boolean =>
  node.last_error?.startsWith('no proxy core ') ?? false
