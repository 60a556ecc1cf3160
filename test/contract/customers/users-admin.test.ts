import { expect } from 'vitest'
import { USER_VIEW } from '#test/support/calls/views.ts'
import { addUser, auditOf, eventsOf } from '#test/support/rows/records.ts'
import { type Scenario, scenarios } from '#test/support/worlds/scenario.ts'
import type { World } from '#test/support/worlds/world.ts'

const USERS = '/admin/api/users'

const edit = (tgId: number | string, body: unknown) => ({
  path: `${USERS}/${tgId}`,
  method: 'PATCH',
  body,
})

const remove = (tgId: number | string) => ({ path: `${USERS}/${tgId}`, method: 'DELETE' })

const rotate = (tgId: number | string) => ({
  path: `${USERS}/${tgId}/rotate-token`,
  method: 'POST',
})

const ROUTES: [name: string, ask: (id: string) => Scenario['request']][] = [
  ['PATCH', (id) => edit(id, { note: 'x' })],
  ['DELETE', remove],
  ['rotate-token', rotate],
]

scenarios(
  'routes that change a user',
  ROUTES.flatMap(([name, ask]) => [
    ...['0', '-0', 'abc', '9007199254740992', 'bulk'].map((id) => ({
      name: `400 for ${name} of the user ${id}`,
      request: ask(id),
      status: 400,
      error: 'tg_id must be a positive integer',
    })),
    {
      name: `404 for ${name} of an unknown user`,
      request: ask('7'),
      status: 404,
      error: 'user not found',
    },
  ]),
)

scenarios('PATCH /admin/api/users/{tg_id}', [
  {
    name: '200 with the view of the listing after a note',
    given: (w) => addUser(w, 7),
    request: edit(7, { note: ' asked for a refund ' }),
    status: 200,
    body: { ...USER_VIEW, note: 'asked for a refund' },
    effects: (w) =>
      expect(w.rows('select admin, action, object, detail from audit_log')).toEqual([
        { admin: 'admin', action: 'user.edit', object: '7', detail: 'note' },
      ]),
  },
  ...[null, '', '  '].map((note) => ({
    name: `200 and ${JSON.stringify(note)} takes the note away`,
    given: (w: World) => addUser(w, 7, { note: 'old' }),
    request: edit(7, { note }),
    status: 200,
    body: USER_VIEW,
  })),
  ...['\u0000', 'a\u001bb', '\ud800'].map((note) => ({
    name: `400 for the note ${JSON.stringify(note)}`,
    given: (w: World) => addUser(w, 7),
    request: edit(7, { note }),
    status: 400,
    error: 'note must have no control characters but line breaks and tabs',
  })),
  ...[{}, { tg_id: 9, token: 'x', unknown: 1 }, { note: 'old' }, { banned: false }].map((body) => ({
    name: `200 and nothing changes for ${JSON.stringify(body)}`,
    given: (w: World) => {
      addUser(w, 7, { note: 'old' })
      return w.dump()
    },
    request: edit(7, body),
    status: 200,
    body: { ...USER_VIEW, note: 'old' },
    effects: (w: World, before: string) => expect(w.dump()).toBe(before),
  })),
  {
    name: '200 for note and ban at once, each with its audit row',
    given: (w) => addUser(w, 7),
    request: edit(7, { note: 'spam', banned: true }),
    status: 200,
    body: { ...USER_VIEW, note: 'spam', banned_at: '2026-03-01T12:00:00' },
    effects: (w) => {
      expect(auditOf(w)).toEqual(['user.edit', 'user.ban'])
      expect(eventsOf(w)).toEqual([])
    },
  },
  {
    name: '200 and a second ban keeps the time of the first',
    given: (w) => addUser(w, 7, { banned_at: '2026-01-01T00:00:00' }),
    request: edit(7, { banned: true }),
    status: 200,
    body: { ...USER_VIEW, banned_at: '2026-01-01T00:00:00' },
    effects: (w) => expect(auditOf(w)).toEqual([]),
  },
  ...(
    [
      [{ note: 1 }, 'note must be a string'],
      [{ note: 'x'.repeat(2001) }, 'note must have at most 2000 characters'],
      [{ banned: 1 }, 'banned must be true or false'],
      [{ banned: null }, 'banned must be true or false'],
      [{ note: 'new', banned: 'true' }, 'banned must be true or false'],
      [[], 'the body must be a JSON object'],
    ] as const
  ).map(([body, error]) => ({
    name: `400 ${error}`,
    given: (w: World) => addUser(w, 7),
    request: edit(7, body),
    status: 400,
    error,
  })),
  {
    name: '400 for a body that is no JSON',
    given: (w) => addUser(w, 7),
    request: { path: `${USERS}/7`, method: 'PATCH', raw: '{' },
    status: 400,
    error: 'invalid JSON',
  },
])
