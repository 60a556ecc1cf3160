import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { noteSeen } from '#src/domain/accounts/sessions.ts'
import { addAdmin, isAlive, logIn } from '#test/support/calls/admins.ts'
import { addUser, auditOf } from '#test/support/rows/records.ts'
import { testOnSqlite } from '#test/support/worlds/engines.ts'
import { scenarios } from '#test/support/worlds/scenario.ts'
import { createWorld, type World } from '#test/support/worlds/world.ts'

const PATH = '/admin/api/sessions'
/** Ids of the sessions, in the order of their logins. */
const ids = (w: World) => w.rows('select id from admin_sessions order by id').map((row) => row.id)

/** Two sessions of the first admin beside the world's, and one of another. */
async function given(w: World) {
  w.change('delete from admin_sessions')
  addAdmin(w, 'second')
  const first = await logIn(w, 'admin', '192.0.2.1')
  w.clock.advance(30_000)
  const foreign = await logIn(w, 'second', '192.0.2.2')
  w.clock.advance(30_000)
  const own = await logIn(w, 'admin', '2001:db8::7')
  const [firstId, foreignId, ownId] = ids(w)
  return { first, foreign, own, firstId, foreignId, ownId }
}

const ask = (cookie: string, method = 'GET', id?: unknown) => ({
  path: id === undefined ? PATH : `${PATH}/${id}`,
  method,
  cookie,
})

scenarios('GET /admin/api/sessions', [
  {
    name: "200 with the admin's own live sessions, newest first",
    given,
    request: ({ own }) => ask(own),
    status: 200,
    body: ({ firstId, ownId }: Awaited<ReturnType<typeof given>>) => [
      {
        id: ownId,
        created_at: '2026-03-01T12:01:00',
        last_seen_at: '2026-03-01T12:01:00',
        ip: '2001:db8::7',
        user_agent: 'Browser of admin',
        current: true,
      },
      {
        id: firstId,
        created_at: '2026-03-01T12:00:00',
        last_seen_at: '2026-03-01T12:00:00',
        ip: '192.0.2.1',
        user_agent: 'Browser of admin',
        current: false,
      },
    ],
    effects: (w, _given, { text }) => {
      for (const { token } of w.rows('select token from admin_sessions')) {
        expect(text).not.toContain(token)
      }
    },
  },
  {
    name: '200 without the ones that ran out',
    given: async (w) => {
      const sessions = await given(w)
      w.change(
        'update admin_sessions set expires_at = ? where id = ?',
        '2026-03-01T12:01:00',
        sessions.firstId,
      )
      return sessions
    },
    request: ({ own }) => ask(own),
    status: 200,
    effects: (_w, _given, { json }) => expect(json).toHaveLength(1),
  },
])

scenarios('DELETE /admin/api/sessions/{id}', [
  {
    name: '200, and that session has ended',
    given,
    request: ({ own, firstId }) => ask(own, 'DELETE', firstId),
    status: 200,
    headers: { 'set-cookie': null },
    body: { ok: true },
    effects: async (w, { first, own, foreign, firstId }) => {
      expect(await isAlive(w, first)).toBe(false)
      expect((await w.call('/admin/api/nodes', { cookie: first })).status).toBe(401)
      expect(await isAlive(w, own)).toBe(true)
      expect(await isAlive(w, foreign)).toBe(true)
      expect(w.rows('select action, object, admin from audit_log').at(-1)).toEqual({
        action: 'session.end',
        object: String(firstId),
        admin: 'admin',
      })
    },
  },
  {
    name: '200 for the current one, whose cookie is removed',
    given,
    request: ({ own, ownId }) => ask(own, 'DELETE', ownId),
    status: 200,
    headers: { 'set-cookie': 'panel_admin=; Max-Age=0; Path=/; HttpOnly; Secure; SameSite=Strict' },
    body: { ok: true },
    effects: async (w, { own, first }) => {
      expect(await isAlive(w, own)).toBe(false)
      expect(await isAlive(w, first)).toBe(true)
    },
  },
  {
    name: '404 for the session of another admin',
    given,
    request: ({ own, foreignId }) => ask(own, 'DELETE', foreignId),
    status: 404,
    error: 'session not found',
    effects: async (w, { foreign }) => expect(await isAlive(w, foreign)).toBe(true),
  },
  ...[999, 0, -1, 'x', '1.5', '9007199254740993'].map((id) => ({
    name: `404 for the id ${id}`,
    given,
    request: ({ own }: { own: string }) => ask(own, 'DELETE', id),
    status: 404,
    error: 'session not found',
  })),
])

scenarios('DELETE /admin/api/sessions', [
  {
    name: '200, and all other sessions of the admin have ended',
    given,
    request: ({ own }) => ask(own, 'DELETE'),
    status: 200,
    headers: { 'set-cookie': null },
    body: { ok: true },
    effects: async (w, { own, first, foreign }) => {
      expect(await isAlive(w, own)).toBe(true)
      expect(await isAlive(w, first)).toBe(false)
      expect(await isAlive(w, foreign)).toBe(true)
      expect(auditOf(w).at(-1)).toBe('session.end-others')
    },
  },
])

describe('last_seen_at', () => {
  let w: World
  beforeEach(async () => {
    w = await createWorld()
  })
  afterEach(() => w.close())

  const seen = () => w.rows('select last_seen_at as at from admin_sessions order by id desc')[0].at
  const use = async (cookie: string, path = '/admin/api/nodes') => {
    await w.call(path, { cookie })
    await w.s.background.idle()
  }

  test('is written when the last note is a minute old, and not before', async () => {
    const cookie = await logIn(w)
    w.clock.advance(59_000)
    await use(cookie)
    expect(seen()).toBe('2026-03-01T12:00:00')
    w.clock.advance(1000)
    await use(cookie)
    expect(seen()).toBe('2026-03-01T12:01:00')
    w.clock.advance(59_000)
    await use(cookie)
    expect(seen()).toBe('2026-03-01T12:01:00')
    w.clock.advance(3_600_000)
    await use(cookie)
    expect(seen()).toBe('2026-03-01T13:01:59')
  })

  testOnSqlite('is written once when two processes see at once that it is old', async () => {
    await logIn(w)
    const [session] = w.rows(
      'select id, last_seen_at as "lastSeenAt" from admin_sessions where id > 1',
    )
    w.clock.advance(60_000)
    noteSeen(w.s, session)
    w.clock.advance(59_000)
    noteSeen(w.s, session)
    await w.s.background.idle()
    expect(seen()).toBe('2026-03-01T12:01:00')
  })

  test('costs no transaction while the last note is young', async () => {
    await logIn(w)
    const [session] = w.rows(
      'select id, last_seen_at as "lastSeenAt" from admin_sessions where id > 1',
    )
    const works: string[] = []
    const background = { ...w.s.background, run: (name: string) => works.push(name) }
    w.clock.advance(59_000)
    noteSeen({ ...w.s, background }, session)
    expect(works).toEqual([])
    w.clock.advance(1000)
    noteSeen({ ...w.s, background }, session)
    expect(works).toHaveLength(1)
  })

  test('is not written for a request that the check refuses', async () => {
    const cookie = await logIn(w)
    w.clock.advance(604_800_000)
    await use(cookie)
    expect(seen()).toBe('2026-03-01T12:00:00')
  })

  test('moves no end: seven days from the login are all', async () => {
    const cookie = await logIn(w)
    for (let day = 0; day < 7; day++) {
      expect(await isAlive(w, cookie)).toBe(true)
      await use(cookie)
      w.clock.advance(86_400_000)
    }
    expect(await isAlive(w, cookie)).toBe(false)
  })
})

describe('a request whose session ends while its body is on its way', () => {
  let w: World
  beforeEach(async () => {
    w = await createWorld()
  })
  afterEach(() => w.close())

  test.each([
    ['/admin/api/settings/alerts', { admin_tg_ids: [666] }],
    ['/admin/api/users/5/grant', { node: 'de1', plan: '1m' }],
    ['/admin/api/users/bulk', { action: 'ban', tg_ids: [5] }],
    ['/admin/api/payments/providers/cryptobot', { enabled: true }],
    ['/admin/api/payments/providers/provider_b/settings', { merchant_id: 'm', secret: 's' }],
  ])('POST %s is refused with 401 and changes nothing', async (path, body) => {
    addUser(w, 5)
    const before = w.dump('admin_sessions')
    let isSent = false
    const answer = w.admin(path, {
      method: 'POST',
      raw: new ReadableStream(
        {
          pull(controller) {
            if (isSent) {
              w.change('delete from admin_sessions')
              controller.close()
            } else controller.enqueue(new TextEncoder().encode(JSON.stringify(body)))
            isSent = true
          },
        },
        // Nothing is asked for before somebody reads, who has looked at the session by then.
        { highWaterMark: 0 },
      ),
    })
    expect(await answer).toMatchObject({ status: 401, json: { error: 'unauthorized' } })
    expect(w.dump('admin_sessions')).toBe(before)
  })
})
