/** The install commands that were given out on this page. */
import { useEffect } from 'preact/hooks'
import { session } from '#src/admin-ui/session.ts'
import { createStore } from '#src/admin-ui/store.ts'
import { type Kept, keptAt } from './setup-state.ts'
import type { NodeRow } from './texts.ts'

// In memory only: a command is a secret, and the service shows it once.
const commands = createStore<Readonly<Record<string, Kept | undefined>>>({})
session.follow((now) => {
  if (now === 'out') commands.set({})
})

/** Keeps a command that was given out, or forgets it. */
export const keepCommand = (code: string, kept: Kept | undefined): void =>
  commands.set({ ...commands.get(), [code]: kept })

/** The command of a node, if it was given out since this page was loaded, and none after it. */
export function useCommand({ code, provision_expires_at: end }: NodeRow): string | undefined {
  const kept = commands.use()[code]
  const now = kept && keptAt(kept, end)
  useEffect(() => {
    if (kept && now !== kept) keepCommand(code, now)
  }, [kept, end])
  return now?.command
}
