/** Requests for new accounts, and their refusals. */
import type { Scenario } from '#test/support/worlds/scenario.ts'

export const create = (body: unknown) => ({ path: '/admin/api/admins', body })

/** An account that may be created. */
export const good = { username: 'second', password: 'eight888' }

export const refused = (what: string, body: unknown, error: string | RegExp): Scenario => ({
  name: `400 for ${what}`,
  request: create(body),
  status: 400,
  error,
})
