/** Every public page, seen by pairs of circumstances: script, width, theme, language, runtime. */
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { VIEWS } from '#test/support/browser/pairs.ts'
import { launchChromium } from '#test/support/browser/panel-browser.ts'
import {
  findingsOf,
  openSite,
  openWindow,
  type Site,
  tokenOf,
  type View,
} from '#test/support/browser/public-site.ts'
import { RUNTIMES, type Runtime } from '#test/support/drivers/process.ts'

let browser: Browser
const sites = new Map<Runtime, Site>()
beforeAll(async () => {
  browser = await launchChromium()
  for (const runtime of RUNTIMES) sites.set(runtime, await openSite(runtime))
})
afterAll(async () => {
  await browser.close()
  for (const site of sites.values()) await site.close()
})

interface PublicPage {
  name: string
  url(site: Site): string
  /** Words that it must show, by language. */
  words: { en: string; ru: string }
  /** What must be there before it is looked at. */
  ready?: string
  scriptOnly?: true
  /** How it is asked for; GET if absent. */
  method?: 'POST'
  /** What the browser says of it in the console. */
  fault?: string
}

const link =
  (path = '') =>
  (site: Site) =>
    site.link('one') + path
const onSite = (path: string) => (site: Site) => site.site + path

const PAGES: PublicPage[] = [
  { name: 'landing', url: onSite('/'), words: { en: 'How it works', ru: 'Как это устроено' } },
  {
    name: 'subscription',
    url: link(),
    words: { en: 'Subscription active', ru: 'Подписка активна' },
  },
  {
    name: 'subscriptions',
    url: (site) => site.link('many'),
    words: { en: '340 days left', ru: 'ещё 340 дней' },
  },
  {
    name: 'ended',
    url: (site) => site.link('ended'),
    words: { en: 'Subscription ended', ru: 'Подписка закончилась' },
  },
  {
    name: 'paused',
    url: (site) => site.link('paused'),
    words: { en: 'Subscription paused', ru: 'Подписка приостановлена' },
  },
  {
    name: 'none',
    url: (site) => site.link('none'),
    words: { en: 'No active subscription', ru: 'Нет активной подписки' },
  },
  { name: 'bridge', url: link('/open/happ'), words: { en: 'Open Happ', ru: 'Откройте Happ' } },
  { name: 'paid', url: onSite('/pay/done'), words: { en: 'Thank you', ru: 'Спасибо' } },
  { name: 'offer', url: onSite('/offer'), words: { en: 'Public offer', ru: 'Публичная оферта' } },
  { name: 'privacy', url: onSite('/privacy'), words: { en: 'Privacy policy', ru: 'Политика' } },
  {
    name: 'account-ask',
    url: onSite('/cabinet.html'),
    words: { en: 'Your account', ru: 'Личный кабинет' },
  },
  {
    name: 'account',
    url: onSite(`/cabinet.html#${tokenOf('many')}`),
    words: { en: 'Renew or buy', ru: 'Продлить или купить' },
    ready: '#account:not([hidden])',
    scriptOnly: true,
  },
  {
    name: 'not-found',
    url: (site) => `${site.sub}/sub/nobody`,
    words: { en: 'Page not found', ru: 'Страница не найдена' },
  },
  {
    name: 'refused',
    url: onSite('/privacy'),
    method: 'POST',
    words: { en: '405 · method not allowed', ru: '405 · method not allowed' },
    fault:
      'Failed to load resource: the server responded with a status of 405 (Method Not Allowed)',
  },
]

test('the circumstances meet in pairs', () => {
  const keys = ['javaScript', 'width', 'theme', 'lang', 'runtime'] as const
  for (const first of keys) {
    for (const second of keys) {
      const pairs = new Set(VIEWS.map((view) => `${view[first]} ${view[second]}`))
      expect(pairs.size, `${first} ${second}`).toBe(first === second ? 2 : 4)
    }
  }
})

const nameOf = ({ javaScript, width, theme, lang, runtime }: (typeof VIEWS)[number]) =>
  `${width}-${theme}-${lang}-${javaScript ? 'script' : 'plain'}-${runtime}`

async function visit(page: Page, one: PublicPage, site: Site, view: View) {
  const { name, url, ready, words, method } = one
  if (method) await page.route(url(site), (route) => route.continue({ method }), { times: 1 })
  await page.goto(url(site))
  if (ready) await page.waitForSelector(ready)
  expect(await page.innerText('body'), name).toContain(words[view.lang])
}

describe.each(VIEWS)('$width px, $theme, $lang, script: $javaScript, on $runtime', (view) => {
  test('every page is accessible, keeps to its policy and asks nobody else', async () => {
    const site = sites.get(view.runtime) as Site
    const shown = PAGES.filter(({ scriptOnly }) => view.javaScript || !scriptOnly)
    // Two windows at a time, each with every second page.
    await Promise.all(
      [0, 1].map(async (half) => {
        const faults: string[] = []
        const context = await openWindow(browser, view, faults)
        const scripted = view.javaScript
          ? null
          : await openWindow(browser, { ...view, javaScript: true }, [])
        const page = await context.newPage()
        const twin = await scripted?.newPage()
        const own = shown.filter((_, at) => at % 2 === half)
        for (const one of own) {
          await visit(page, one, site, view)
          const found = await findingsOf(page, `public/${one.name}-${nameOf(view)}`, twin)
          expect(found, one.name).toEqual([])
        }
        expect(faults).toEqual(own.flatMap(({ fault }) => fault ?? []))
        await context.close()
        await scripted?.close()
      }),
    )
  })
})
