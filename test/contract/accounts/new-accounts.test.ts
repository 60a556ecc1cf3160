/** What a new account may be called, and which passwords it can't have. */
import { expect } from 'vitest'
import { addAdmin } from '#test/support/calls/admins.ts'
import { create, good, refused } from '#test/support/calls/new-account.ts'
import { scenarios } from '#test/support/worlds/scenario.ts'
import { PASSWORD, type World } from '#test/support/worlds/world.ts'

const names = (w: World) => w.rows('select username from admins order by id').map((r) => r.username)

scenarios('POST /admin/api/admins', [
  ...[
    'password',
    'PASSWORD1',
    'iloveyou',
    'Qwertyuiop',
    '1234567890',
    'trustno1',
    'Password1!',
    'sunshine-2026',
  ].map((password) =>
    refused(
      `the password ${password}`,
      { ...good, password },
      'password must not be one of the most common passwords',
    ),
  ),
  ...['        ', 'aaaaaaaa', '🙂🙂🙂🙂🙂🙂🙂🙂'].map((password) =>
    refused(
      `the password ${JSON.stringify(password)}`,
      { ...good, password },
      'password must not be one character many times',
    ),
  ),
  ...['second-admin', ' SECOND-admin ', 'ｓecond-admin'].map((password) =>
    refused(
      `the username as the password: ${JSON.stringify(password)}`,
      { username: 'second-admin', password },
      'password must not be the username',
    ),
  ),
  ...['аdmin', 'admιn', 'adԱmin', 'Ꭺdmin'].map((username) =>
    refused(
      `a name of two scripts: ${username}`,
      { ...good, username },
      'username must not mix letters of several scripts',
    ),
  ),
  ...[
    'admin\uFE0F',
    'ad\u034Fmin',
    'admin\u180B',
    'admin\u{E0100}',
    'admin\u2800',
    '\u2800\u2800\u2800',
    '\u0301admin',
    ' \u0301admin',
  ].map((username) =>
    refused(
      `a name with what nobody sees: ${JSON.stringify(username)}`,
      { ...good, username },
      'username must have no invisible characters',
    ),
  ),
  ...['sunshine and rain', '2026-sunshine', 'sun-shines2026'].map((password) => ({
    name: `200 for the password ${password}`,
    request: create({ ...good, password }),
    status: 200,
  })),
  refused(
    'a name that is one of another in wide letters',
    { ...good, username: 'ＡＤＭＩＮ' },
    /taken/,
  ),
  {
    name: '200 for a name in wide letters, kept in plain ones',
    request: create({ ...good, username: 'ｓｅｃｏｎｄ' }),
    status: 200,
    effects: async (w) => {
      expect(names(w)).toEqual(['admin', 'second'])
      const body = { ...good, username: 'ｓecond' }
      expect((await w.call('/admin/api/login', { body })).status).toBe(200)
    },
  },
  ...['Анна-2', '東京タワー', 'admin_2 😀', 'Zoe\u0308', 'नमस्ते'].map((username) => ({
    name: `200 for a name of one script with signs and digits: ${username}`,
    request: create({ ...good, username }),
    status: 200,
  })),
  ...[
    ['mixes scripts', 'аdmin'],
    ['has what nobody sees', 'admin\uFE0F'],
  ].map(([what, username = '']) => ({
    name: `200 for another account beside one whose name ${what}, which logs in as before`,
    given: (w: World) => addAdmin(w, username),
    request: create(good),
    status: 200,
    effects: async (w: World) => {
      const body = { username, password: PASSWORD }
      expect((await w.call('/admin/api/login', { body })).status).toBe(200)
    },
  })),
])

scenarios(
  'POST /admin/api/password',
  [
    ['of one character', '        ', 'password must not be one character many times'],
    ['that is a common one', 'Sunshine', 'password must not be one of the most common passwords'],
    ['that is the own name', 'Long-Name', 'password must not be the username'],
  ].map(([what, password, error]) => ({
    name: `400 for a new one ${what}, which is no attempt`,
    given: (w) => w.change("update admins set username = 'long-name'"),
    request: { path: '/admin/api/password', body: { current_password: PASSWORD, password } },
    status: 400,
    error: error as string,
    effects: (w) => expect(w.rows('select * from login_attempts')).toEqual([]),
  })),
)
