/** The bot where plans have a limit of traffic or of devices. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { textsOf } from '#src/bot/texts.ts'
import { formatPrice } from '#src/lib/format.ts'
import { plainOfHtml } from '#src/lib/html.ts'
import {
  addNode,
  addSubscription,
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

const GB = 1024 ** 3
const plain = (text: string | undefined) => plainOfHtml(text ?? '').replace(/\s/g, ' ')

let shop: BotShop
let ada: BotUser
beforeEach(async () => {
  shop = await createBotShop({ environment: ONE_PROVIDER })
  ada = shop.user({ id: 1, username: 'ada' })
})
afterEach(() => shop.close())

const limitPlans = () =>
  shop.w.change(
    "update plans set quota_gb = 100, quota_period = 'month', hwid_limit = 5 where code = '1m'",
  )

describe('buying', () => {
  test('plans say their traffic on their buttons, and all that they have on the bill', async () => {
    limitPlans()
    putSettings(shop.w, { HWID_LIMIT_ENABLED: 'true' })
    await ada.say('/buy')
    const [month = '', quarter = ''] = ada.buttons()
    expect([month, quarter].map(plain)).toEqual([
      `30 days · 100 GB a month · ${plain(formatPrice(199, 'RUB', 'en'))}`,
      `90 days · ${plain(formatPrice(549, 'RUB', 'en'))}`,
    ])
    const bill = await ada.tap(month)
    expect(plain(bill.text)).toContain('Plan: 30 days · 100 GB a month · up to 5 devices Price')
  })

  test('of devices nothing is said while nobody counts them', async () => {
    limitPlans()
    await ada.say('/buy')
    const bill = await ada.tap(ada.buttons()[0] ?? '')
    expect(plain(bill.text)).toContain('Plan: 30 days · 100 GB a month Price')
  })

  test('without limits it is as it was', async () => {
    await ada.say('/buy')
    expect(ada.buttons()).toContain(monthIn())
    expect(plain((await ada.tap(monthIn())).text)).toContain('Plan: 30 days Price')
  })

  test('in Russian', async () => {
    limitPlans()
    const user = shop.user({ id: 2, language_code: 'ru' })
    await user.say('/buy')
    expect(plain(user.buttons()[0])).toContain('30 days · 100 ГБ в месяц · 199 ₽')
  })
})

describe('own subscriptions', () => {
  const limited = { quota_bytes: 100 * GB, quota_period: 'month' }
  /** A subscription of the user, and their list as lines. */
  async function listWith(more: Record<string, string | number | null>, lang = 'en') {
    await ada.say('/start')
    shop.w.change('update users set lang = ?', lang)
    addSubscription(shop.w, 1, more)
    const { text = '' } = await ada.say('/my')
    return text.split('\n').map(plain)
  }

  test('say what is used, and until when that counts', async () => {
    const resets_at = inSeconds(shop.w, 9 * DAY)
    const lines = await listWith({ ...limited, used_bytes: 12.5 * GB, resets_at })
    expect(lines.slice(-2)).toEqual([
      '✅ active, until 31.03.2026, 30 days left',
      'Traffic: 12.5 of 100 GB, until 10 March',
    ])
    await ada.tap(ada.buttons()[0] ?? '')
    expect(plain(ada.last().text)).toContain('Traffic: 12.5 of 100 GB, until 10 March')
  })

  test('say that all is used up, and what brings it back', async () => {
    const limited_at = inSeconds(shop.w, -DAY)
    const lines = await listWith({ ...limited, used_bytes: 100 * GB, limited_at }, 'ru')
    expect(lines.slice(-2)).toEqual([
      '📵 трафик израсходован, до 31.03.2026, ещё 30 дней',
      'Трафик: 100 из 100 ГБ, вернётся после продления',
    ])
    expect(ada.buttons()).toHaveLength(3)
    await ada.tap(ada.buttons()[0] ?? '')
    expect(ada.buttons()).toContain(textsOf('ru').renew)
  })

  test('say nothing of it once they have ended, or without a limit', async () => {
    const ended = { ...limited, expires_at: inSeconds(shop.w, -DAY) }
    expect((await listWith(ended)).join()).not.toContain('Traffic')
    expect((await listWith({})).join()).not.toContain('Traffic')
  })
})

test('a gift says the traffic that it was made with', async () => {
  addNode(shop.w, 'nl1')
  limitPlans()
  shop.w.change(
    "insert into gift_codes (code, node, plan, quota_bytes, quota_period, created_at) values ('AAAABBBBCCCCDDDD', 'nl1', '1m', ?, 'week', '2026-01-01T00:00:00')",
    50 * GB,
  )
  const { text } = await ada.say('/start gift_AAAABBBBCCCCDDDD')
  expect(plain(text)).toContain('Plan: 30 days · 50 GB a week')
})
