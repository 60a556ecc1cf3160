/** Alerts to admins: who gets them, of what, and once per change of state. */
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type Alert, alertText } from '#src/domain/notify/alert-texts.ts'
import {
  addAdmin,
  codeNow,
  codeStep,
  logIn,
  passwordStep,
  pendingToken,
  SECRET,
  turnTotpOn,
} from '#test/support/calls/admins.ts'
import { startFakeTelegram } from '#test/support/fakes/telegram.ts'
import { BOT_TOKEN, sendMessages } from '#test/support/rows/messages.ts'
import { addUser, putSettings } from '#test/support/rows/records.ts'
import { alertsOf, toldTo } from '#test/support/rows/told-alerts.ts'
import { createWorld, PASSWORD, type World } from '#test/support/worlds/world.ts'

const OTHER_BOT = '987654321:AAE-Token_of_a_bot_that_nobody_knows_yet'
const telegram = await startFakeTelegram({ [BOT_TOKEN]: 'shop_bot', [OTHER_BOT]: 'other_bot' })

afterAll(() => telegram.close())

let w: World
beforeEach(async () => {
  telegram.reset()
  telegram.bots[BOT_TOKEN] = 'shop_bot'
  w = await createWorld({
    outsideTimeoutMs: 1000,
    environment: { TELEGRAM_API_URL: telegram.url, BOT_TOKEN, ADMIN_TG_IDS: '501 502' },
  })
})

afterEach(() => w.close())

const alerts = () => alertsOf(w)
const told = () => toldTo(w, 501)
const post = (path: string, body: unknown) => w.admin(`/admin/api${path}`, { body })

test('a new admin: one message to each, sent by the bot in HTML', async () => {
  expect((await post('/admins', { username: '<eve>', password: PASSWORD })).status).toBe(200)
  const alert = { about: 'admin-created', username: '<eve>', admin: 'admin', ip: '127.0.0.1' }
  expect(alerts()).toEqual([
    [501, alert],
    [502, alert],
  ])
  await sendMessages(w)
  expect(telegram.sent.map(({ chat_id, text }) => [chat_id, text]).sort()).toEqual([
    [501, '⚠️ New admin <b>&lt;eve&gt;</b> (by admin, 127.0.0.1)'],
    [502, '⚠️ New admin <b>&lt;eve&gt;</b> (by admin, 127.0.0.1)'],
  ])
})

test('an admin who is a user too reads it in their language', async () => {
  w.change(
    "insert into users (tg_id, token, lang, created_at) values (501, 'x', 'ru', '2026-01-01T00:00:00')",
  )
  await post('/admins', { username: 'second', password: PASSWORD })
  await sendMessages(w)
  const texts = telegram.sent.map(({ text }) => text).sort()
  expect(texts).toEqual([
    '⚠️ New admin <b>second</b> (by admin, 127.0.0.1)',
    '⚠️ Новый администратор <b>second</b> (создал admin, 127.0.0.1)',
  ])
})

test('a refused new admin is no news, and nobody is told where nobody is to be', async () => {
  await post('/admins', { username: 'admin', password: PASSWORD })
  expect(alerts()).toEqual([])
  putSettings(w, { ADMIN_TG_IDS: '' })
  expect((await post('/admins', { username: 'third', password: PASSWORD })).status).toBe(200)
  expect(alerts()).toEqual([])
})

test('two-factor login that is switched off', async () => {
  turnTotpOn(w)
  const off = { about: 'two-factor-off', admin: 'admin', ip: '127.0.0.1' }
  expect((await post('/2fa/disable', { password: 'wrong password' })).status).toBe(401)
  expect(told()).toEqual([])
  await post('/2fa/disable', { password: PASSWORD })
  await post('/2fa/disable', { password: PASSWORD })
  expect(told()).toEqual([off])
})

const BY = { admin: 'admin', ip: '127.0.0.1' }

/** Whom the bots told, in the order of the ids. */
const sentBy = (token: string) =>
  telegram.sent
    .filter((message) => message.token === token)
    .map(({ chat_id, text }) => [chat_id, text])
    .sort(([a], [b]) => Number(a) - Number(b))

describe('other recipients', () => {
  const change = (...ids: number[]) => post('/settings/alerts', { admin_tg_ids: ids })
  const told = (...ids: number[]) => ids.map((id) => [id, { about: 'recipients-changed', ...BY }])

  test('the former ones are told too, each once', async () => {
    expect((await change(502, 503)).status).toBe(200)
    expect(alerts()).toEqual(told(501, 502, 503))
  })

  test('the same ones are no news, in whatever order', async () => {
    await change(502, 501, 502)
    expect(alerts()).toEqual([])
  })

  test('none at all: the last ones hear of it', async () => {
    await change()
    await sendMessages(w)
    expect(sentBy(BOT_TOKEN)).toEqual(
      [501, 502].map((id) => [
        id,
        '🚨 Alerts now go to other people (changed by admin, 127.0.0.1)',
      ]),
    )
  })

  test('one who is a user is told also when that user is deleted at once', async () => {
    addUser(w, 501)
    await change(666)
    expect((await w.admin('/admin/api/users/501', { method: 'DELETE' })).status).toBe(200)
    expect(alerts()).toEqual(told(501, 502, 666))
  })
})

describe('another token of the bot', () => {
  const change = (token = OTHER_BOT) => post('/settings/bot', { token })
  const CHANGED =
    '🚨 The bot has another token: <b>@other_bot</b>, before <b>@shop_bot</b> (changed by admin, 127.0.0.1)'
  beforeEach(() => putSettings(w, { BOT_USERNAME: 'shop_bot' }))

  test('is told by the former bot', async () => {
    expect((await change()).status).toBe(200)
    await sendMessages(w)
    expect([sentBy(BOT_TOKEN), sentBy(OTHER_BOT)]).toEqual([
      [
        [501, CHANGED],
        [502, CHANGED],
      ],
      [],
    ])
    expect(w.rows('select bot_token from outbox where bot_token is not null')).toEqual([])
  })

  test('is told by the present one where Telegram refuses the former one', async () => {
    telegram.revoke(BOT_TOKEN)
    await change()
    await sendMessages(w)
    await sendMessages(w)
    expect(sentBy(OTHER_BOT)).toEqual([
      [501, CHANGED],
      [502, CHANGED],
    ])
  })

  test('takes no alert along that is not sent yet: whoever changes both is not hidden by it', async () => {
    await post('/settings/alerts', { admin_tg_ids: [666] })
    await change()
    await sendMessages(w)
    const [recipients] = sentBy(BOT_TOKEN)
    expect(recipients).toEqual([501, expect.stringContaining('Alerts now go to other people')])
    expect(sentBy(BOT_TOKEN).map(([id]) => id)).toEqual([501, 502, 666, 666])
    expect(sentBy(OTHER_BOT)).toEqual([])
  })

  test('the same one is no news', async () => {
    await change(BOT_TOKEN)
    expect(alerts()).toEqual([])
  })

  test('the first one tells those who are alerted, by itself', async () => {
    putSettings(w, { BOT_TOKEN: '', BOT_USERNAME: '' })
    await change()
    await sendMessages(w)
    expect(sentBy(OTHER_BOT)).toEqual(
      [501, 502].map((id) => [id, expect.stringContaining('before <b>-</b>')]),
    )
  })
})

describe('what a thief of a session would change first is told', () => {
  const OWN_PASSWORD = { current_password: PASSWORD, password: 'a better one than before' }
  const addressAt = (host: string) => ({ url: `https://${host}.example/hook` })
  const CHANGES: [what: string, path: string, body: unknown, alert: Record<string, unknown>][] = [
    ['the own password', '/password', OWN_PASSWORD, { about: 'password-changed' }],
    [
      'the address of the webhook',
      '/settings/webhook',
      addressAt('evil'),
      { about: 'webhook-changed' },
    ],
    [
      'its secret',
      '/settings/webhook/rotate-secret',
      undefined,
      { about: 'webhook-secret-changed' },
    ],
    [
      'the credentials of a gateway',
      '/payments/provider-b-settings',
      { merchant_id: 'm-2', secret: 'other' },
      { about: 'gateway-changed', gateway: 'Platega' },
    ],
  ]
  test.each(CHANGES)('%s', async (_what, path, body, alert) => {
    const answer = await w.admin(`/admin/api${path}`, { method: 'POST', body })
    expect(answer.status, answer.text).toBe(200)
    expect(told()).toEqual([{ ...alert, ...BY }])
  })

  test('two-factor login that is switched on, and an admin who is removed', async () => {
    await post('/2fa/enable', { secret: SECRET, code: codeNow(w) })
    const id = addAdmin(w, 'second')
    await w.admin(`/admin/api/admins/${id}`, { method: 'DELETE' })
    expect(told()).toEqual([
      { about: 'two-factor-on', ...BY },
      { about: 'admin-removed', username: 'second', ...BY },
    ])
  })

  test('what is saved as it was before is no news, nor is a switch', async () => {
    const credentials = { merchant_id: 'm-1', secret: 'one' }
    await post('/payments/provider-b-settings', credentials)
    await post('/settings/webhook', addressAt('own'))
    expect(told()).toHaveLength(2)
    await post('/payments/provider-b-settings', credentials)
    await post('/settings/webhook', addressAt('own'))
    await post('/payments/providers/provider_b', { enabled: false })
    await post('/password', { ...OWN_PASSWORD, current_password: 'wrong password' })
    expect(told()).toHaveLength(2)
  })
})

test('every alert has its words in both languages', () => {
  const abouts = [
    'admin-removed',
    'password-changed',
    'two-factor-on',
    'recipients-changed',
    'bot-changed',
    'gateway-changed',
    'webhook-changed',
    'webhook-secret-changed',
    'events-unticked',
  ]
  for (const about of abouts) {
    const alert = { about, username: 'a<b', before: '', gateway: 'G', ...BY } as Alert
    const [en, ru] = [alertText('en', alert), alertText('ru', alert)]
    expect([en, ru], about).toEqual([
      expect.stringContaining('admin, 127.0.0.1'),
      expect.stringContaining('admin, 127.0.0.1'),
    ])
    expect(ru, about).toMatch(/[а-я]{5}/)
    expect(`${en}${ru}`, about).not.toContain('a<b')
  }
})

describe('a login', () => {
  test('from a new address is told once, the first one of all not', async () => {
    for (const ip of ['198.51.100.1', '198.51.100.1', '203.0.113.5', '203.0.113.5']) {
      expect((await passwordStep(w, 'admin', ip)).status).toBe(200)
    }
    expect((await passwordStep(w, 'nobody', '192.0.2.9')).status).toBe(401)
    expect(told()).toEqual([{ about: 'new-address', admin: 'admin', ip: '203.0.113.5' }])
  })

  test('from another address of the same IPv6 network is from a known one', async () => {
    await logIn(w, 'admin', '2001:db8:1:2::1')
    await logIn(w, 'admin', '2001:db8:1:2:ffff::9')
    expect(told()).toEqual([])
    await logIn(w, 'admin', '2001:db8:1:3::1')
    expect(told()).toHaveLength(1)
  })

  test('with a code is told when it is complete', async () => {
    await logIn(w, 'admin', '198.51.100.1')
    turnTotpOn(w)
    const token = await pendingToken(w, 'admin', '203.0.113.5')
    expect(told()).toEqual([])
    expect((await codeStep(w, token, codeNow(w), '203.0.113.5')).status).toBe(200)
    expect(told()).toEqual([{ about: 'new-address', admin: 'admin', ip: '203.0.113.5' }])
  })
})
