/** Payments that were begun and may still be paid. */
import { HOUR_MS } from '#src/lib/time.ts'

/** For how long a pending payment keeps its user and its node: they may be paying. */
export const PENDING_PAYMENT_MS = 48 * HOUR_MS
