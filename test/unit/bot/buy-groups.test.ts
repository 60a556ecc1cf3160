/** The bot where plans are sold with groups of servers. */
import { afterEach, beforeEach, expect, test } from 'vitest'
import { textsOf } from '#src/bot/texts.ts'
import { addAll } from '#test/support/rows/groups.ts'
import { addSubscription } from '#test/support/rows/records.ts'
import {
  type BotShop,
  type BotUser,
  createBotShop,
  monthIn,
  ONE_PROVIDER,
} from '#test/support/worlds/bot-user.ts'

const t = textsOf('en')
const MONTH = monthIn('en')
const ALL = '🌍 Label of all · 3'

let shop: BotShop
let user: BotUser
beforeEach(async () => {
  shop = await createBotShop({ environment: ONE_PROVIDER })
  user = shop.user({ id: 1, username: 'ada' })
  addAll(shop.w)
})
afterEach(() => shop.close())

const quarter = () => user.buttons().find((text) => text.startsWith('90 days')) as string
const payments = () => shop.w.rows('select node, node_group, plan from payments order by seq')

async function pay(): Promise<void> {
  const [{ external_id: externalId }] = shop.w.rows('select external_id from payments')
  shop.a.pay(externalId)
  shop.w.clock.advance(5000)
  await user.tap(t.paid)
  await shop.w.s.background.idle()
}

test('places are groups, then single servers; a group has its own plans, and no home is chosen', async () => {
  await user.say('/buy')
  expect(user.buttons()).toEqual([ALL, 'Local', 'Label of nl1', 'Label of us1', t.back])
  await user.tap(ALL)
  expect(user.last().text).toBe(t.choosePlan('Label of all'))
  expect(user.buttons()).toEqual([quarter(), t.back])
  const bill = await user.tap(quarter())
  expect(bill.text).toContain('Label of all')
  expect(payments()).toEqual([{ node: 'de1', node_group: 'all', plan: '3m' }])
  await pay()
  const messages = user.messages().map(({ text }) => text)
  expect(messages.every((text) => text?.includes('Label of all'))).toBe(true)
  expect(shop.w.rows('select node, node_group from subscriptions')).toEqual([
    { node: 'de1', node_group: 'all' },
  ])
  await user.say('/my')
  expect(user.last().text).toContain('Label of all')
})

test('a single server has the plans without a group', async () => {
  await user.say('/buy')
  await user.tap('Label of nl1')
  expect(user.buttons()).toContain(MONTH)
  expect(quarter()).toBeUndefined()
  await user.tap(MONTH)
  expect(payments()).toEqual([{ node: 'nl1', node_group: null, plan: '1m' }])
})

test('the step is left out where there is one place', async () => {
  shop.w.change("update plans set archived = 1 where code <> '3m'")
  await user.say('/buy')
  expect(user.last().text).toBe(t.choosePlan('Label of all'))
  await user.tap(t.back)
  expect(user.last().text).not.toBe(t.chooseNode)
})

test('a link to a plan leads to where that is sold', async () => {
  await user.say('/start buy_3m')
  expect(payments()).toEqual([{ node: 'de1', node_group: 'all', plan: '3m' }])
  await user.say('/start buy_1m')
  expect(user.buttons()).toEqual(['Local', 'Label of nl1', 'Label of us1', t.back])
})

test('a group whose servers are all sold out is no place, and its plans are not offered', async () => {
  shop.w.change("delete from node_group_nodes where node <> 'us1'")
  shop.w.change("update nodes set enabled = 0 where code = 'us1'")
  await user.say('/buy')
  expect(user.buttons()).toEqual(['Local', 'Label of nl1', t.back])
  await user.tap('Local')
  expect(quarter()).toBeUndefined()
  await user.say('/start buy_3m')
  expect(user.messages().some(({ text }) => text === t.planGone)).toBe(true)
})

test('a subscription with a group is renewed by plans of the group and its own', async () => {
  await user.say('/start')
  const uuid = addSubscription(shop.w, 1, { node: 'nl1', node_group: 'all', plan: '1m' })
  shop.w.change("update plans set archived = 1 where code = '1m'")
  await user.say('/my')
  await user.tap('Label of all · 31.03.2026')
  await user.tap(t.renew)
  expect(user.last().text).toBe(t.chooseRenewal('Label of all', '31.03.2026'))
  expect(user.buttons()).toEqual([quarter(), MONTH, t.back])
  await user.tap(quarter())
  expect(payments()).toEqual([{ node: 'nl1', node_group: 'all', plan: '3m' }])
  await pay()
  expect(shop.w.rows('select uuid, node, node_group from subscriptions')).toEqual([
    { uuid, node: 'nl1', node_group: 'all' },
  ])
})

test('a button of a group that is gone is out of date', async () => {
  await user.say('/buy')
  shop.w.change('delete from node_groups')
  await user.tap(ALL)
  expect(user.notice()).toBe(t.stale)
  expect(payments()).toEqual([])
})
