/** The account of a buyer: what it offers first, how it is found again after paying, what it says when something is refused. */
import type { Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import { axeFindings, screenshot } from '#test/support/browser/panel-browser.ts'
import { type Buyer, tokenOf, type View } from '#test/support/browser/public-site.ts'
import { visitSite } from '#test/support/browser/site-visit.ts'

const site = visitSite()

const accountOf = (buyer: Buyer) => `${site.site}/cabinet.html#${tokenOf(buyer)}`

async function openAccount(buyer: Buyer, view: Partial<View> = {}): Promise<Page> {
  const page = await site.open(view)
  await page.goto(accountOf(buyer))
  await page.waitForSelector('#account:not([hidden])')
  return page
}

/** Buttons that are cut, and words of buttons and names that are broken onto two lines. */
const brokenWords = (page: Page) =>
  page.evaluate(() => {
    const linesOf = (text: Node, from: number, to: number) => {
      const range = document.createRange()
      range.setStart(text, from)
      range.setEnd(text, to)
      return new Set([...range.getClientRects()].map(({ top }) => Math.round(top))).size
    }
    const brokenIn = (text: Text) =>
      [...text.data.matchAll(/\S+/g)].flatMap(({ 0: word, index }) =>
        linesOf(text, index, index + word.length) > 1 ? [`broken: ${word}`] : [],
      )
    /** What only screen readers get is one pixel wide. */
    const isShown = (element: Element | null) => (element?.clientWidth ?? 0) !== 1
    const textsOf = (element: Element) => {
      const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT)
      const texts: Text[] = []
      while (walker.nextNode()) texts.push(walker.currentNode as Text)
      return texts.filter((text) => isShown(text.parentElement))
    }
    const shown = [
      ...document.querySelectorAll('.btn, .ghost, .pill, .others strong, .app .muted, .os label'),
    ].filter((element) => element.checkVisibility())
    const cut = shown.filter(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth + 1)
    return [
      ...cut.map(({ textContent }) => `cut: ${textContent}`),
      ...shown.flatMap(textsOf).flatMap(brokenIn),
    ]
  })

describe.each(['en', 'ru'] as const)('on a narrow phone, %s', (lang) => {
  test.each([320, 360])('no button is cut or broken inside a word, %i px', async (width) => {
    const page = await site.open({ lang }, { viewport: { width, height: 740 } })
    const urls = {
      landing: `${site.site}/`,
      one: site.link('one'),
      android: `${site.link('one')}?os=android`,
      windows: `${site.link('one')}?os=windows`,
      ended: site.link('ended'),
      bridge: `${site.link('one')}/open/happ`,
      paid: `${site.site}/pay/done`,
      ask: `${site.site}/cabinet.html`,
      many: accountOf('many'),
      devices: accountOf('one'),
    }
    for (const [name, url] of Object.entries(urls)) {
      await page.goto('about:blank')
      await page.goto(url)
      if (url.includes('#')) await page.waitForSelector('#account:not([hidden])')
      await page.evaluate(() => {
        for (const part of document.querySelectorAll('details')) part.open = !part.closest('nav')
      })
      expect(await brokenWords(page), name).toEqual([])
      const wide = () => document.documentElement.scrollWidth - document.documentElement.clientWidth
      expect(await page.evaluate(wide), name).toBe(0)
      await screenshot(page, `public/narrow-${name}-${width}-${lang}`)
    }
  })
})

test('is found again after paying, by a link that names nobody, until another is asked for', async () => {
  const sent: string[] = []
  const page = await site.open()
  page.on('request', (request) => sent.push(request.url()))
  await page.route('https://yoomoney.ru/**', (route) => route.fulfill({ body: 'paying' }))
  await page.goto(accountOf('many'))
  await page.getByRole('button', { name: /^Pay/ }).click()
  await page.waitForURL('https://yoomoney.ru/**')
  await page.goto(`${site.site}/pay/done`)
  await page.getByRole('main').getByRole('link', { name: 'Your account' }).click()
  await page.getByText('@anna').waitFor()
  expect(await page.evaluate(() => localStorage.length)).toBe(0)
  const inFooter = page.getByRole('contentinfo').getByRole('link', { name: 'Your account' })
  expect(await inFooter.getAttribute('href')).toBe(accountOf('many'))
  // The API alone learns the token.
  const told = sent.filter((url) => new URL(url).href.split('#')[0]?.includes(tokenOf('many')))
  expect(told.every((url) => url.startsWith(`${site.site}/api/cabinet/`))).toBe(true)

  await page.getByRole('link', { name: 'Other link' }).click()
  await page.getByRole('textbox', { name: 'Subscription link' }).waitFor()
  await page.goto(`${site.site}/cabinet.html`)
  await page.getByRole('textbox', { name: 'Subscription link' }).waitFor()
  expect(await page.evaluate(() => sessionStorage.length)).toBe(0)
  site.forgive('yoomoney.ru')
})

test('opens by every form of the own link', async () => {
  const page = await site.open()
  const link = site.link('one')
  const forms = [
    `${link}?lang=ru`,
    `${link}?os=tv`,
    `${link}/open/happ`,
    `${link}/`,
    `${link}#`,
    `${link}.`,
    `My link: ${link} thank you very much indeed_thank_you`,
    `${accountOf('one')}.`,
    ` ${tokenOf('one')}\n`,
  ]
  for (const form of forms) {
    await page.goto('about:blank')
    await page.goto(`${site.site}/cabinet.html`)
    await page.getByRole('textbox', { name: 'Subscription link' }).fill(form)
    await page.getByRole('button', { name: 'Show' }).click()
    await page.waitForSelector('#account:not([hidden])')
    expect(page.url(), form).toBe(accountOf('one'))
  }
})

describe('what there is to renew', () => {
  test('begins with what ends soonest, and is dated in words', async () => {
    const page = await openAccount('many', { lang: 'ru' })
    const rows = page.locator('#subscriptions > li')
    expect(await rows.locator('[data-name]').allInnerTexts()).toEqual([
      expect.stringContaining('Amsterdam'),
      expect.stringContaining('Frankfurt'),
      expect.stringContaining('New York'),
      expect.stringContaining('New York'),
    ])
    expect(await rows.last().innerText()).toContain('приостановлена')
    expect(await rows.first().innerText()).toMatch(/до \d{1,2} [а-я]{3,8} \d{4}/)
    expect(await rows.first().locator('svg.flag').count()).toBe(1)
    const chosen = page.locator('#renews option:checked')
    expect(await chosen.innerText()).toBe('Продлить Amsterdam, 30 days')
    expect(await page.getByRole('radio', { name: '30 days' }).isChecked()).toBe(true)
  })

  test('has ended ones last, and none of the paused chosen for the buyer', async () => {
    site.area.write(
      "update subscriptions set expires_at = '2026-01-05T00:00:00' where node = 'ams'",
    )
    try {
      const page = await openAccount('many')
      const rows = page.locator('#subscriptions > li')
      expect(await rows.last().innerText()).toContain('ended 5 January 2026')
      expect(await page.locator('#renews option:checked').innerText()).toContain('Frankfurt')
      site.area.write("update subscriptions set held_at = created_at where node in ('fra', 'nyc')")
      await page.reload()
      await page.waitForSelector('#account:not([hidden])')
      expect(await page.locator('#renews option:checked').innerText()).toContain('Amsterdam')
      expect(await page.getByText('stays paused after payment').isVisible()).toBe(false)
    } finally {
      site.area.write(
        "update subscriptions set expires_at = ? where node = 'ams'",
        new Date(Date.now() + 40 * 3_600_000).toISOString().slice(0, 19),
      )
      site.area.write(
        "update subscriptions set held_at = null where tg_id in (1, 2, 3) and uuid not like '%5'",
      )
    }
  })

  test('says of a paused one that it stays paused', async () => {
    const page = await openAccount('many')
    const note = page.getByText('stays paused after payment')
    expect(await note.isVisible()).toBe(false)
    await page.getByRole('button', { name: 'Renew New York' }).last().click()
    await note.waitFor()
    await screenshot(page, 'public/account-held')
    expect(await axeFindings(page)).toEqual([])
    await page.getByLabel('For').selectOption({ label: 'A new subscription' })
    expect(await note.isVisible()).toBe(false)
    await (await openAccount('paused')).getByText('stays paused after payment').waitFor()
  })

  test('hides how to connect until something is active', async () => {
    for (const buyer of ['none', 'ended', 'paused'] as const) {
      const page = await openAccount(buyer)
      expect(await page.getByText('How to connect').isVisible(), buyer).toBe(false)
    }
    const page = await openAccount('one')
    expect(await page.getByText('How to connect').isVisible()).toBe(true)
  })

  test('offers to connect Telegram to who has none, by the link that asks the bot', async () => {
    const page = await openAccount('one')
    expect(await page.getByText('Connect Telegram').first().isVisible()).toBe(false)
    const token = 'without-telegram-'.padEnd(43, 'x')
    site.area.write(
      "insert into users (tg_id, token, created_at) values (-1, ?, '2026-01-01T00:00:00')",
      token,
    )
    try {
      await page.goto(`${site.site}/cabinet.html#${token}`)
      const link = page.getByRole('link', { name: 'Connect Telegram' })
      await link.waitFor()
      expect(await axeFindings(page)).toEqual([])
      await screenshot(page, 'public/account-connect')
      expect(await link.getAttribute('href')).toMatch(
        new RegExp(`^http://sub\\.[^/]+/sub/${token}/telegram$`),
      )
    } finally {
      site.area.write('delete from users where tg_id = -1')
    }
  })

  test('asks nobody to choose a plan while nothing is sold', async () => {
    const page = await openAccount('none')
    await page.getByText('Choose a plan').waitFor()
    site.area.write(
      "insert or replace into settings (key, value) values ('PAYMENTS_ENABLED', 'off')",
    )
    try {
      await page.reload()
      await page.getByText('Payments are closed right now.').waitFor()
      await page.getByText('No subscription yet.', { exact: true }).waitFor()
      expect(await page.getByText('Choose a plan').isVisible()).toBe(false)
      await screenshot(page, 'public/account-closed')
    } finally {
      site.area.write("delete from settings where key = 'PAYMENTS_ENABLED'")
    }
  })
})

test('says in the language of the page what to do about a refusal', async () => {
  const page = await openAccount('none', { lang: 'ru' })
  await page.getByLabel('Сервер').selectOption({ label: 'Amsterdam' })
  site.area.write("update nodes set enabled = 0 where code = 'ams'")
  try {
    await page.getByRole('button', { name: /^Оплатить/ }).click()
    await page.getByText('Этот сервер больше не продаётся. Выберите другой.').waitFor()
  } finally {
    site.area.write("update nodes set enabled = 1 where code = 'ams'")
  }
  const detail = page.getByText('node is not for sale')
  expect(await detail.getAttribute('lang')).toBe('en')
  expect(await axeFindings(page)).toEqual([])
  await screenshot(page, 'public/account-refused-ru')

  await page.route('**/api/cabinet/**', (route) =>
    route.fulfill({ status: 400, json: { error: 'something new' } }),
  )
  await page.getByRole('button', { name: /^Оплатить/ }).click()
  await page.getByText('Не удалось создать платёж. Попробуйте через минуту').waitFor()
  expect(await page.getByText('something new').getAttribute('lang')).toBe('en')
})

test('keeps the keyboard where a device was removed', async () => {
  site.area.write(
    "update devices set device_model = case hwid when 'aaaaaaaaaaaa' then 'First' else 'Second' end",
  )
  site.area.write("delete from devices where hwid not in ('aaaaaaaaaaaa', 'bbbbbbbbbbbb')")
  const page = await openAccount('one')
  const remove = async (name: string) => {
    await page.getByRole('button', { name: `Remove ${name}` }).focus()
    await page.keyboard.press('Enter')
    await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).focus()
    await page.keyboard.press('Enter')
    await page.getByText(`${name} is removed.`).waitFor()
  }
  const names = await page.locator('#device-list [data-name]').allInnerTexts()
  await remove(names[0] as string)
  const focused = () => page.evaluate(() => document.activeElement?.getAttribute('aria-label'))
  expect(await focused()).toBe(`Remove ${names[1]}`)
  await remove(names[1] as string)
  expect(await page.evaluate(() => document.activeElement?.id)).toBe('devices-title')
})
