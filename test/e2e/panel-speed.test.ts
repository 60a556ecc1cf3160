/** How fast the panel is: far away on a slow device, and in a shop with 100,000 users. */
import type { Response } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  close,
  openPanel,
  type Page,
  type PanelBrowser,
  rows,
  soon,
  throttle,
  visit,
} from '#test/support/browser/panel-browser.ts'
import { growShop, tgIdOf } from '#test/support/browser/panel-seed.ts'
import { RUNTIMES } from '#test/support/drivers/process.ts'

/** What is wanted; a busy machine is allowed three times that. */
const DATA_MS = 1500
const SEARCH_MS = 100
const ALLOWED = 3

const USERS = 100_000
const HISTORY = 500
const ROUNDS = 3

let panel: PanelBrowser
beforeAll(async () => {
  panel = await openPanel()
})
afterAll(() => panel.close())

/** Marks when the four numbers of the overview are there. */
const markNumbers = () => {
  new MutationObserver((_changes, observer) => {
    if (document.querySelectorAll('.kpi-value').length < 4) return
    performance.mark('numbers')
    observer.disconnect()
  }).observe(document, { childList: true, subtree: true })
}

test.each(RUNTIMES)(
  'the overview shows its numbers within 1.5 s of slow 4G and a slow processor, on %s',
  async (runtime) => {
    const page = await panel.open({ runtime, width: 390 })
    await page.addInitScript(markNumbers)
    const debug = await throttle(page)
    const times: number[] = []
    while (times.length < ROUNDS) {
      await debug.send('Network.clearBrowserCache')
      await page.reload({ waitUntil: 'commit' })
      await soon(() =>
        page.evaluate(() => performance.getEntriesByName('numbers')[0]?.startTime ?? 0),
      ).toBeGreaterThan(0)
      times.push(
        await page.evaluate(() => performance.getEntriesByName('numbers')[0]?.startTime ?? 0),
      )
    }
    const sorted = times.map(Math.round).sort((a, b) => a - b)
    console.log(
      `${runtime}: numbers of the overview after ${sorted.join(', ')} ms (wanted ${DATA_MS})`,
    )
    expect(sorted[(ROUNDS - 1) / 2]).toBeLessThanOrEqual(ALLOWED * DATA_MS)
    expect(panel.faults).toEqual([])
    await close(page)
  },
)

describe('with 100,000 users', () => {
  beforeAll(() => growShop(panel.area.database, USERS, HISTORY))

  /** What people look for, a few of each kind: one, many, nobody, one by number. */
  const SEARCHES = {
    one: ['kirill_m77777', 'd_volkov50002'],
    many: ['anna', 'lena', 'artem'],
    nobody: ['nobody of that name'],
    number: [String(tgIdOf(54_321))],
  }

  /** How long the service took for what the screen asked last, as the browser measured it. */
  const lastAnswer = (page: Page, text: string) =>
    page.evaluate((q) => {
      const asked = performance
        .getEntriesByType('resource')
        .filter((one) => new URL(one.name).searchParams.get('q') === q)
        .at(-1) as PerformanceResourceTiming | undefined
      return asked ? asked.responseEnd - asked.requestStart : 0
    }, text)

  test.each(RUNTIMES)('a search among them is answered within 100 ms, on %s', async (runtime) => {
    const page = await panel.open({ runtime, hash: '#/users' })
    await soon(() => rows(page).count()).toBe(50)
    const slowest: Record<string, number> = {}
    for (const [kind, texts] of Object.entries(SEARCHES)) {
      for (const text of texts) {
        await page.getByRole('searchbox').fill(text)
        await soon(() => lastAnswer(page, text)).toBeGreaterThan(0)
        const ms = Math.ceil(await lastAnswer(page, text))
        slowest[kind] = Math.max(slowest[kind] ?? 0, ms)
      }
    }
    console.log(
      `${runtime}: the slowest search by what it finds, in ms: ${JSON.stringify(slowest)}`,
    )
    for (const ms of Object.values(slowest)) expect(ms).toBeLessThanOrEqual(ALLOWED * SEARCH_MS)
    expect(panel.faults).toEqual([])
    await close(page)
  })

  const SCREENS = {
    '/': 'Overview',
    '/users': 'Users',
    [`/users?user=${tgIdOf(5)}`]: '@lena',
    '/subscriptions': 'Subscriptions',
    '/payments': 'Payments',
    '/gifts': 'Gift codes',
    '/traffic': 'Traffic',
    '/log': 'Activity log',
    '/log/events': 'Activity log',
  }
  /** Lists of the API that are longer than a screen may load. */
  const LONG = ['users', 'subscriptions', 'payments', 'gift-codes', 'audit', 'events']
  const MOST_ROWS = 100

  /** The longest list in an answer. */
  const longest = (value: unknown): number => {
    if (value === null || typeof value !== 'object') return 0
    return Math.max(
      Array.isArray(value) ? value.length : 0,
      ...Object.values(value).map((one) => longest(one)),
    )
  }

  test('no screen loads a list whole', async () => {
    const page = await panel.open()
    const answers: Promise<{ url: string; count: number }>[] = []
    const read = async (response: Response) => ({
      url: response.url(),
      count: longest(await response.json().catch(() => null)),
    })
    page.on('response', (response) => {
      if (response.url().includes('/admin/api/')) answers.push(read(response))
    })
    for (const [route, title] of Object.entries(SCREENS)) {
      await visit(page, route)
      await page.getByRole('heading', { name: title, exact: true }).waitFor()
      await soon(() => page.locator('.skel').count()).toBe(0)
    }
    const longestOf = async (list: string) => {
      const all = await Promise.all(answers)
      const own = all.filter(({ url }) => new URL(url).pathname === `/admin/api/${list}`)
      return Math.max(...own.map(({ count }) => count))
    }
    // As long as a page of a list: there was more than is shown.
    for (const list of LONG) {
      await soon(async () => [list, await longestOf(list)]).toEqual([list, 50])
    }
    const lists = await Promise.all(answers)
    expect(lists.filter(({ count }) => count > MOST_ROWS)).toEqual([])
    expect(lists.length).toBeGreaterThanOrEqual(Object.keys(SCREENS).length)
    await close(page)
  })
})
