/** Whether a secret stays where it belongs. */
import { expect } from 'vitest'
import type { World } from '#test/support/worlds/world.ts'

/** Nothing but the tables of settings and of former credentials holds the secret: no answer, no line of the log, no other table. */
export function expectKept(w: World, secret: string, ...answers: string[]): void {
  for (const text of answers) expect(text).not.toContain(secret)
  expect(w.log.join('\n')).not.toContain(secret)
  expect(w.dump('settings', 'former_credentials')).not.toContain(secret)
}

/** The rows of live settings. */
export const settingsOf = (w: World): Record<string, string> =>
  Object.fromEntries(w.rows('select key, value from settings').map((row) => [row.key, row.value]))
