import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { textsOf } from '#src/bot/texts.ts'
import {
  addSubscription,
  addUser,
  DAY,
  inSeconds,
  putSettings,
} from '#test/support/rows/records.ts'
import {
  type BotShop,
  type BotUser,
  createBotShop,
  monthIn,
  ONE_PROVIDER,
} from '#test/support/worlds/bot-user.ts'

let shop: BotShop
let user: BotUser
beforeEach(async () => {
  shop = await createBotShop({ environment: ONE_PROVIDER })
})
afterEach(() => shop.close())

const payments = () => shop.w.rows('select * from payments order by seq')
const sold = () => shop.w.rows("select * from subscriptions where source = 'payment'")

describe.each(['en', 'ru'] as const)('in %s', (lang) => {
  const t = textsOf(lang)
  const MONTH = monthIn(lang)
  beforeEach(() => {
    user = shop.user({ id: 1, username: 'ada', language_code: lang })
  })

  describe('"I have paid"', () => {
    test('is asked of the provider at most every five seconds', async () => {
      await shop.order(user)
      const bill = user.keep()
      await user.tap(t.paid)
      expect(user.notice()).toBe(t.notPaidYet)
      const asked = shop.a.calls.length
      await user.tap(t.paid)
      expect(user.notice()).toBe(t.checkedJustNow)
      expect(shop.a.calls).toHaveLength(asked)
      shop.w.clock.advance(4000)
      await user.tap(t.paid, bill)
      expect(user.notice()).toBe(t.notPaidYet)
      // Others are not held up.
      const other = shop.user({ id: 2, language_code: lang })
      await shop.order(other)
      await other.tap(t.paid)
      expect(other.notice()).toBe(t.notPaidYet)
    })

    test('says that a person looks at it, that it failed, that money went back', async () => {
      const { id, external_id } = await shop.order(user)
      const bill = user.keep()
      shop.a.pay(external_id, { amount: '1.00' })
      expect((await user.tap(t.paid)).text).toBe(t.inReview)
      expect(sold()).toEqual([])
      shop.w.change('update payments set review_reason = null')
      shop.a.fail(external_id)
      shop.w.clock.advance(5000)
      const failed = await user.tap(t.paid, bill)
      expect(failed.text).toBe(t.failed)
      expect(user.buttons()).toEqual([t.buyAgain])
      shop.w.change("update payments set refunded_at = '2026-03-01T12:00:00' where id = ?", id)
      await user.tap(t.paid, bill)
      expect(user.notice()).toBe(t.refunded)
    })

    test('of another user is out of date', async () => {
      const { external_id } = await shop.order(user)
      shop.a.pay(external_id)
      const thief = shop.user({ id: 2, language_code: lang })
      await thief.say('/start')
      await thief.tap(t.paid, { ...user.keep(), chat_id: 2 })
      expect(thief.notice()).toBe(t.stale)
      expect(sold()).toEqual([])
    })

    test('counts after the provider was switched off, and while payments are off', async () => {
      const { external_id } = await shop.order(user)
      putSettings(shop.w, { PROVIDER_A_ENABLED: 'false', PAYMENTS_ENABLED: 'false' })
      shop.a.pay(external_id)
      await user.tap(t.paid)
      expect(sold()).toHaveLength(1)
    })

    test('of a provider that gives no answer changes nothing', async () => {
      await shop.order(user)
      shop.a.answer = { state: 'unknown', reason: 'HTTP 500', retryAfterMs: null }
      await user.tap(t.paid)
      expect(user.notice()).toBe(t.notPaidYet)
      expect(payments()).toMatchObject([{ status: 'pending' }])
    })
  })

  describe('a renewal', () => {
    test.each([
      ['active', {}],
      ['held', { held_at: '2026-02-20T00:00:00' }],
      ['expired', { expires_at: '2026-02-20T00:00:00' }],
    ])('lengthens the same one: %s', async (_, more) => {
      addUser(shop.w, 1)
      shop.w.change("update nodes set enabled = 0 where code = 'de1'")
      const uuid = addSubscription(shop.w, 1, more)
      await user.say('/my')
      await user.tap(user.buttons()[0] as string)
      await user.tap(t.renew)
      await user.tap(MONTH)
      expect(user.last().text).toContain(lang === 'en' ? 'Renewal' : 'Продление')
      const [payment] = payments()
      expect(payment).toMatchObject({ renews_uuid: uuid, node: 'de1', plan: '1m' })
      shop.a.pay(payment.external_id)
      await user.tap(t.paid)
      expect(shop.w.rows('select uuid from subscriptions')).toEqual([{ uuid }])
      const [{ expires_at }] = shop.w.rows('select expires_at from subscriptions')
      expect(expires_at > inSeconds(shop.w, 15 * DAY)).toBe(true)
    })

    test('is offered its own plan, also when that is archived, and nobody else is', async () => {
      addUser(shop.w, 1)
      const uuid = addSubscription(shop.w, 1)
      shop.w.change("update plans set archived = 1 where code = '1m'")
      await user.say('/buy')
      expect(user.buttons()).not.toContain(MONTH)
      await user.say(`/start renew_${uuid}`)
      await user.tap(MONTH)
      expect(payments()).toMatchObject([{ renews_uuid: uuid, plan: '1m' }])
    })

    test('of another user, a revoked one, or one whose node is gone is out of date', async () => {
      addUser(shop.w, 1)
      addUser(shop.w, 2)
      const uuids = [
        addSubscription(shop.w, 2),
        addSubscription(shop.w, 1, { active: 0 }),
        addSubscription(shop.w, 1, { node: 'gone' }),
      ]
      for (const uuid of uuids) {
        await user.say(`/start renew_${uuid}`)
        expect(user.messages().at(-2)?.text).toBe(t.stale)
      }
      expect(payments()).toEqual([])
    })
  })
})
