import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { describeGift, redeemGift } from '#src/domain/subscriptions/gifts.ts'
import {
  addNode,
  addUser,
  auditOf,
  DAY,
  eventsOf,
  inSeconds,
  nowOf,
} from '#test/support/rows/records.ts'
import { createWorld, type World } from '#test/support/worlds/world.ts'

let w: World
let code: string
beforeEach(async () => {
  w = await createWorld()
  const body = { node: 'de1', plan: '1m', expires_in_days: 10 }
  code = (await w.admin('/admin/api/gift-codes', { body })).json.code
  w.change('delete from audit_log')
})
afterEach(() => {
  expect(w.faults()).toEqual([])
  w.close()
})

const redeem = (tgId = 1, text = code) => redeemGift(w.s, tgId, text)
const gifts = () => w.rows("select * from subscriptions where source = 'gift'")

describe('redeemGift', () => {
  test('gives a subscription, creates the user, and adds the client', async () => {
    const redemption = await redeem(1, ` ${code.toLowerCase()}\n`)
    await w.s.background.idle()
    const [row] = gifts()
    expect(redemption).toMatchObject({
      outcome: 'redeemed',
      subscription: { row: { uuid: row.uuid }, nodeLabel: 'Local', planLabel: '30 days' },
    })
    expect(row).toMatchObject({
      tg_id: 1,
      node: 'de1',
      plan: '1m',
      gift_code: code,
      payment_id: null,
      expires_at: inSeconds(w, 30 * DAY),
    })
    expect(w.rows('select used_at, used_by from gift_codes')).toEqual([
      { used_at: nowOf(w), used_by: 1 },
    ])
    expect([...w.node.clients.keys()]).toEqual([row.uuid])
    expect(eventsOf(w)).toEqual([])
    expect(w.rows('select * from outbox')).toEqual([])
    expect(w.rows('select admin, ip, action, object, detail from audit_log')).toEqual([
      {
        admin: null,
        ip: 'bot',
        action: 'gift.redeem',
        object: `${code.slice(0, 4)}…`,
        detail: `tg_id=1 subscription=${row.uuid}`,
      },
    ])
  })

  test('a second tap of the same user gets the same, another user nothing', async () => {
    await redeem()
    const before = w.dump()
    const [{ uuid }] = gifts()
    expect(await redeem()).toMatchObject({ outcome: 'again', subscription: { row: { uuid } } })
    expect(await redeem(2)).toEqual({ outcome: 'used' })
    expect(w.dump()).toBe(before)
  })

  const REFUSALS: [outcome: string, prepare: () => unknown][] = [
    ['unknown', () => w.change('delete from gift_codes')],
    ['revoked', () => w.change("update gift_codes set revoked_at = '2026-01-01T00:00:00'")],
    ['expired', () => w.clock.advance(10 * DAY * 1000)],
    ['gone', () => w.change("delete from plans where code = '1m'")],
    ['gone', () => w.change("delete from nodes where code = 'de1'")],
    ['banned', () => addUser(w, 1, { banned_at: '2026-01-01T00:00:00' })],
  ]
  test.each(REFUSALS)('%s: nothing is given', async (outcome, prepare) => {
    prepare()
    const before = w.dump()
    expect(await redeem()).toEqual({ outcome })
    expect(w.dump()).toBe(before)
  })

  test.each(['', ' ', "' or 1=1", 'ä'.repeat(5000), '%'])('unknown for %j', async (text) => {
    expect(await redeem(1, text)).toEqual({ outcome: 'unknown' })
  })

  test('works with an archived plan, on a disabled node, until the second before it expires', async () => {
    w.change('update plans set archived = 1')
    w.change('update nodes set enabled = 0')
    w.clock.advance(10 * DAY * 1000 - 1000)
    expect((await redeem()).outcome).toBe('redeemed')
  })

  test('of a hundred who try at once one wins', async () => {
    const outcomes = await Promise.all(Array.from({ length: 100 }, (_, i) => redeem(i + 1)))
    expect(outcomes.filter(({ outcome }) => outcome === 'redeemed')).toHaveLength(1)
    expect(outcomes.filter(({ outcome }) => outcome === 'used')).toHaveLength(99)
    expect(gifts()).toHaveLength(1)
    expect(auditOf(w)).toEqual(['gift.redeem'])
  })

  test('revoking and redeeming at once: one of the two', async () => {
    const [redemption, revoked] = await Promise.all([
      redeem(),
      w.admin(`/admin/api/gift-codes/${code}`, { method: 'DELETE' }),
    ])
    // Which of the two comes first is for the database to say.
    expect([
      ['redeemed', 400],
      ['revoked', 200],
    ]).toContainEqual([redemption.outcome, revoked.status])
  })
})

describe('describeGift', () => {
  test('says what a code gives and leaves it as it is', async () => {
    addNode(w, 'nl1')
    const before = w.dump()
    expect(await describeGift(w.s, 1, code)).toEqual({
      outcome: 'offered',
      nodeLabel: 'Local',
      planLabel: '30 days',
    })
    expect(w.dump()).toBe(before)
    await redeem()
    expect(await describeGift(w.s, 2, code)).toEqual({ outcome: 'used' })
    expect(await describeGift(w.s, 1, code)).toMatchObject({
      outcome: 'again',
      subscription: { row: { giftCode: code }, nodeLabel: 'Local' },
    })
    expect(await describeGift(w.s, 1, 'nope')).toEqual({ outcome: 'unknown' })
  })
})
