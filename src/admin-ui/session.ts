/** Whether somebody is logged in, and whether the service answers. */
import { boot } from './boot.ts'
import { createStore } from './store.ts'

/**
 * `expired`: it was in, and its screen waits with all that was typed until there is a session again. `enrol`: it can do nothing but
 * set up two-factor login.
 */
export type Session = 'in' | 'out' | 'expired' | 'enrol'

export const session = createStore<Session>(boot.authenticated ? 'in' : 'out')

/** A request was refused for want of a session. */
export function sessionLost(): void {
  if (session.get() === 'in') session.set('expired')
}

/** A request was refused for want of a second factor. */
export function enrolmentNeeded(): void {
  if (session.get() === 'in') session.set('enrol')
}

/** False while the service cannot be reached. */
export const online = createStore(true)

const RETRY_MS = 2000

async function isThere(): Promise<boolean> {
  try {
    return (await fetch('/healthz', { cache: 'no-store', signal: AbortSignal.timeout(5000) })).ok
  } catch {
    return false
  }
}

/** A request got no answer: asks on until there is one. */
export function connectionLost(): void {
  if (!online.get()) return
  online.set(false)
  const ask = async () => {
    if (await isThere()) online.set(true)
    else setTimeout(() => void ask(), RETRY_MS)
  }
  setTimeout(() => void ask(), RETRY_MS)
}

addEventListener('offline', connectionLost)
