/** Sending of bot messages: what is tried again and what is not, whose turn it is, and whom Telegram refuses. */
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest'
import { queueMessage } from '#src/domain/notify/messages.ts'
import { freePort } from '#test/support/drivers/process.ts'
import type { Mood } from '#test/support/fakes/system.ts'
import { startFakeTelegram } from '#test/support/fakes/telegram.ts'
import { BOT_TOKEN, messagesOf, queueGranted, sendMessages } from '#test/support/rows/messages.ts'
import { addUser, nowOf, putSettings } from '#test/support/rows/records.ts'
import { createOutboxWorld, sendLater } from '#test/support/worlds/outbox.ts'
import { createWorld, type World } from '#test/support/worlds/world.ts'

const telegram = await startFakeTelegram({ [BOT_TOKEN]: 'shop_bot' })
afterAll(() => telegram.close())

let w: World
beforeEach(async () => {
  w = await createOutboxWorld(telegram)
})
afterEach(() => w.close())

const blockedAt = (tgId: number) =>
  w.rows('select blocked_at from users where tg_id = ?', tgId)[0].blocked_at
const chats = () => telegram.sent.map((message) => message.chat_id)
const stateOf = () => messagesOf(w).map(({ status, attempts, error }) => [status, attempts, error])

const SECOND = 1000
const later = (seconds: number) => sendLater(w, seconds)

test('a message is sent once, in HTML, without a preview', async () => {
  await queueGranted(w, 7, 'A <b> & "c" 😀')
  await sendMessages(w)
  await later(100)
  expect(telegram.sent).toEqual([
    {
      token: BOT_TOKEN,
      chat_id: 7,
      parse_mode: 'HTML',
      link_preview_options: { is_disabled: true },
      text: expect.stringContaining('<b>A &lt;b&gt; &amp; &quot;c&quot; 😀</b>'),
    },
  ])
  expect(messagesOf(w)).toEqual([
    expect.objectContaining({ status: 'done', attempts: 1, error: null }),
  ])
  expect(messagesOf(w)[0].done_at).toBe('2026-03-01T12:00:00')
})

test('a user gets their messages in order, and others do not wait for them', async () => {
  for (let i = 0; i < 5; i++) for (const tgId of [7, 8, 9]) await queueGranted(w, tgId, `n${i}`)
  await sendMessages(w)
  for (const tgId of [7, 8, 9]) {
    const labels = telegram.sent
      .filter((message) => message.chat_id === tgId)
      .map(({ text }) => /n\d/.exec(text)?.[0])
    expect(labels).toEqual(['n0', 'n1', 'n2', 'n3', 'n4'])
  }
})

test('a message that waits holds up the later ones of its user, and nobody else', async () => {
  await queueGranted(w, 7, 'first')
  await queueGranted(w, 7, 'second')
  await queueGranted(w, 8)
  w.change("update outbox set next_try_at = '2026-03-01T12:01:00' where id = 1")
  await sendMessages(w)
  expect(chats()).toEqual([8])
  await later(60)
  expect(chats()).toEqual([8, 7, 7])
  expect(telegram.sent[1]?.text).toContain('first')
})

describe('what surely was not delivered is sent later', () => {
  test('429: not before Telegram says so, nor anything else of this bot', async () => {
    telegram.flooded = true
    await queueGranted(w, 7)
    await sendMessages(w)
    telegram.flooded = false
    await queueGranted(w, 8)
    await later(4)
    expect(telegram.sent).toEqual([])
    await later(1)
    expect(chats().sort()).toEqual([7, 8])
    expect(stateOf()).toEqual([
      ['done', 2, null],
      ['done', 1, null],
    ])
  })

  test.each([
    ['a gateway error', 'answered 502'],
    ['refused', 'ECONNREFUSED'],
  ])('%s: after 5, 10, 20 seconds, at most every 5 minutes', async (trouble, error) => {
    const refused = trouble === 'refused'
    const s = refused
      ? await createWorld({
          environment: { TELEGRAM_API_URL: `http://127.0.0.1:${await freePort()}`, BOT_TOKEN },
        })
      : w
    if (refused) addUser(s, 7)
    else telegram.mood = trouble as Mood
    await queueGranted(s, 7)
    await sendMessages(s)
    const pauses: number[] = []
    for (let i = 0; i < 8; i++) {
      const [{ status, next_try_at, error: found, attempts }] = messagesOf(s)
      expect([status, found, attempts]).toEqual(['ready', error, i + 1])
      const seconds = (Date.parse(`${next_try_at}Z`) - s.clock.now().getTime()) / SECOND
      pauses.push(seconds)
      s.clock.advance((seconds - 1) * SECOND)
      await sendMessages(s)
      expect(messagesOf(s)[0].attempts).toBe(i + 1)
      s.clock.advance(SECOND)
      await sendMessages(s)
    }
    expect(pauses).toEqual([5, 10, 20, 40, 80, 160, 300, 300])
    if (refused) s.close()
  })

  test('a rejected token: with another one at once', async () => {
    putSettings(w, { BOT_TOKEN: '1:dead' })
    await queueGranted(w, 7)
    await queueGranted(w, 8)
    await sendMessages(w)
    const tries = telegram.asked.length
    await later(200)
    expect(telegram.asked.length).toBe(tries)
    expect(stateOf()[0]).toEqual(['ready', 1, 'Telegram rejects the token of the bot'])
    putSettings(w, { BOT_TOKEN })
    await sendMessages(w)
    expect(chats().sort()).toEqual([7, 8])
    expect(w.log.join('\n')).not.toContain('1:dead')
  })

  test('no token yet: nothing is tried', async () => {
    putSettings(w, { BOT_TOKEN: '' })
    await queueGranted(w, 7)
    await sendMessages(w)
    expect([telegram.asked, stateOf()]).toEqual([[], [['ready', 0, null]]])
    putSettings(w, { BOT_TOKEN })
    await sendMessages(w)
    expect(chats()).toEqual([7])
  })

  test('but not after 24 hours', async () => {
    telegram.mood = 'a gateway error'
    await queueGranted(w, 7)
    await sendMessages(w)
    telegram.mood = null
    await later(86_400)
    expect([telegram.asked.length, stateOf()[0]?.[0]]).toEqual([1, 'ready'])
    // The sweep gives it up (sending.test.ts).
  })
})

describe('a message for a former bot', () => {
  const FORMER = '42:former'
  const queueAlert = (tgId: number, botToken: string | null = FORMER) =>
    w.s.db.tx((tx) =>
      queueMessage(
        tx,
        nowOf(w),
        tgId,
        { kind: 'alert', payload: { about: 'node-back', node: 'n' } },
        botToken,
      ),
    )
  beforeEach(() => {
    telegram.bots[FORMER] = 'former_bot'
  })
  const tokens = () => telegram.sent.map(({ token }) => token)

  test('is sent by it while the present one is missing or refused', async () => {
    for (const present of ['', '1:dead']) {
      putSettings(w, { BOT_TOKEN: present })
      await queueGranted(w, 8)
      await queueAlert(7)
      await sendMessages(w)
    }
    expect(tokens()).toEqual([FORMER, FORMER])
  })

  test('and the present one do not wait for each other, nor count for each other', async () => {
    telegram.blocked.add(7)
    await queueAlert(7)
    await sendMessages(w)
    expect([stateOf(), blockedAt(7)]).toEqual([
      [['failed', 1, 'Forbidden: bot was blocked by the user']],
      null,
    ])
    telegram.blocked.clear()
    telegram.floods = 1
    await queueAlert(7)
    await sendMessages(w)
    await queueGranted(w, 7)
    await sendMessages(w)
    expect(tokens()).toEqual([BOT_TOKEN])
    await later(100)
    expect(tokens()).toEqual([BOT_TOKEN, FORMER])
  })

  test('goes to the present one when it is refused, and no row keeps its token', async () => {
    telegram.revoke(FORMER)
    await queueAlert(7)
    await sendMessages(w)
    await sendMessages(w)
    expect(tokens()).toEqual([BOT_TOKEN])
    expect(stateOf()).toEqual([['done', 2, null]])
    expect(w.dump()).not.toContain(FORMER)
  })
})

describe('what may have been delivered is not sent again', () => {
  test.each([
    ['silent', 'maybe delivered: TimeoutError'],
    ['dripping', 'maybe delivered: TimeoutError'],
    ['garbage', 'maybe delivered: answered 200'],
    ['html', 'maybe delivered: answered 200'],
    ['no body', 'maybe delivered: answered 200'],
    ['a JSON list', 'maybe delivered: answered 200'],
    ['redirecting', 'maybe delivered: answered 302'],
    ['ten megabytes', /^maybe delivered/],
    ['hanging up', /^maybe delivered/],
    ['breaking off', /^maybe delivered/],
  ] as const)('%s', async (mood, error) => {
    telegram.mood = mood
    await queueGranted(w, 7)
    await sendMessages(w)
    telegram.mood = null
    await later(86_000)
    expect(telegram.asked).toHaveLength(1)
    const [row] = messagesOf(w)
    expect([row.status, row.attempts]).toEqual(['failed', 1])
    if (typeof error === 'string') expect(row.error).toBe(error)
    else expect(row.error).toMatch(error)
  })
})

describe('whom Telegram refuses', () => {
  test('who has blocked the bot is marked, and no more once a message arrives', async () => {
    telegram.blocked.add(7)
    await queueGranted(w, 7)
    await queueGranted(w, 8)
    await sendMessages(w)
    expect([blockedAt(7), blockedAt(8)]).toEqual([nowOf(w), null])
    expect(stateOf()[0]).toEqual(['failed', 1, 'Forbidden: bot was blocked by the user'])
    const since = nowOf(w)
    w.clock.advance(60 * SECOND)
    await queueGranted(w, 7)
    await sendMessages(w)
    expect(blockedAt(7)).toBe(since)
    telegram.blocked.clear()
    await queueGranted(w, 7)
    await sendMessages(w)
    expect([blockedAt(7), chats()]).toEqual([null, [8, 7]])
  })

  test('who never opened the bot is not marked', async () => {
    telegram.strangers.add(7)
    await queueGranted(w, 7)
    await sendMessages(w)
    await later(3600)
    expect(stateOf()).toEqual([['failed', 1, 'Bad Request: chat not found']])
    expect([blockedAt(7), telegram.asked.length]).toEqual([null, 1])
  })
})

test('a message to a deleted user goes with them, and one under way changes nothing any more', async () => {
  telegram.mood = 'silent'
  await queueGranted(w, 7)
  w.s.nudge('messages')
  await new Promise((resolve) => setTimeout(resolve, 60))
  expect(messagesOf(w)[0].status).toBe('sending')
  expect((await w.admin('/admin/api/users/7', { method: 'DELETE' })).status).toBe(200)
  await w.s.background.idle()
  expect(messagesOf(w)).toEqual([])
})

test.each([
  ['of an unknown kind', 'reminder-of-2030', '{}'],
  ['that can not be read', 'granted', '{"node_label":1}'],
  ['of an alert of another version', 'alert', '{"about":"toString"}'],
])('a message %s fails, and the next one is sent', async (_name, kind, payload) => {
  w.change(
    'insert into outbox (tg_id, kind, payload, next_try_at, created_at) values (7, ?, ?, ?, ?)',
    kind,
    payload,
    nowOf(w),
    nowOf(w),
  )
  await queueGranted(w, 7)
  await sendMessages(w)
  expect(stateOf()).toEqual([
    ['failed', 1, 'there is nobody to write it for'],
    ['done', 1, null],
  ])
})

test('no log line names the token', async () => {
  for (const mood of ['silent', 'a gateway error', 'hanging up'] as const) {
    telegram.mood = mood
    await queueGranted(w, 7)
    await later(400)
  }
  expect(w.log.join('\n')).not.toContain(BOT_TOKEN.slice(10))
  expect(JSON.stringify(messagesOf(w))).not.toContain(BOT_TOKEN.slice(10))
})
