/** How far a server is on its way to being a node, by what the service tells of it. */
import type { NodeRow } from './texts.ts'

export type Setup =
  | 'none'
  | 'waiting'
  | 'expired'
  | 'failed'
  | 'registered'
  | 'unreachable'
  | 'active'

type SetupFields = Pick<
  NodeRow,
  | 'provisioning'
  | 'provision_expires_at'
  | 'status'
  | 'ssh_user'
  | 'last_error'
  | 'last_seen_at'
  | 'presented_host_key'
>

/** Where the setup of a node is at a moment. */
export function setupOf(node: SetupFields, now: number): Setup {
  const { provisioning, status, ssh_user, last_error, last_seen_at } = node
  const isOpen = provisioning !== null && !hasRunOut(node, now)
  if (status === 'failed') return 'failed'
  if (isOpen) return 'waiting'
  // Also one that failed when it was set up again, and was given a new command.
  if (provisioning === 'first' || (provisioning && status === 'pending')) return 'expired'
  // Made by hand: no script has ever reported.
  if (ssh_user === null) return 'none'
  if (last_error !== null || node.presented_host_key !== null) return 'unreachable'
  return last_seen_at === null ? 'registered' : 'active'
}

/** Whether the install command of a node can no longer be run. */
export const hasRunOut = (
  { provision_expires_at: end }: Pick<NodeRow, 'provision_expires_at'>,
  now: number,
): boolean => end === null || Date.parse(`${end}Z`) <= now

export interface ScriptFault {
  step: string | null
  reason: string
}

/** Where the install script ended and why, of the fault that a failed node shows. */
export function scriptFault(text: string | null): ScriptFault {
  const found = /^the install script failed(?: at the step "([^"]*)")?(?:: (.*))?$/s.exec(
    text ?? '',
  )
  if (!found) return { step: null, reason: text ?? '' }
  return { step: found[1] ?? null, reason: found[2] ?? '' }
}

/** Whether the panel gets no connection to the server at all; `last_error` begins so then (src/integrations/nodes/ssh-connection.ts). */
export const lacksSsh = (node: Pick<NodeRow, 'last_error'>): boolean =>
  node.last_error?.startsWith('no SSH connection to ') ?? false

export interface Kept {
  command: string
  /** When it runs out; null for a node's first one until the node was seen. */
  end: string | null
  /** The end of the command before it, which the node has until it is asked for anew; null once it was seen with this one's. */
  before: string | null
}

/** A command that is kept, after its node was seen with this end; undefined when another one was given out since. */
export function keptAt(kept: Kept, end: string | null): Kept | undefined {
  if (kept.end === null) return { ...kept, end }
  if (kept.end !== end) return end !== null && end === kept.before ? kept : undefined
  return kept.before === null ? kept : { ...kept, before: null }
}
