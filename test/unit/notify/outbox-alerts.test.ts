/** Alerts among bot messages: they go before what else waits. */
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest'
import { claimMessages } from '#db/messages.ts'
import { queueMessage } from '#src/domain/notify/messages.ts'
import { startFakeTelegram } from '#test/support/fakes/telegram.ts'
import { BOT_TOKEN, queueGranted, sendMessages } from '#test/support/rows/messages.ts'
import { nowOf } from '#test/support/rows/records.ts'
import { createOutboxWorld, sendLater } from '#test/support/worlds/outbox.ts'
import type { World } from '#test/support/worlds/world.ts'

const telegram = await startFakeTelegram({ [BOT_TOKEN]: 'shop_bot' })
afterAll(() => telegram.close())

let w: World
beforeEach(async () => {
  w = await createOutboxWorld(telegram)
})
afterEach(() => w.close())

const SECOND = 1000
const later = (seconds: number) => sendLater(w, seconds)

describe('an alert', () => {
  const queueAlert = (tgId: number, node: string) =>
    w.s.db.tx((tx) =>
      queueMessage(tx, nowOf(w), tgId, { kind: 'alert', payload: { about: 'node-back', node } }),
    )
  const names = () => telegram.sent.map(({ text }) => /[an]\d/.exec(text)?.[0])
  const claim = (now = nowOf(w)) =>
    w.s.db.tx((tx) => claimMessages(tx, 16, { now, since: '2026-01-01T00:00:00', senders: 'all' }))
  const claimed = async () => (await claim()).map(({ id }) => id)

  test('goes before what else waits for its admin, in the order of alerts', async () => {
    for (let i = 0; i < 50; i++) await queueGranted(w, 7, 'n1')
    await queueAlert(7, 'a1')
    await queueAlert(7, 'a2')
    await sendMessages(w)
    expect(names().slice(0, 3)).toEqual(['a1', 'a2', 'n1'])
    expect(names()).toHaveLength(52)
  })

  test('goes before what waits for all others', async () => {
    for (let tgId = 1000; tgId < 1050; tgId++) await queueGranted(w, tgId)
    w.clock.advance(SECOND)
    await queueAlert(7, 'a1')
    const [first, ...rest] = await claimed()
    expect([first, rest.length]).toEqual([51, 15])
  })

  test('arrives in a chat that takes fewer messages than are queued', async () => {
    for (let i = 0; i < 40; i++) await queueGranted(w, 7, 'n1')
    const { sendMessage } = w.s.telegram
    let free = 0
    w.s.telegram.sendMessage = async (...message) => {
      const waitMs = free - w.clock.monotonicMs()
      if (waitMs > 0) return { outcome: 'later', reason: 'flood', retryAfterMs: waitMs }
      free = w.clock.monotonicMs() + 40 * 60 * SECOND
      return sendMessage(...message)
    }
    await sendMessages(w)
    await queueAlert(7, 'a1')
    await sendMessages(w)
    expect(names()).toEqual(['n1'])
    await later(41 * 60)
    expect(names()).toEqual(['n1', 'a1'])
  })

  test('waits for what is under way in its chat, and for what was told to wait', async () => {
    await queueGranted(w, 7)
    await queueGranted(w, 7)
    expect(await claimed()).toEqual([1])
    await queueAlert(7, 'a1')
    expect(await claimed()).toEqual([])
    w.change("update outbox set status = 'ready', next_try_at = '2026-03-01T12:01:00' where id = 1")
    expect(await claimed()).toEqual([])
    w.clock.advance(60 * SECOND)
    expect(await claimed()).toEqual([3])
    expect(await claimed()).toEqual([])
    w.change("update outbox set status = 'done' where id = 3")
    expect(await claimed()).toEqual([1])
  })

  test('is found by an index, and costs nothing where there is none', async () => {
    const asked: string[] = []
    const { prepare } = w.s.db.raw
    w.s.db.raw.prepare = (source: string) => {
      asked.push(source)
      return prepare.call(w.s.db.raw, source) as never
    }
    await claim()
    expect(asked.filter((source) => source.startsWith('update'))).toHaveLength(1)
    await queueAlert(7, 'a1')
    asked.length = 0
    await claim()
    w.s.db.raw.prepare = prepare
    const plans = asked
      .filter((source) => source.startsWith('update'))
      .map((source) =>
        w
          .rows(`explain query plan ${source}`, ...(source.match(/\?/g) ?? []).map(() => 1))
          .map(({ detail }) => detail)
          .filter((detail) => detail.includes('USING INDEX'))
          .map((detail) => detail.split('USING INDEX ')[1]),
      )
    expect(plans).toEqual([
      ['outbox_open (kind=?)', 'outbox_open (kind=? AND rowid<?)', 'outbox_tg_id (tg_id=?)'],
      [
        'outbox_ready (next_try_at<?)',
        'outbox_tg_id (tg_id=? AND rowid<?)',
        'outbox_open (kind=?)',
      ],
    ])
  })
})
