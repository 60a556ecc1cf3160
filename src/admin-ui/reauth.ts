/** The confirmation that the service wants before what the thief of a session would do: asked for once, however many wait for it. */
import { createStore } from './store.ts'

/** Set while it is asked for. */
export const reauth = createStore<{ answer: (yes: boolean) => void } | null>(null)

let running: Promise<boolean> | null = null

/** Asks for password or code; false when the user thinks better of it. */
export function askReauth(): Promise<boolean> {
  running ??= new Promise((resolve) => {
    reauth.set({
      answer: (yes) => {
        reauth.set(null)
        running = null
        resolve(yes)
      },
    })
  })
  return running
}
