/** Customers who did not come by Telegram: their numbers, what is known of them, and that nobody else notices. */
import { expect } from 'vitest'
import { USER_VIEW } from '#test/support/calls/views.ts'
import { addOther } from '#test/support/rows/other-customers.ts'
import { addUser } from '#test/support/rows/records.ts'
import { type Scenario, scenarios } from '#test/support/worlds/scenario.ts'
import type { World } from '#test/support/worlds/world.ts'

const USERS = '/admin/api/users'
const TOKEN = expect.stringMatching(/^[A-Za-z0-9_-]{43}$/)
const create = (body: unknown) => ({ path: USERS, method: 'POST', body })

const edit = (tgId: number, body: unknown) => ({
  path: `${USERS}/${tgId}`,
  method: 'PATCH',
  body,
})

const userOf = (w: World, tgId: number) => w.rows('select * from users where tg_id = ?', tgId)[0]

const FULL = {
  name: 'Анна',
  email: ' Anna@Mail.test ',
  note: 'by phone',
  tags: ['vip', 'из Marzban'],
}

scenarios('POST /admin/api/users', [
  {
    name: '200 with a number below 0, a token and a link',
    request: create({}),
    status: 200,
    body: { tg_id: -1, token: TOKEN, sub_link: expect.stringContaining('https://sub.test/sub/') },
    effects: (w, _given, { json }) => {
      expect(userOf(w, -1)).toMatchObject({ telegram_id: null, name: null, token: json.token })
      expect(json.sub_link).toBe(`https://sub.test/sub/${json.token}`)
      expect(w.rows('select admin, action, object from audit_log')).toEqual([
        { admin: 'admin', action: 'user.create', object: '-1' },
      ])
    },
  },
  {
    name: '200 with all that is said of them; the address in small letters',
    request: create(FULL),
    status: 200,
    effects: async (w) => {
      const { json } = await w.admin(USERS)
      expect(json).toEqual([
        {
          ...USER_VIEW,
          tg_id: -1,
          note: 'by phone',
          telegram_id: null,
          name: 'Анна',
          email: 'anna@mail.test',
          tags: ['vip', 'из Marzban'],
        },
      ])
      const card = (await w.admin(`${USERS}/-1`)).json
      expect(card).toMatchObject({ telegram_id: null, name: 'Анна', tags: ['vip', 'из Marzban'] })
    },
  },
  {
    name: '200 by a Telegram id, which is the number then; nothing more is shown of them than of others',
    request: create({ telegram_id: 7 }),
    status: 200,
    body: { tg_id: 7, token: TOKEN, sub_link: expect.any(String) },
    effects: async (w) => expect((await w.admin(USERS)).json).toEqual([USER_VIEW]),
  },
  {
    name: '400 for the Telegram id of a user',
    given: (w) => addUser(w, 7),
    request: create({ telegram_id: 7, name: 'x' }),
    status: 400,
    error: 'telegram_id is taken',
  },
  {
    name: '400 for a Telegram id that is connected to a customer',
    given: (w) => addOther(w, -1, { telegram_id: 7 }),
    request: create({ telegram_id: 7 }),
    status: 400,
    error: 'telegram_id is taken',
  },
  ...(
    [
      [{ name: '' }, 'name must not be empty'],
      [{ name: 'x'.repeat(65) }, 'name must have at most 64 characters'],
      [{ name: 'a\nb' }, 'name must be one line without control characters'],
      [{ email: 'anna' }, 'email must be an e-mail address'],
      [{ email: 'a b@c' }, 'email must be an e-mail address'],
      // Longer in small letters, and in the form that is stored.
      [{ email: `${'İ'.repeat(200)}@x` }, 'email must have at most 254 characters'],
      [{ name: '\u0958'.repeat(40) }, 'name must have at most 64 characters'],
      [{ tags: ['\u00e9', 'e\u0301'] }, 'tags must have each tag once'],
      [{ telegram_id: 0 }, /^telegram_id must be a whole number from 1 /],
      [{ telegram_id: -5 }, /^telegram_id must be a whole number from 1 /],
      [{ telegram_id: '7' }, /^telegram_id must be a whole number from 1 /],
      [{ tags: 'vip' }, 'tags must be a list of tags'],
      [{ tags: ['a', ' a'] }, 'tags must have each tag once'],
      [{ tags: ['x'.repeat(25)] }, 'tags.0 must have at most 24 characters'],
      [{ tags: [...'abcdefghijk'] }, 'tags must have at most 10 tags'],
      [{ note: '\u0000' }, 'note must have no control characters but line breaks and tabs'],
    ] as const
  ).map(
    ([body, error]): Scenario => ({
      name: `400 for ${JSON.stringify(body)}`,
      request: create(body),
      status: 400,
      error,
    }),
  ),
  { name: '401 without a session', request: { ...create({}), anonymous: true }, status: 401 },
])

scenarios('PATCH /admin/api/users/{tg_id} of a customer', [
  {
    name: '200 with what was changed; what is not said stays',
    given: (w) => addOther(w, -1, { name: 'Anna', tags: '["vip"]' }),
    request: edit(-1, { name: 'Bob', telegram_id: 7 }),
    status: 200,
    body: { ...USER_VIEW, tg_id: -1, telegram_id: 7, name: 'Bob', email: null, tags: ['vip'] },
    effects: (w) =>
      expect(w.rows('select action, object, detail from audit_log')).toEqual([
        { action: 'user.edit', object: '-1', detail: 'name telegram_id' },
      ]),
  },
  {
    name: '200 and null takes name, address and Telegram id away',
    given: (w) => addOther(w, -1, { name: 'Anna', email: 'a@b', telegram_id: 7, tags: '["vip"]' }),
    request: edit(-1, { name: null, email: null, telegram_id: null, tags: [] }),
    status: 200,
    body: { ...USER_VIEW, tg_id: -1, telegram_id: null, name: null, email: null, tags: [] },
  },
  {
    name: '200 for a user of Telegram, who is called by their name too',
    given: (w) => addUser(w, 7),
    request: edit(7, { name: 'Anna', telegram_id: 7 }),
    status: 200,
    body: { ...USER_VIEW, telegram_id: 7, name: 'Anna', email: null, tags: [] },
  },
  {
    name: '200 by the Telegram id that is connected',
    given: (w) => addOther(w, -1, { telegram_id: 7 }),
    request: edit(7, { note: 'x' }),
    status: 200,
    body: {
      ...{ ...USER_VIEW, tg_id: -1, note: 'x', telegram_id: 7, name: null, email: null, tags: [] },
    },
  },
  {
    name: '400 for the Telegram id of another one',
    given: (w) => {
      addOther(w, -1)
      addUser(w, 7)
    },
    request: edit(-1, { telegram_id: 7, name: 'x' }),
    status: 400,
    error: 'telegram_id is taken',
  },
  ...[null, 8].map((telegram_id) => ({
    name: `400 for ${telegram_id} in place of the Telegram id by which somebody is named`,
    given: (w: World) => addUser(w, 7),
    request: edit(7, { telegram_id, name: 'x' }),
    status: 400,
    error: 'telegram_id of this user cannot be changed',
  })),
])

const PLACES: [name: string, request: Scenario['request']][] = [
  ['the card', { path: `${USERS}/-5` }],
  ['an edit', edit(-5, { note: 'x' })],
  ['a deletion', { path: `${USERS}/-5`, method: 'DELETE' }],
  ['a grant', { path: `${USERS}/-5/grant`, method: 'POST', body: { node: 'de1', plan: '1m' } }],
  ['the devices', { path: `${USERS}/-5/devices` }],
  ['a removed device', { path: `${USERS}/-5/devices/1`, method: 'DELETE' }],
  ['a device limit', { path: `${USERS}/-5/hwid-limit`, method: 'POST', body: { limit: 1 } }],
  ['another link', { path: `${USERS}/-5/rotate-token`, method: 'POST' }],
]

scenarios(
  'a number below 0 that is nobody’s',
  PLACES.map(([name, request]) => ({
    name: `404 for ${name}`,
    request,
    status: 404,
    error: 'user not found',
  })),
)
