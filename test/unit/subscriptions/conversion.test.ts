/** What days of one plan are as days of another: nobody gains time or worth by changes, whatever the prices. */
import { describe, expect, test } from 'vitest'
import type { PaidDays } from '#db/own-changes.ts'
import type { Plan } from '#db/schema/index.ts'
import {
  converted,
  type Days,
  dayWorthOf,
  givenAfter,
  type Rate,
  worthOf,
} from '#src/domain/subscriptions/conversion.ts'
import { seeded } from '#test/support/drivers/torture.ts'

const DAY = 86_400

const plan = (price: number, days: number, more: Partial<Plan> = {}): Plan => ({
  ...{ code: `${price}/${days}`, label: '', price, days, priceStars: null, sortOrder: 1 },
  ...{ archived: false, nodeGroup: null, quotaGb: null, quotaPeriod: 'none', hwidLimit: null },
  ...more,
})
const paid = (amount: number, days: number, more: Partial<PaidDays> = {}): PaidDays => ({
  ...{ id: '', amount, days, currency: 'RUB', givenSeconds: null },
  ...more,
})
const own = (of: Plan, days: number, more: Partial<Days> = {}): Days => ({
  ...{ plan: of, seconds: days * DAY, paid: [], dayWorth: null, currency: 'RUB' },
  ...more,
})

const basic = plan(300, 30)
const all = plan(1800, 90, { nodeGroup: 'all' })

describe('days', () => {
  test.each([
    ['of half the price', own(basic, 23), all, 11],
    ['of twice the price', own(all, 11), basic, 22],
    ['a second more than a whole one', own(basic, 2, { seconds: 2 * DAY }), all, 1],
    ['a second less', own(basic, 2, { seconds: 2 * DAY - 1 }), all, 0],
    ['none', own(basic, 0), all, 0],
    ['by a price of thirds', own(plan(199, 30), 30), plan(199, 30, { hwidLimit: 2 }), 30],
    [
      'beyond what a number holds',
      own(plan(1e9, 1), 3650),
      plan(1, 3650, { hwidLimit: 1 }),
      1e9 * 3650 * 3650,
    ],
  ])('%s', (_, days, to, expected) => {
    expect(converted(days, to, [days.plan, to]).days).toBe(expected)
  })
})

test('of what is sold for several lengths a day is the dearest one: nobody gets a year’s discount for a month', () => {
  const year = plan(2400, 365, { nodeGroup: 'all' })
  const month = plan(600, 30, { nodeGroup: 'all' })
  const sold = [basic, plan(1200, 365), month, year]
  expect(converted(own(basic, 30), year, sold).days).toBe(15)
  expect(converted(own(basic, 30), plan(1200, 365), sold).days).toBe(30)
  expect(converted(own(month, 30), plan(1200, 365), sold).days).toBe(60)
})

describe('what a day is worth', () => {
  const worth = (days: Days) => {
    const { price, days: n } = worthOf(days)
    return price / n
  }
  test.each([
    ['the list', own(basic, 30), 10],
    ['what was paid last', own(basic, 30, { paid: [paid(150, 30)] }), 5],
    ['the list where more was paid', own(basic, 30, { paid: [paid(600, 30)] }), 10],
    [
      'the list where it was paid in Stars',
      own(basic, 30, { paid: [paid(1, 30, { currency: 'XTR' })] }),
      10,
    ],
    ['the cheapest of what is left', own(basic, 31, { paid: [paid(300, 30), paid(90, 30)] }), 3],
    ['not of what is over', own(basic, 30, { paid: [paid(300, 30), paid(90, 30)] }), 10],
    [
      'Stars cover their days',
      own(basic, 31, { paid: [paid(1, 30, { currency: 'XTR' }), paid(90, 30)] }),
      3,
    ],
    ['as it was changed', own(basic, 30, { dayWorth: 4_000_000 }), 4],
    ['as it was paid since', own(basic, 30, { dayWorth: 4_000_000, paid: [paid(150, 30)] }), 5],
    ['the cheaper of both', own(basic, 31, { dayWorth: 4_000_000, paid: [paid(150, 30)] }), 4],
    [
      'of payments before a change nothing',
      own(basic, 30, { dayWorth: 9_000_000, paid: [paid(30, 30, { givenSeconds: 5 })] }),
      9,
    ],
    ['nothing for what cost nothing', own(basic, 30, { paid: [paid(0, 30)] }), 0],
    ['the list where no days were paid for', own(basic, 30, { paid: [paid(1, 0)] }), 10],
  ])('%s', (_, days, expected) => {
    expect(worth(days)).toBe(expected)
  })

  test('is kept as no more than it is, and is what the list says as long as that is the same', () => {
    expect(dayWorthOf({ price: 199, days: 30 })).toBe(6_633_333)
    expect(dayWorthOf({ price: 1_000_000_000, days: 1 })).toBe(1e15)
    const thirds = plan(199, 30)
    expect(worthOf(own(thirds, 30, { dayWorth: 6_633_333 }))).toBe(thirds)
    expect(worth(own(plan(200, 30), 30, { dayWorth: 6_633_333 }))).toBe(6.633333)
  })
})

const COUNT = 10_000
const random = seeded(20_261_127)
const whole = (least: number, most: number) => least + Math.floor(random() * (most - least + 1))
/** Of all sizes: 1 to 10 as often as 100 to 1000. */
const price = () => Math.ceil(10 ** (random() * whole(1, 9)))
const group = () => (random() < 0.5 ? null : 'all')
const anyPlan = () => plan(price(), whole(1, 3650), { nodeGroup: group(), hwidLimit: whole(1, 3) })

/** Whether so many seconds by a rate are worth more than others by theirs, exactly. */
const isMore = (seconds: number, by: Rate, others: number, byTheirs: Rate): boolean =>
  BigInt(seconds) * BigInt(by.price) * BigInt(byTheirs.days) >
  BigInt(others) * BigInt(byTheirs.price) * BigInt(by.days)

test(`${COUNT} random pairs: there and back is never more time, and the worth never grows`, () => {
  let lost = 0
  for (let i = 0; i < COUNT; i++) {
    const [from, to] = [anyPlan(), anyPlan()]
    const payments = Array.from({ length: whole(0, 3) }, () => paid(price(), whole(1, 365)))
    const start = own(from, 0, { seconds: whole(1, 3650 * DAY), paid: payments })
    const there = converted(start, to, [from, to])
    const seconds = there.days * DAY
    if (!Number.isSafeInteger(seconds)) continue
    expect(isMore(seconds, there.worth, start.seconds, worthOf(start))).toBe(false)
    const back = converted(own(to, 0, { seconds, dayWorth: dayWorthOf(there.worth) }), from, [
      from,
      to,
    ])
    expect(back.days * DAY).toBeLessThanOrEqual(start.seconds)
    if (back.days * DAY < start.seconds) lost++
  }
  expect(lost).toBeGreaterThan(COUNT / 2)
})

test('long walks among plans, with renewals between them, end with no more than was paid for', () => {
  for (let i = 0; i < 1000; i++) {
    const plans = [anyPlan(), anyPlan(), anyPlan()]
    const pick = () => plans[whole(0, 2)] as Plan
    let at = pick()
    const first = paid(at.price, at.days)
    let days: Days = own(at, at.days, { paid: [first] })
    let money = at.price
    for (let step = 0; step < 12; step++) {
      if (random() < 0.4) {
        // By whatever plan: all is of that one from now on, as where it brings a group.
        at = pick()
        money += at.price
        days = {
          ...days,
          plan: at,
          seconds: days.seconds + at.days * DAY,
          paid: [paid(at.price, at.days), ...days.paid],
        }
        continue
      }
      const to = pick()
      const next = converted(days, to, plans)
      if (next.days === 0 || next.days > 1e9) continue
      const old = days.seconds
      days = {
        ...days,
        ...{ plan: to, seconds: next.days * DAY, dayWorth: dayWorthOf(next.worth) },
        paid: days.paid.map((one) => ({ ...one, givenSeconds: givenAfter(one, old, next.days) })),
      }
    }
    const { price: worth, days: per } = worthOf(days)
    expect((days.seconds / DAY) * (worth / per)).toBeLessThanOrEqual(money * (1 + 1e-9))
  }
})

test('what a payment stands for after a change is never less than its share', () => {
  for (let i = 0; i < COUNT; i++) {
    const payment = paid(1, whole(1, 3650), random() < 0.5 ? {} : { givenSeconds: whole(1, 1e12) })
    const [seconds, days] = [whole(1, 1e9), whole(1, 10_000)]
    const given = payment.givenSeconds ?? payment.days * DAY
    const share = BigInt(given) * BigInt(days * DAY)
    const after = givenAfter(payment, seconds, days)
    if (after === Number.MAX_SAFE_INTEGER) continue
    expect(BigInt(after) * BigInt(seconds) >= share).toBe(true)
    expect((BigInt(after) - 1n) * BigInt(seconds) <= share).toBe(true)
  }
  expect(givenAfter(paid(1, 1, { givenSeconds: Number.MAX_SAFE_INTEGER }), 1, 9)).toBe(
    Number.MAX_SAFE_INTEGER,
  )
})
