/** What the pages offer to buy, and where: by bot, by account, or not at all. */
import { describe, expect, test } from 'vitest'
import { FILE_APPS } from '#src/domain/lists/apps.ts'
import { cabinetPage } from '#src/web/cabinet-page.ts'
import { errorPage } from '#src/web/error-page.ts'
import { expiredPage } from '#src/web/expired-page.ts'
import { type LandingPageInput, type LandingPlan, landingPage } from '#src/web/landing-page.ts'
import { LANGS, type Lang } from '#src/web/lang.ts'
import { stringsOf } from '#src/web/strings.ts'
import { openPage, subPage } from '#src/web/sub-page.ts'
import { BOT, FRAME, HUE, SUB_URL } from '#test/support/page-frame.ts'

const withoutStyle = (markup: string) => markup.replace(/<style>[\s\S]*?<\/style>/, '')

describe('the landing page', () => {
  const base = {
    ...FRAME,
    brandName: 'Aurora',
    brandHue: HUE,
    nodeLabels: ['Oslo'],
    deviceLimit: null,
  }
  const plans = [
    { code: '12m', label: 'A year', days: 360, price: 1799, sold: true },
    { code: 'free', label: 'Given away', days: 3, price: 0, sold: false },
  ]

  test('shows the plans that cost something, in the currency', () => {
    const ru = landingPage({ ...base, ...BOT, lang: 'ru', plans, currency: 'RUB' })
    expect(ru).toMatch(/1\s799\s₽/)
    expect(ru).not.toContain('Given away')
    expect(ru).toContain('https://t.me/aurora_bot?start=buy_12m')
    expect(landingPage({ ...base, ...BOT, lang: 'en', plans, currency: 'POINTS' })).toContain(
      '1799 POINTS',
    )
  })

  const shown = (input: Partial<LandingPageInput>) =>
    landingPage({ ...base, ...BOT, lang: 'en', plans, currency: 'RUB', ...input })
  const withoutBot = { botUsername: '', helpUrl: 'https://t.me/help' }
  const unsold = plans.map((plan) => ({ ...plan, sold: false }))

  test('leads to the account where there is no bot, and promises no stranger a purchase', () => {
    const page = shown(withoutBot)
    expect(page).toMatch(/class="btn pri" href="https:\/\/site\.test\/cabinet\.html"/)
    expect(page).toContain('aria-label="Buy in your account: A year"')
    expect(page).toContain('No link yet? <a href="https://t.me/help"')
    expect(page).not.toMatch(/Telegram|\bbot\b/)
    expect(shown({ ...withoutBot, helpUrl: null })).not.toContain('No link yet?')
    expect(shown({ ...withoutBot, lang: 'ru' })).not.toMatch(/Telegram|\sбот/)
  })

  test.each(['', 'aurora_bot'])('offers nothing to buy while sales are paused, bot "%s"', (bot) => {
    const page = shown({ plans: unsold, botUsername: bot })
    expect(page).toContain('Sales are paused right now.')
    expect(page).toContain('1,799')
    expect(page).not.toMatch(/start=buy|Choose|Buy in|Have your link/)
    expect(shown({})).not.toContain('Sales are paused')
  })

  test.each([
    ['en', '−8%'],
    ['ru', '−8\u00a0%'],
  ] as const)('writes what is saved as %s does', (lang, saving) => {
    const plan = { code: 'x', label: 'x', sold: true }
    const month = { ...plan, days: 30, price: 199 }
    const page = shown({ lang, plans: [month, { ...plan, days: 90, price: 549 }] })
    expect(page).toContain(`<span class="pill rec">${saving}</span>`)
  })

  test.each([
    ['servers', { nodeGroup: 'all' }],
    ['traffic', { traffic: '100 GB a month' }],
    ['devices', { devices: 10 }],
  ])('compares no plans that differ in %s', (_what, given) => {
    const plan = { code: 'x', label: 'x', days: 30, price: 199, sold: true }
    const dear = { ...plan, ...given, price: 300 }
    const savings = (...some: LandingPlan[]) =>
      [...shown({ plans: some, deviceLimit: 5 }).matchAll(/class="pill rec">([^<]*)</g)].map(
        ([, text]) => text,
      )
    expect(savings(plan, dear)).toEqual([])
    const long = { days: 60, price: 300 }
    expect(savings(plan, dear, { ...plan, ...long }, { ...dear, ...long })).toEqual([
      '−24%',
      '−50%',
    ])
    expect(savings(plan, { ...plan, ...long, devices: 5 })).toEqual(['−24%'])
  })

  test('does without plans, servers and a bot', () => {
    const empty = { ...base, lang: 'en' as const, plans: [], nodeLabels: [], currency: 'RUB' }
    const page = landingPage({ ...empty, ...BOT, botUsername: '' })
    expect(page).toContain(stringsOf('en').plansEmpty)
    expect(page).not.toContain('t.me')
    expect(page).not.toContain('Servers')
  })
})

describe('the page without an active subscription', () => {
  const ended = { endedOn: '21.11.2026', renewUrl: null, selling: false, paused: false }
  const base = { ...FRAME, ...ended, lang: 'en' as const, brandName: 'A', brandHue: HUE }
  const filled = (page: string) => page.match(/class="btn pri[^>]*href="([^"]+)"/)?.[1]
  const botUrl = 'https://t.me/aurora_bot'
  const renewUrl = 'https://site.test/cabinet.html#token'
  const helpUrl = 'https://t.me/help'

  test.each([{ name: 'ended' }, { name: 'none', endedOn: null }, { name: 'paused', paused: true }])(
    'fills the first button that there is, and names no bot where none is: $name',
    (kind) => {
      const input = { ...base, ...kind }
      expect(filled(expiredPage({ ...input, botUrl, renewUrl, helpUrl }))).toBe(botUrl)
      const site = expiredPage({ ...input, botUrl: null, renewUrl, helpUrl })
      expect(filled(site)).toBe(kind.paused ? helpUrl : renewUrl)
      expect(filled(expiredPage({ ...input, botUrl: null, helpUrl }))).toBe(helpUrl)
      const alone = expiredPage({ ...input, botUrl: null })
      expect(alone).not.toContain('class="btn')
      expect(withoutStyle(alone)).not.toMatch(/Telegram|\bbot\b/)
    },
  )

  test('promises a renewal in the bot only while something is sold', () => {
    expect(expiredPage({ ...base, botUrl, selling: true })).toContain('Renew in Telegram')
    const closed = expiredPage({ ...base, botUrl })
    expect(closed).not.toContain('Renew')
    expect(closed).toContain('Open the bot')
  })
})

test('the subscription page promises a renewal in the bot only while something is sold', () => {
  const seen = { system: 'ios', visitor: 'ios', ipad: false, inTelegram: false } as const
  const visit = { ...seen, limited: false, paused: [], apps: FILE_APPS, devices: null }
  const one = { nodeLabel: 'A', planLabel: 'B', expiresOn: '1', daysToGo: 3, planDays: 30 }
  const accountUrl = 'https://site.test/cabinet.html#token'
  const links = { subUrl: SUB_URL, accountUrl, botUrl: 'https://t.me/aurora_bot', renewUrl: null }
  const base = { ...FRAME, ...visit, ...links, brandName: 'A', brandHue: HUE, lang: 'en' as const }
  expect(subPage({ ...base, subscriptions: [one], selling: true })).toContain('Renew in Telegram')
  const closed = subPage({ ...base, subscriptions: [one], selling: false })
  expect(closed).not.toContain('Renew')
  expect(closed).toContain('Open the bot')
})

test('links between the pages hand on the language that was asked for', () => {
  const seen = { system: 'ios', visitor: 'ios', inTelegram: false } as const
  const visit = { ...seen, limited: false, selling: true }
  const base = { ...FRAME, ...visit, brandName: 'A', brandHue: HUE, lang: 'ru' as const }
  const links = (markup: string) =>
    [...markup.matchAll(/href="(https:\/\/(?:site|sub)[^"]*)"/g)].map((match) => match[1])
  const ended = { endedOn: null, paused: false, botUrl: null }
  const renewUrl = 'https://site.test/cabinet.html#token'
  const app = FILE_APPS[0] as (typeof FILE_APPS)[number]
  const shop = { plans: [], nodeLabels: [], currency: 'RUB', deviceLimit: null, ...BOT }
  const all = (askedLang: Lang | null) => [
    ...links(expiredPage({ ...base, ...ended, renewUrl, askedLang })),
    ...links(openPage({ ...base, app, subUrl: SUB_URL, accountUrl: renewUrl, askedLang })),
    ...links(landingPage({ ...base, ...shop, askedLang })),
    ...links(errorPage({ ...base, status: 404, message: '', botUrl: null, askedLang })),
  ]
  expect(all('ru')).toContain('https://site.test/cabinet.html?lang=ru#token')
  expect(all('ru')).toContain(`${SUB_URL}?lang=ru`)
  for (const link of all('ru')) expect(link).toContain('?lang=ru')
  expect(all(null)).toContain(renewUrl)
  for (const link of all(null)) expect(link).not.toContain('lang=')
})

describe('where guests are sold to', () => {
  const base = {
    ...FRAME,
    guests: true,
    brandName: 'Aurora',
    brandHue: HUE,
    nodeLabels: ['Oslo'],
    deviceLimit: null,
    plans: [{ code: '12m', label: 'A year', days: 360, price: 1799, sold: true }],
    currency: 'RUB',
    botLinkBase: 'https://t.me',
    lang: 'en' as const,
  }

  const cabinet = (guests: boolean, botUrl: string | null, lang: Lang = 'en') =>
    cabinetPage({
      ...base,
      lang,
      guests,
      botUrl,
      changes: { servers: false, plans: false },
      timezone: 'UTC',
    })

  test.each(LANGS)('the cabinet names no Telegram to guests where there is no bot, %s', (lang) => {
    const noteOf = (botUrl: string | null) =>
      /id="guest-note".*?<span>(.*?)<\/span>/.exec(cabinet(true, botUrl, lang))?.[1]
    expect(noteOf('https://t.me/aurora_bot')).toContain('Telegram')
    expect(noteOf(null)).toMatch(/Save it now|Сохраните её сейчас/)
    expect(noteOf(null)).not.toContain('Telegram')
  })

  test('the cabinet says what guests can do while there are too many, where there is a bot', () => {
    expect(cabinet(true, 'https://t.me/aurora_bot')).toContain('Log in with Telegram')
    expect(cabinet(true, null)).not.toContain('guestsLater')
    expect(cabinet(false, 'https://t.me/aurora_bot')).not.toContain('guestsLater')
  })

  test('plans lead to the cabinet, which knows what is wanted, and to the bot beside it', () => {
    const page = landingPage({ ...base, botUsername: 'aurora_bot' })
    expect(page).toContain('href="https://site.test/cabinet.html#buy=12m" aria-label="Buy: A year"')
    expect(page).toContain('href="https://t.me/aurora_bot?start=buy_12m"')
    const asked = landingPage({ ...base, askedLang: 'ru', botUsername: '' })
    expect(asked).toContain('href="https://site.test/cabinet.html?lang=ru#buy=12m"')
    expect(asked).not.toContain('t.me')
  })

  test('and nothing says that a link is needed', () => {
    const page = landingPage({ ...base, botUsername: '', helpUrl: 'https://t.me/help' })
    expect(page).not.toMatch(/Have your link|No link yet/)
    const unsold = base.plans.map((plan) => ({ ...plan, sold: false }))
    const paused = landingPage({ ...base, plans: unsold, botUsername: '' })
    expect(paused).toContain('Sales are paused right now.')
    expect(paused).not.toContain('#buy=')
  })
})
