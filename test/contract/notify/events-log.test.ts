/** The delivery log of outbound events, resend and test. */
import { afterAll, beforeEach, expect, test } from 'vitest'
import { startFakeSystem } from '#test/support/fakes/system.ts'
import { addEvent, EVENT_ID as ID, readEvent, SECRET, stateOf } from '#test/support/rows/events.ts'
import { auditOf, nowOf, putSettings } from '#test/support/rows/records.ts'
import { type Scenario, scenarios } from '#test/support/worlds/scenario.ts'
import { createWorld } from '#test/support/worlds/world.ts'

let status = 200
let delayMs = 0
const receiver = await startFakeSystem(() => ({ status, json: {}, delayMs }))
beforeEach(() => {
  receiver.reset()
  status = 200
  delayMs = 0
})
afterAll(() => receiver.close())

const HOOK = { WEBHOOK_URL: `${receiver.url}/in`, WEBHOOK_SECRET: SECRET }
const world = { environment: HOOK, outsideTimeoutMs: 1000 }
const EVENTS = '/admin/api/events'
const TEST = '/admin/api/settings/webhook/test'
const resend = (id: string) => ({ path: `${EVENTS}/${id}/resend`, method: 'POST' })

const listed = {
  id: ID,
  event: 'node.added',
  created_at: '2026-03-01T12:00:00',
  status: 'failed',
  http_status: 500,
  error: 'answered 500',
  attempts: 1,
}

scenarios('GET /admin/api/events', [
  { name: '200 with nothing', request: { path: EVENTS }, status: 200, body: [] },
  {
    name: '200 newest first, without the data',
    given: (w) => {
      addEvent(w)
      addEvent(w, {
        ...{ id: 'b', status: 'skipped', http_status: null, error: null, attempts: 0 },
        created_at: '2026-03-01T12:00:01',
      })
    },
    request: { path: EVENTS },
    status: 200,
    headers: { 'x-total-count': '2', link: null },
    body: [
      {
        ...{ ...listed, id: 'b', status: 'skipped', http_status: null, error: null, attempts: 0 },
        created_at: '2026-03-01T12:00:01',
      },
      listed,
    ],
  },
  {
    name: '200 in pages that hold every event once, also those of one second',
    given: (w) => {
      for (let i = 0; i < 5; i++) addEvent(w, { id: `e${i}` })
    },
    request: { path: `${EVENTS}?limit=2` },
    status: 200,
    headers: { 'x-total-count': '5', link: /rel="next"/ },
    effects: async (w, _given, first) => {
      const ids: string[] = []
      let answer = first
      for (;;) {
        ids.push(...answer.json.map((one: { id: string }) => one.id))
        const next = /<([^>]+)>/.exec(answer.headers.get('link') ?? '')?.[1]
        if (!next) break
        answer = await w.admin(next)
      }
      expect(ids).toEqual(['e4', 'e3', 'e2', 'e1', 'e0'])
      const oldest = await w.admin(`${EVENTS}?order=asc&limit=1`)
      expect(oldest.json[0].id).toBe('e0')
    },
  },
  ...(
    [
      ['limit=0', /^limit/],
      ['limit=1001', /^limit/],
      ['limit=x', /^limit/],
      ['order=up', /^order/],
      ['cursor=zzz', 'cursor is not one of this list'],
    ] as const
  ).map(
    ([query, error]): Scenario => ({
      name: `400 for ${query}`,
      request: { path: `${EVENTS}?${query}` },
      status: 400,
      error,
    }),
  ),
])

scenarios(
  'POST /admin/api/events/{id}/resend',
  [
    ...(['failed', 'done', 'skipped', 'interrupted', 'ready'] as const).map(
      (before): Scenario => ({
        name: `200 and sent again with its id: one that is ${before}`,
        given: (w) => {
          addEvent(w, { status: before })
          w.clock.advance(3_600_000)
        },
        request: resend(ID),
        status: 200,
        body: { ok: true, status: 'done', error: null },
        effects: (w) => {
          expect(receiver.asked).toHaveLength(1)
          expect(readEvent(receiver.asked[0])).toEqual({
            ...{ id: ID, event: 'node.added', type: 'node.added' },
            ...{ created_at: '2026-03-01T12:00:00', data: { code: 'nl1' } },
          })
          expect(receiver.asked[0]?.headers['webhook-timestamp']).toBe(
            String(w.clock.now().getTime() / 1000),
          )
          expect(stateOf(w)).toEqual({ status: 'done', http_status: 200, error: null, attempts: 2 })
          expect(w.rows('select admin, action, object from audit_log')).toEqual([
            { admin: 'admin', action: 'event.resend', object: ID },
          ])
        },
      }),
    ),
    {
      name: '200 with what the receiver says against it',
      given: (w) => {
        status = 503
        addEvent(w, { status: 'done', http_status: 200, error: null })
      },
      request: resend(ID),
      status: 200,
      body: { ok: false, status: 'failed', error: 'answered 503' },
      effects: (w) =>
        expect(stateOf(w)).toEqual({
          ...{ status: 'failed', http_status: 503, error: 'answered 503', attempts: 2 },
        }),
    },
    {
      name: '200 within the time that a receiver has, when it says nothing',
      given: (w) => {
        receiver.mood = 'silent'
        addEvent(w)
      },
      request: resend(ID),
      status: 200,
      body: { ok: false, status: 'failed', error: 'no answer in time' },
      effects: (w) => expect(stateOf(w)).toMatchObject({ http_status: null, attempts: 2 }),
    },
    {
      name: '404 for an unknown event',
      request: resend('nothing'),
      status: 404,
      error: 'event not found',
    },
    {
      name: '400 while no address is set',
      given: (w) => {
        addEvent(w)
        putSettings(w, { WEBHOOK_URL: '' })
      },
      request: resend(ID),
      status: 400,
      error: 'no webhook address is set',
      effects: (w) => expect(auditOf(w)).toEqual([]),
    },
    {
      name: '400 while an attempt is under way',
      given: (w) => addEvent(w, { status: 'sending' }),
      request: resend(ID),
      status: 400,
      error: 'the event is being sent',
      effects: (w) => {
        expect(receiver.asked).toEqual([])
        expect(auditOf(w)).toEqual([])
      },
    },
  ],
  world,
)

scenarios(
  'POST /admin/api/settings/webhook/test',
  [
    {
      name: '200 and an event without data, which the log has',
      request: { path: TEST, method: 'POST' },
      status: 200,
      body: { ok: true, status: 'done', error: null },
      effects: async (w) => {
        const body = readEvent(receiver.asked[0])
        expect(body).toMatchObject({ event: 'webhook.test', data: {} })
        const { json } = await w.admin(EVENTS)
        expect(json).toEqual([
          {
            ...{ id: body.id, event: 'webhook.test', created_at: nowOf(w), status: 'done' },
            ...{ http_status: 200, error: null, attempts: 1 },
          },
        ])
        expect(auditOf(w)).toEqual(['webhook.test'])
      },
    },
    {
      name: '200 whatever the body is, which is not read',
      request: { path: TEST, raw: '{"' },
      status: 200,
      body: { ok: true, status: 'done', error: null },
    },
    {
      name: '200 with the reason when nobody is there',
      given: (w) => putSettings(w, { WEBHOOK_URL: 'http://127.0.0.1:1/' }),
      request: { path: TEST, method: 'POST' },
      status: 200,
      body: { ok: false, status: 'failed', error: 'connection refused' },
    },
    {
      name: '400 while no address is set',
      given: (w) => putSettings(w, { WEBHOOK_URL: '' }),
      request: { path: TEST, method: 'POST' },
      status: 400,
      error: 'no webhook address is set',
      effects: (w) => expect(w.rows('select * from events')).toEqual([]),
    },
  ],
  world,
)

test('of resends at once one is made at a time', async () => {
  const w = await createWorld(world)
  addEvent(w)
  // Under way until all of them have come.
  delayMs = 300
  const answers = await Promise.all(
    Array.from({ length: 5 }, () => w.admin(resend(ID).path, { method: 'POST' })),
  )
  expect(answers.map((answer) => answer.status).sort()).toEqual([200, 400, 400, 400, 400])
  expect(receiver.asked).toHaveLength(1)
  expect(stateOf(w)).toMatchObject({ status: 'done', attempts: 2 })
  expect(auditOf(w)).toEqual(['event.resend'])
  w.close()
})
