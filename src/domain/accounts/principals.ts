/** Who asks for something of the admin API, and whether they may. What is not allowed to a role is denied. */

import type { Actor } from '#src/domain/audit.ts'
import { refusal } from '#src/refusals/index.ts'

type Subject =
  | 'audit'
  | 'events'
  | 'gifts'
  | 'install'
  | 'nodes'
  | 'payments'
  | 'plans'
  | 'providers'
  | 'settings'
  | 'stats'
  | 'subscriptions'
  | 'users'

/** What only a person with a session may be allowed, never a program: it decides who may log in, or is all the data. */
export type SessionScope = 'account' | `${'admins' | 'backup'}:${'read' | 'write'}`

/** What whoever asks must be allowed. `account`: nothing, it is their own account; `any`: nothing beyond being known. */
export type Scope = SessionScope | 'any' | `${Subject}:${'read' | 'write'}`

/** What an account is for. */
export type Role = 'owner'

/** The session of a request, with the admin whose it is: changes of accounts look in their transaction whether it still stands. */
export interface Login {
  adminId: number
  sessionId: number
  actor: Actor
}

export interface SessionPrincipal extends Login {
  kind: 'session'
  role: Role
  /** Whether it has to be confirmed before some changes (confirmation.ts). */
  unconfirmed: boolean
}

/** Who asks. A further way of being known is a further kind. */
export type Principal = SessionPrincipal

/** What each role is allowed. */
const ALLOWED: Record<Role, (scope: Scope) => boolean> = {
  owner: () => true,
}

const isOwn = (scope: Scope) => scope === 'any' || scope === 'account'

const isForSessions = (scope: Scope): scope is SessionScope =>
  /^(?:account|admins|backup)/.test(scope)

/** Throws 403 where `principal` is not allowed `scope`: because only a session is, or by their role. */
export function requireScope({ kind, role }: Principal, scope: Scope): void {
  if (kind !== 'session' && isForSessions(scope)) throw refusal('not-for-tokens')
  if (!isOwn(scope) && !ALLOWED[role]?.(scope)) throw refusal('not-allowed-for-role')
}
