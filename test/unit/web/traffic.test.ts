import { describe, expect, test } from 'vitest'
import { landingPage } from '#src/web/landing-page.ts'
import { soldTraffic, usedText, usedTraffic, withTraffic } from '#src/web/traffic.ts'
import { BOT, FRAME, HUE } from '#test/support/page-frame.ts'

const GB = 1024 ** 3
const plain = (text: string | null) => text?.replace(/\s/g, ' ') ?? null

describe('what a plan has', () => {
  test.each([
    ['none', '100 GB', '100 ГБ'],
    ['day', '100 GB a day', '100 ГБ в день'],
    ['week', '100 GB a week', '100 ГБ в неделю'],
    ['month', '100 GB a month', '100 ГБ в месяц'],
    ['rolling', '100 GB a month', '100 ГБ в месяц'],
  ] as const)('by the period %s', (quotaPeriod, en, ru) => {
    const sold = { quotaBytes: 100 * GB, quotaPeriod }
    expect(plain(soldTraffic('en', sold))).toBe(en)
    expect(plain(soldTraffic('ru', sold))).toBe(ru)
    expect(plain(withTraffic('en', 'Month', sold))).toBe(`Month · ${en}`)
  })

  test('nothing without a limit', () => {
    const sold = { quotaBytes: null, quotaPeriod: 'none' } as const
    expect(soldTraffic('en', sold)).toBeNull()
    expect(withTraffic('en', 'Month', sold)).toBe('Month')
  })
})

describe('what is used', () => {
  const usage = {
    quotaBytes: 90 * GB,
    extraBytes: 10 * GB,
    usedBytes: 12.5 * GB,
    resetsAt: '2026-11-30T21:00:00',
    limitedAt: null,
    expiresAt: '2026-12-20T00:00:00',
  }
  const used = (lang: 'en' | 'ru', more: Partial<Parameters<typeof usedTraffic>[2]> = {}) => {
    const found = usedTraffic(lang, 'Europe/Moscow', { ...usage, ...more })
    return found && plain(usedText(found))
  }
  const limitedAt = '2026-11-20T00:00:00'
  const isOver = { usedBytes: 101 * GB, limitedAt }

  test.each([
    ['with the day of the next period', {}, '12.5 of 100 GB, until 1 December'],
    ['without periods', { resetsAt: null }, '12.5 of 100 GB'],
    ['whose period outlives it', { expiresAt: '2026-11-30T21:00:00' }, '12.5 of 100 GB'],
    ['while it is paused', { heldAt: limitedAt }, '12.5 of 100 GB'],
    ['used up', isOver, '101 of 100 GB, comes back on 1 December'],
    [
      'used up without periods',
      { ...isOver, resetsAt: null },
      '101 of 100 GB, comes back when you renew',
    ],
    [
      'used up without periods and an end',
      { ...isOver, resetsAt: null, expiresAt: '9999-12-31T23:59:59' },
      '101 of 100 GB',
    ],
    ['used up and paused', { ...isOver, heldAt: limitedAt }, '101 of 100 GB'],
  ])('%s', (_name, more, text) => {
    expect(used('en', more)).toBe(text)
  })

  test('in Russian', () => {
    expect(used('ru')).toBe('12,5 из 100 ГБ, до 1 декабря')
    expect(used('ru', isOver)).toBe('101 из 100 ГБ, вернётся 1 декабря')
    expect(used('ru', { ...isOver, resetsAt: null })).toBe(
      '101 из 100 ГБ, вернётся после продления',
    )
  })

  test('as a share of what is allowed, never more than all', () => {
    const share = (more: object) => usedTraffic('en', 'UTC', { ...usage, ...more })?.share
    expect(share({})).toBe(0.125)
    expect(share(isOver)).toBe(1)
  })

  test('nothing without a limit', () => {
    expect(usedTraffic('en', 'UTC', { ...usage, quotaBytes: null })).toBeNull()
  })
})

describe('the landing page', () => {
  const frame = { ...FRAME, ...BOT, brandName: 'A', brandHue: HUE, lang: 'en' as const }
  const plan = { code: 'a', label: 'Month', days: 30, price: 199, sold: true }
  const shown = (plans: object[], deviceLimit: number | null = 3) =>
    landingPage({
      ...frame,
      nodeLabels: [],
      currency: 'RUB',
      deviceLimit,
      plans: plans.map((more, at) => ({ ...plan, code: `p${at}`, ...more })),
    })
  const limits = (markup: string) =>
    [...markup.matchAll(/<p class="limit">([^<]*)</g)].map(([, text]) => plain(text ?? ''))

  test('says of each plan what it has, and nothing where none has a limit', () => {
    expect(limits(shown([{}, {}]))).toEqual([])
    expect(limits(shown([{ traffic: '100 GB a month' }, {}]))).toEqual([
      '100 GB a month',
      'unlimited traffic',
    ])
  })

  test('says the devices of each plan as soon as one has a number of its own', () => {
    const page = shown([{ devices: 1 }, { devices: null }])
    expect(limits(page)).toEqual(['up to 1 device', 'up to 3 devices'])
    expect(page).not.toContain('on one link')
    expect(shown([{}])).toContain('Up to 3 devices on one link')
    expect(shown([{ traffic: '100 GB' }], null)).not.toContain('devices on')
  })
})
