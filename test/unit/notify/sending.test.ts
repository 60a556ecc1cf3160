/** The scheduler's sweep: what waits is sent, what was lost with its process is told apart from what is under way. */
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createSending, createSweep } from '#src/domain/notify/sending.ts'
import { startFakeSystem } from '#test/support/fakes/system.ts'
import { startFakeTelegram } from '#test/support/fakes/telegram.ts'
import { addEvent, SECRET, stateOf } from '#test/support/rows/events.ts'
import { BOT_TOKEN, messagesOf, queueGranted, sendMessages } from '#test/support/rows/messages.ts'
import { addUser } from '#test/support/rows/records.ts'
import { createWorld, type World } from '#test/support/worlds/world.ts'

const telegram = await startFakeTelegram({ [BOT_TOKEN]: 'shop_bot' })
const receiver = await startFakeSystem(() => ({ status: 200 }))
afterAll(() => Promise.all([telegram.close(), receiver.close()]))

let w: World
let sweep: () => Promise<void>
beforeEach(async () => {
  telegram.reset()
  receiver.reset()
  w = await createWorld({
    outsideTimeoutMs: 1000,
    environment: {
      ...{ TELEGRAM_API_URL: telegram.url, BOT_TOKEN },
      ...{ WEBHOOK_URL: receiver.url, WEBHOOK_SECRET: SECRET },
    },
  })
  sweep = createSweep(w.s)
  addUser(w, 7)
})
afterEach(() => w.close())

const look = async (afterMs = 0) => {
  w.clock.advance(afterMs)
  await sweep()
  await w.s.background.idle()
}

const WAITING = { status: 'ready', attempts: 0, http_status: null, error: null }

describe('what waits', () => {
  test('is sent, as after a start', async () => {
    addEvent(w, WAITING)
    await queueGranted(w, 7)
    await look()
    expect(stateOf(w).status).toBe('done')
    expect(messagesOf(w)[0].status).toBe('done')
    expect([receiver.asked.length, telegram.sent.length]).toEqual([1, 1])
  })

  test('costs nothing when there is nothing', async () => {
    const { tx } = w.s.db
    const writes: unknown[] = []
    w.s.db.tx = (body) => {
      writes.push(body)
      return tx(body)
    }
    await look()
    await look(60_000)
    expect(writes).toEqual([])
  })

  test('is given up after 24 hours, when it is a message', async () => {
    telegram.mood = 'a gateway error'
    await queueGranted(w, 7)
    await look()
    w.clock.advance(3600_000)
    await queueGranted(w, 7)
    telegram.mood = null
    await look(82_799_000)
    expect(messagesOf(w).map(({ status }) => status)).toEqual(['done', 'done'])
    telegram.mood = 'a gateway error'
    await queueGranted(w, 7)
    await look()
    telegram.mood = null
    await look(86_400_000)
    expect(messagesOf(w)[2]).toMatchObject({
      ...{ status: 'failed', attempts: 1, error: 'not delivered within 24 hours' },
      done_at: w.clock.now().toISOString().slice(0, 19),
    })
  })
})

describe('what was under way in a process that is gone', () => {
  const SENDING = { status: 'sending', attempts: 1, http_status: null, error: null }

  test('is an event: interrupted after 30 seconds, and never sent', async () => {
    addEvent(w, SENDING)
    await look()
    await look(29_999)
    expect(stateOf(w).status).toBe('sending')
    await look(1)
    expect(stateOf(w)).toEqual({ ...SENDING, status: 'interrupted', error: 'the process ended' })
    await look(86_400_000)
    expect(receiver.asked).toEqual([])
  })

  test('is a message: sent again', async () => {
    await queueGranted(w, 7)
    w.change("update outbox set status = 'sending', attempts = 1")
    await queueGranted(w, 7)
    await look()
    await look(29_999)
    expect(telegram.sent).toEqual([])
    await look(1)
    await look()
    expect(messagesOf(w).map(({ status, attempts }) => [status, attempts])).toEqual([
      ['done', 2],
      ['done', 1],
    ])
  })

  test('is told from another attempt at the same, which has begun meanwhile', async () => {
    addEvent(w, SENDING)
    await look()
    w.change('update events set attempts = 2')
    await look(30_000)
    expect(stateOf(w).status).toBe('sending')
    await look(30_000)
    expect(stateOf(w)).toMatchObject({ status: 'interrupted', attempts: 2 })
  })

  test('is not judged by the wall clock', async () => {
    addEvent(w, SENDING)
    await look()
    w.clock.jump(30 * 86_400_000)
    await look()
    expect(stateOf(w).status).toBe('sending')
  })

  test('is found also far behind messages that are done with', async () => {
    for (let i = 0; i < 3; i++) await queueGranted(w, 7)
    await look()
    await queueGranted(w, 7)
    await queueGranted(w, 7)
    w.change("update outbox set status = 'sending', attempts = 1 where id = 5")
    w.change("update outbox set status = 'done' where id = 4")
    await look()
    await look(30_000)
    await look()
    expect(messagesOf(w).map(({ status }) => status)).toEqual(Array(5).fill('done'))
  })

  test('a result that comes too late changes nothing', async () => {
    receiver.mood = 'silent'
    addEvent(w, WAITING)
    w.s.nudge('events')
    await new Promise((resolve) => setTimeout(resolve, 60))
    expect(stateOf(w)).toMatchObject({ status: 'sending', attempts: 1 })
    w.change("update events set status = 'interrupted'")
    await w.s.background.idle()
    expect(stateOf(w)).toMatchObject({ status: 'interrupted', error: null })
  })
})

test('of many processes one sends an event or a message', async () => {
  const others = Array.from({ length: 4 }, () => createSending(w.s))
  for (let i = 0; i < 60; i++) {
    addEvent(w, { ...WAITING, id: `e${i}` })
    addUser(w, 100 + i)
    await queueGranted(w, 100 + i)
  }
  for (const { nudge } of [w.s, ...others]) {
    nudge('events')
    nudge('messages')
  }
  await w.s.background.idle()
  const ids = receiver.asked.map((asked) => asked.headers['webhook-id'])
  expect(new Set(ids).size).toBe(ids.length)
  const chats = telegram.asked.map((asked) => JSON.parse(asked.body).chat_id)
  expect(new Set(chats).size).toBe(chats.length)
  // A slow machine may let one or the other run out of the world's short time: it is not sent again either.
  for (const table of ['events', 'outbox']) {
    expect(w.rows(`select status, attempts from ${table}`)).toEqual(
      Array(60).fill({ status: expect.stringMatching(/^(done|failed)$/), attempts: 1 }),
    )
  }
})

test('after its end a process begins nothing more, and notes what is under way', async () => {
  receiver.mood = 'silent'
  addEvent(w, WAITING)
  w.s.nudge('events')
  await new Promise((resolve) => setTimeout(resolve, 60))
  w.s.endSending()
  addEvent(w, { ...WAITING, id: 'later' })
  w.s.nudge('events')
  await queueGranted(w, 7)
  await sendMessages(w)
  expect(stateOf(w)).toMatchObject({ status: 'failed', error: 'no answer in time' })
  expect([stateOf(w, 'later').status, messagesOf(w)[0].status]).toEqual(['ready', 'ready'])
})

test('a full disk keeps the results until there is space', async () => {
  addEvent(w, WAITING)
  const { tx } = w.s.db
  let calls = 0
  w.s.db.tx = (body) => {
    calls++
    if (calls === 2) return Promise.reject(new Error('database or disk is full'))
    return tx(body)
  }
  w.s.nudge('events')
  await w.s.background.idle()
  expect([stateOf(w).status, receiver.asked.length]).toEqual(['done', 1])
})
