/** What all who handle payments share: who acts when a provider speaks, and the steps that the log can show. */

import type { Actor } from '#src/domain/audit.ts'
import type { Services } from '#src/services.ts'

/** The program itself, told by a provider. */
export const PROVIDER_ACTOR: Actor = { admin: null, ip: 'provider' }

/** Marks a step for whoever reads the log at its most detailed, and for tests that end the process there. */
export function paymentStep(s: Pick<Services, 'log'>, id: string, step: string): void {
  s.log.debug('payment', { payment: id, step })
}
