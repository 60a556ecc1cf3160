/** Reminders of a subscription's end: when, to whom, once for an expiry, and what they say. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { openDatabase } from '#db/engine/sqlite/open.ts'
import { dueReminders } from '#db/reminders.ts'
import { confirmPayment } from '#src/domain/payments/confirm.ts'
import { ownIdOf } from '#src/domain/secret.ts'
import { remindOwners } from '#src/domain/subscriptions/reminders.ts'
import { startJobs } from '#src/jobs.ts'
import { restoreInto } from '#test/support/calls/restores.ts'
import { startFakeTelegram } from '#test/support/fakes/telegram.ts'
import { BOT_TOKEN, sendMessages } from '#test/support/rows/messages.ts'
import {
  addPayment,
  addSubscription,
  addUser,
  DAY,
  inSeconds,
  nowOf,
  putSettings,
} from '#test/support/rows/records.ts'
import { createFileWorld } from '#test/support/worlds/file-world.ts'
import { createWorld, type World } from '#test/support/worlds/world.ts'

const HOUR = 3600
let w: World
beforeEach(async () => {
  w = await createWorld({ environment: { PAYMENTS_ENABLED: 'true' } })
  addUser(w, 7)
})
afterEach(() => w.close())

interface Reminder {
  ended: boolean
  expires_at: string
  renewable: boolean
  subscription: string
}
const remindersOf = (world = w): Reminder[] =>
  world
    .rows("select payload from outbox where kind = 'reminder' order by id")
    .map(({ payload }) => JSON.parse(payload))
const remindedOf = (uuid: string) =>
  w.rows('select reminded from subscriptions where uuid = ?', uuid)[0].reminded

const OLD = { created_at: '2026-01-01T00:00:00' }
const endingIn = (seconds: number, more = {}) =>
  addSubscription(w, 7, { expires_at: inSeconds(w, seconds), ...OLD, ...more })

/** Looks every hour for so many hours; the hours at which reminders were queued. */
async function watch(hours: number): Promise<number[]> {
  const at: number[] = []
  for (let hour = 0; hour <= hours; hour++) {
    const before = remindersOf().length
    await remindOwners(w.s)
    for (let i = before; i < remindersOf().length; i++) at.push(hour)
    w.clock.advance(HOUR * 1000)
  }
  return at
}

describe('when', () => {
  test('three days and one day before the end, and at the end: once each', async () => {
    endingIn(5 * DAY)
    expect(await watch(24 * 8)).toEqual([48, 96, 120])
    expect(remindersOf().map(({ ended }) => ended)).toEqual([false, false, true])
  })

  test('a renewal for a few days brings none at once: its own message says until when', async () => {
    const uuid = endingIn(HOUR)
    addPayment(w, { id: 'p1', tg_id: 7, days: 2, renews_uuid: uuid })
    await confirmPayment(w.s, 'p1', { state: 'paid' })
    expect(w.rows('select expires_at from subscriptions')).toEqual([
      { expires_at: inSeconds(w, 2 * DAY + HOUR) },
    ])
    expect(await watch(50)).toEqual([25, 49])
  })

  test.each([
    ['three days and a second', 3 * DAY + 1, 0, 0],
    ['three days', 3 * DAY, 1, 1],
    ['a day and a second', DAY + 1, 1, 1],
    ['a day', DAY, 1, 2],
    ['a second', 1, 1, 2],
    ['no time', 0, 1, 3],
    ['a day that is over but for a second', -DAY + 1, 1, 3],
    ['a day that is over', -DAY, 0, 0],
  ])('with %s left: only what is nearest', async (_name, seconds, count, reminded) => {
    const uuid = endingIn(seconds)
    await remindOwners(w.s)
    await remindOwners(w.s)
    expect([remindersOf().length, remindedOf(uuid)]).toEqual([count, reminded])
  })

  test('what was missed while nothing ran is not made up for', async () => {
    endingIn(3 * DAY)
    await remindOwners(w.s)
    w.clock.advance(2.5 * DAY * 1000)
    await remindOwners(w.s)
    w.clock.advance(2 * DAY * 1000)
    await remindOwners(w.s)
    expect(remindersOf().map(({ ended }) => ended)).toEqual([false, false])
  })

  test('a reminder whose moment was before the grant is left out', async () => {
    endingIn(3 * DAY, { created_at: nowOf(w) })
    endingIn(1 * DAY, { created_at: nowOf(w) })
    expect(await watch(24 * 4)).toEqual([24, 48, 72])
  })

  test('another expiry begins anew, as does one after a pause', async () => {
    const uuid = endingIn(2 * DAY)
    await remindOwners(w.s)
    const at = (path: string, body: unknown) =>
      w.admin(`/admin/api/subscriptions/${uuid}/${path}`, { body })
    expect((await at('extend', { days: 30 })).status).toBe(200)
    expect(remindedOf(uuid)).toBe(0)
    expect(await watch(24 * 30)).toEqual([29 * 24, 31 * 24].filter((hour) => hour <= 720))
    expect((await at('hold', {})).status).toBe(200)
    w.clock.advance(10 * DAY * 1000)
    await remindOwners(w.s)
    expect(remindersOf()).toHaveLength(2)
    expect((await at('resume', {})).status).toBe(200)
    await remindOwners(w.s)
    expect(remindersOf()).toHaveLength(3)
  })
})

describe('to whom', () => {
  test.each([
    ['held', { held_at: '2026-02-20T00:00:00' }, {}],
    ['revoked', { active: 0, revoked_at: '2026-02-20T00:00:00' }, {}],
    ['of a banned user', {}, { banned_at: '2026-02-20T00:00:00' }],
    ['of a user who has the bot blocked', {}, { blocked_at: '2026-02-20T00:00:00' }],
  ])('nobody is reminded of a subscription %s', async (_name, subscription, user) => {
    addUser(w, 8, user)
    for (const seconds of [2 * DAY, DAY / 2, -DAY / 2]) {
      addSubscription(w, 8, { expires_at: inSeconds(w, seconds), ...OLD, ...subscription })
    }
    endingIn(2 * DAY)
    await remindOwners(w.s)
    expect(w.rows('select tg_id from outbox')).toEqual([{ tg_id: 7 }])
  })

  test('each of many subscriptions, in transactions of 50', async () => {
    for (let i = 0; i < 450; i++) endingIn(2 * DAY)
    const { tx } = w.s.db
    let writes = 0
    w.s.db.tx = (body) => {
      writes++
      return tx(body)
    }
    await remindOwners(w.s)
    expect([writes, remindersOf().length]).toEqual([9, 450])
    expect(new Set(remindersOf().map(({ subscription }) => subscription)).size).toBe(450)
    await remindOwners(w.s)
    expect(writes).toBe(9)
  })

  test('two processes that look at once queue one reminder each', async () => {
    const own = await createFileWorld()
    try {
      const second = openDatabase(own.config.databasePath, { now: own.clock.now() })
      addUser(own, 7)
      for (let i = 0; i < 300; i++) {
        addSubscription(own, 7, { expires_at: inSeconds(own, 2 * DAY), ...OLD })
      }
      await Promise.all([remindOwners(own.s), remindOwners({ ...own.s, db: second })])
      expect(new Set(remindersOf(own).map(({ subscription }) => subscription)).size).toBe(300)
      expect(remindersOf(own)).toHaveLength(300)
      second.close()
    } finally {
      own.close()
    }
  })
})

test('after a restore nobody is told again of what the backup knows as told', async () => {
  const own = await createFileWorld()
  try {
    addUser(own, 7)
    const add = () => addSubscription(own, 7, { expires_at: inSeconds(own, 2 * DAY), ...OLD })
    add()
    await remindOwners(own.s)
    const archive = (await own.admin('/admin/api/backup')).bytes
    add()
    await remindOwners(own.s)
    expect(remindersOf(own)).toHaveLength(2)
    await restoreInto(own, archive)
    await remindOwners(own.s)
    expect(remindersOf(own)).toHaveLength(1)
    add()
    await remindOwners(own.s)
    expect(remindersOf(own)).toHaveLength(2)
  } finally {
    own.close()
  }
})

test('a run that finds nothing reads an index and writes nothing', async () => {
  endingIn(30 * DAY)
  const span = { number: 3, now: nowOf(w), after: inSeconds(w, -DAY), until: nowOf(w) }
  const { sql, params } = await w.s.db.read(function* (q) {
    yield* []
    return dueReminders(q, span, 1).toSQL()
  })
  const plan = w.rows(`explain query plan ${sql}`, ...params)
  expect(plan[0].detail).toMatch(
    /subscriptions USING INDEX subscriptions_reminders \(reminded=\? AND expires_at>\? AND expires_at<\?\)/,
  )
  w.s.db.tx = () => Promise.reject(new Error('a write'))
  await remindOwners(w.s)
})

test('the run after the clock was set reminds nobody', async () => {
  endingIn(30 * DAY)
  const since = { wallMs: w.clock.now().getTime(), monotonicMs: w.clock.monotonicMs() }
  w.clock.jump(29 * DAY * 1000)
  const jobs = startJobs(
    { ...w.s, nodeSync: { ...w.s.nodeSync, syncAll: async () => [] } },
    { fence: 1, since, isValid: () => true },
  )
  await jobs.stop()
  expect(w.log.filter((line) => line.includes('reminding of what ends'))).toHaveLength(1)
  expect(remindersOf()).toEqual([])
})

describe('what is sent', () => {
  const sent = async (lang: string, seconds: number, settings = {}) => {
    const telegram = await startFakeTelegram({ [BOT_TOKEN]: 'shop_bot' })
    const own = await createWorld({
      environment: { TELEGRAM_API_URL: telegram.url, BOT_TOKEN, BOT_USERNAME: 'shop_bot' },
    })
    try {
      putSettings(own, settings)
      const token = addUser(own, 9, { lang })
      own.change("update nodes set label = 'A <b> & 😀' where code = 'de1'")
      const uuid = addSubscription(own, 9, { expires_at: inSeconds(own, seconds), ...OLD })
      await remindOwners(own.s)
      await sendMessages(own)
      expect(own.rows('select status, error from outbox')).toEqual([
        { status: 'done', error: null },
      ])
      const [message] = telegram.sent
      const [asked] = telegram.asked
      return {
        id: ownIdOf(own.s, uuid),
        token,
        text: message?.text,
        markup: JSON.parse(asked?.body ?? '').reply_markup,
      }
    } finally {
      own.close()
      await telegram.close()
    }
  }
  const PAYMENTS = { PAYMENTS_ENABLED: 'true' }

  test('node, plan, day, link, and a button that renews in the bot', async () => {
    const { text, markup, token, id } = await sent('en', 2 * DAY, PAYMENTS)
    expect(text).toBe(
      `⏳ <b>Your access ends on 03.03.2026</b>

Server: <b>A &lt;b&gt; &amp; 😀</b>
Plan: <b>30 days</b>

Renew it in time, here in the bot, and nothing changes in your apps. Your page:
http://sub.test/sub/${token}`.replace('http:', 'https:'),
    )
    const url = `https://t.me/shop_bot?start=renew_${id}`
    expect(markup).toEqual({ inline_keyboard: [[{ text: '🔄 Renew', url }]] })
  })

  test('in Russian, of what has ended', async () => {
    const { text, markup } = await sent('ru', 0, PAYMENTS)
    expect(text).toMatch(/^⌛ <b>Доступ закончился 01\.03\.2026<\/b>\n\nСервер: .*\nТариф: /)
    expect(JSON.stringify(markup)).toContain('🔄 Продлить')
  })

  test.each([
    ['while nothing is for sale', {}],
    ['without the name of the bot', { ...PAYMENTS, BOT_USERNAME: '' }],
  ])('no button %s', async (_name, settings) => {
    const { text, markup } = await sent('en', 2 * DAY, settings)
    expect(text).toContain('/sub/token-of-9')
    expect(text?.includes('Renew')).toBe('PAYMENTS_ENABLED' in settings)
    expect(markup).toBeUndefined()
  })
})
