/** Settings as the panel saves them, and how they are refused. */
import { expect } from 'vitest'
import { auditOf } from '#test/support/rows/records.ts'
import type { Scenario } from '#test/support/worlds/scenario.ts'

export const path = (name: string) => `/admin/api/settings/${name}`

/** Refusals of one route. */
export const refusals = (
  name: string,
  list: [body: unknown, error: string | RegExp][],
): Scenario[] => [
  ...list.map(
    ([body, error]): Scenario => ({
      name: `400 and nothing is applied: ${JSON.stringify(body).slice(0, 70)}`,
      request: { path: path(name), body },
      status: 400,
      error,
      effects: (w) => expect(auditOf(w)).toEqual([]),
    }),
  ),
  {
    name: '400 for a malformed body',
    request: { path: path(name), raw: '{"' },
    status: 400,
    error: 'invalid JSON',
  },
]
