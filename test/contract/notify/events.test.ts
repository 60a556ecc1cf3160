/** Outbound events: what a receiver gets of each, and what becomes of it. */
import { Webhook } from 'standardwebhooks'
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest'
import { base64, utf8 } from '#src/lib/encoding.ts'
import { MISBEHAVIOURS, type Mood, startFakeSystem } from '#test/support/fakes/system.ts'
import { addEvent, readEvent, SECRET, stateOf } from '#test/support/rows/events.ts'
import { addSubscription, addUser, nowOf, putSettings } from '#test/support/rows/records.ts'
import { createWorld, type World } from '#test/support/worlds/world.ts'

const receiver = await startFakeSystem(() => ({ status: 200, json: {} }))
beforeEach(() => receiver.reset())
afterAll(() => receiver.close())

const HOOK = { WEBHOOK_URL: `${receiver.url}/in`, WEBHOOK_SECRET: SECRET }
const world = { environment: HOOK, outsideTimeoutMs: 1000 }
const TEST = '/admin/api/settings/webhook/test'

describe('an event', () => {
  let w: World
  beforeEach(async () => {
    w = await createWorld(world)
  })
  afterEach(() => w.close())

  const SUBSCRIPTION = {
    tg_id: 7,
    username: 'ann',
    node: 'de1',
    node_label: 'Local',
    plan: '1m',
    plan_label: '30 days',
    subscription_uuid: expect.stringMatching(/^[0-9a-f-]{36}$/),
    expires_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d$/),
  }
  const act = (path: string, body: unknown = {}) => w.admin(`/admin/api${path}`, { body })

  const cases: [event: string, act: () => Promise<unknown>, data: unknown][] = [
    [
      'subscription.granted_by_admin',
      () => act('/users/7/grant', { node: 'de1', plan: '1m' }),
      SUBSCRIPTION,
    ],
    ...(['held', 'resumed', 'revoked'] as const).map(
      (done): [string, () => Promise<unknown>, unknown] => [
        `subscription.${done}`,
        () => {
          const heldAt = done === 'resumed' ? nowOf(w) : null
          const uuid = addSubscription(w, 7, { held_at: heldAt })
          const verb = { held: 'hold', resumed: 'resume', revoked: 'revoke' }[done]
          return act(`/subscriptions/${uuid}/${verb}`)
        },
        SUBSCRIPTION,
      ],
    ),
    [
      'node.added',
      () =>
        act('/nodes', {
          ...{ code: 'nl1', label: 'Нидерланды <1>', address: 'nl1.test' },
          ...{ public_key: 'P', short_id: 'ab', sni: 'sni.test' },
        }),
      { code: 'nl1', label: 'Нидерланды <1>', kind: 'external', address: 'nl1.test', port: 443 },
    ],
  ]
  test.each(cases)('%s is sent once, signed, with no secret in it', async (event, run, data) => {
    const token = addUser(w, 7, { username: 'ann' })
    await run()
    await w.s.background.idle()
    expect(receiver.asked).toHaveLength(1)
    const [asked] = receiver.asked
    const body = readEvent(asked)
    expect(body).toEqual({ id: body.id, event, type: event, created_at: nowOf(w), data })
    expect(Object.keys(body)).toEqual(['id', 'event', 'type', 'created_at', 'data'])
    expect(asked?.body).toBe(JSON.stringify(body))
    expect(asked?.body).not.toContain(token)
    expect(stateOf(w, body.id)).toEqual({
      status: 'done',
      http_status: 200,
      error: null,
      attempts: 1,
    })
  })

  test('what changes nothing sends nothing', async () => {
    addUser(w, 7)
    const uuid = addSubscription(w, 7, { active: 0, revoked_at: nowOf(w) })
    expect((await act(`/subscriptions/${uuid}/revoke`)).status).toBe(200)
    expect((await act(`/subscriptions/${uuid}/hold`)).status).toBe(400)
    await w.s.background.idle()
    expect(receiver.asked).toEqual([])
  })

  test('the public library of Standard Webhooks takes what a receiver gets now', async () => {
    const now = await createWorld({ ...world, now: new Date().toISOString().slice(0, 19) })
    await now.admin(TEST, { method: 'POST' })
    const [asked] = receiver.asked
    const webhook = new Webhook(`whsec_${base64(utf8(SECRET))}`)
    const headers = asked?.headers as Record<string, string>
    expect(webhook.verify(asked?.body as string, headers)).toMatchObject({ type: 'webhook.test' })
    now.close()
  })

  test.each(Object.keys(MISBEHAVIOURS) as Mood[])(
    'a receiver that is %s neither delays nor fails a grant, and gets one attempt',
    async (mood) => {
      receiver.mood = mood
      const began = performance.now()
      const answer = await act('/users/7/grant', { node: 'de1', plan: '1m' })
      expect(performance.now() - began).toBeLessThan(700)
      expect(answer.status).toBe(200)
      await w.s.background.idle()
      expect(receiver.asked).toHaveLength(1)
      const [state] = w.rows('select status, attempts from events')
      expect(state.attempts).toBe(1)
      expect(['done', 'failed']).toContain(state.status)
      w.clock.advance(86_400_000)
      w.s.nudge('events')
      await w.s.background.idle()
      expect(receiver.asked).toHaveLength(1)
    },
  )

  test('after a rotation the next event is signed with the new secret', async () => {
    const { secret } = (await act('/settings/webhook/rotate-secret')).json
    await act('/users/7/grant', { node: 'de1', plan: '1m' })
    await w.s.background.idle()
    expect(secret).not.toBe(SECRET)
    expect(readEvent(receiver.asked[0], secret).event).toBe('subscription.granted_by_admin')
  })

  test('that waits while the address is taken away is skipped', async () => {
    addEvent(w, { status: 'ready', attempts: 0, http_status: null, error: null })
    putSettings(w, { WEBHOOK_URL: '' })
    w.s.nudge('events')
    await w.s.background.idle()
    expect(stateOf(w)).toEqual({ status: 'skipped', http_status: null, error: null, attempts: 0 })
    expect(receiver.asked).toEqual([])
  })

  test('without a secret fails unsent, and says why', async () => {
    addEvent(w, { status: 'ready', attempts: 0, http_status: null, error: null })
    putSettings(w, { WEBHOOK_SECRET: '' })
    w.s.nudge('events')
    await w.s.background.idle()
    expect(stateOf(w)).toMatchObject({
      status: 'failed',
      error: 'there is no secret to sign it with: generate one',
    })
    expect(receiver.asked).toEqual([])
  })

  test('to an address that became forbidden is not sent', async () => {
    putSettings(w, { WEBHOOK_URL: 'http://169.254.169.254/latest' })
    await act('/users/7/grant', { node: 'de1', plan: '1m' })
    await w.s.background.idle()
    expect(w.rows('select status, error from events')).toEqual([
      { status: 'failed', error: 'the address is not allowed' },
    ])
  })

  test('a hundred waiting ones are sent, each once', async () => {
    for (let i = 0; i < 100; i++) {
      addEvent(w, {
        id: `event-${i}`,
        status: 'ready',
        attempts: 0,
        http_status: null,
        error: null,
      })
    }
    w.s.nudge('events')
    await w.s.background.idle()
    expect(new Set(receiver.asked.map((asked) => readEvent(asked).id)).size).toBe(100)
    expect(receiver.asked).toHaveLength(100)
    expect(w.rows("select * from events where status <> 'done'")).toEqual([])
  })
})
