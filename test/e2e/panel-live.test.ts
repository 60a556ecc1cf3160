/** What the panel shows of this moment: nodes that live, who is online, sales; a real sshd, node program and Xray behind one of them. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  button,
  close,
  dialog,
  heading,
  inspect,
  missingPairs,
  openPanel,
  type Page,
  type PanelBrowser,
  soon,
  visit,
} from '#test/support/browser/panel-browser.ts'
import { createPanelServers, type PanelServers } from '#test/support/browser/panel-servers.ts'

const DAY_MS = 86_400_000

let panel: PanelBrowser
let servers: PanelServers
let riga: Awaited<ReturnType<PanelServers['addManaged']>>
beforeAll(async () => {
  panel = await openPanel({ seed: { users: 60 }, env: { SYNC_INTERVAL_MS: '3600000' } })
  servers = createPanelServers(panel)
})
afterAll(async () => {
  await panel.close()
  await servers.close()
})

const pass = () => panel.admin('/sync', {})
const stamp = (ms = Date.now()) => new Date(ms).toISOString().slice(0, 19)
const row = (page: Page, name: string) => page.getByRole('listitem').filter({ hasText: name })
const faulty = (page: Page, name = 'Nodes with a fault') => page.getByRole('status', { name })

/** What a term of a list of facts says. */
const fact = (page: Page, list: string, term: string) =>
  page.locator(`${list} > div`).filter({ hasText: term }).locator('dd').first()

/** Customers who had traffic just now. */
function goOnline(customers: number): void {
  const ids = panel.area
    .query<{ tg_id: number }>(
      'select distinct tg_id from subscriptions order by tg_id limit ?',
      customers,
    )
    .map(({ tg_id }) => tg_id)
  expect(ids).toHaveLength(customers)
  panel.area.write('update subscriptions set last_online_at = null')
  for (const id of ids) {
    panel.area.write('update subscriptions set last_online_at = ? where tg_id = ?', stamp(), id)
  }
}

/** The streams that a window has opened, and how many are open. */
function watchStreams(page: Page) {
  const seen = { opened: 0, open: 0 }
  const isStream = (url: string) => url.endsWith('/admin/api/live')
  page.on('request', (request) => {
    if (!isStream(request.url())) return
    seen.opened++
    seen.open++
  })
  const ended = (request: { url(): string }) => {
    if (isStream(request.url())) seen.open--
  }
  page.on('requestfinished', ended)
  page.on('requestfailed', ended)
  return seen
}

test('counts, rates and the machine change in a window that nobody touches', async () => {
  await servers.addManaged('Brno', 'brno')
  riga = await servers.addManaged('Riga', 'riga')
  await pass()
  await pass()
  const page = await panel.open({ hash: '#/nodes' })
  await row(page, 'Riga').locator('dl.node-live').waitFor()
  // As the node program tells of this machine.
  const machine = await row(page, 'Riga')
    .getByRole('meter', { name: 'Memory: Riga' })
    .getAttribute('value')
  expect(Number(machine)).toBeGreaterThan(0)
  await row(page, 'Riga').getByText('26.7.28').waitFor()
  await soon(() => fact(page, '.live-all', 'Customers online').textContent()).toBe('0')
  goOnline(7)
  await soon(() => fact(page, '.live-all', 'Customers online').textContent()).toBe('7')
  const spark = JSON.stringify([
    { up: 1024, down: 4096 },
    { up: 2048, down: 1_048_576 },
  ])
  const set =
    'update node_live set online = ?, up_rate = ?, down_rate = ?, spark_json = ? where node = ?'
  panel.area.write(set, 12, 2048, 1_048_576, spark, 'riga')
  await soon(() => fact(page, '.live-all', 'Download').textContent()).toBe('1 MB/s')
  await soon(() => fact(page, '.live-all', 'Upload').textContent()).toBe('2 kB/s')
  expect(await row(page, 'Riga').locator('dl.node-live dd').first().textContent()).toBe('12')
  expect(await row(page, 'Riga').locator('.spark-line').count()).toBe(1)
  expect(await row(page, 'Brno').locator('dl.node-live dd').first().textContent()).toBe('0')
  // Nothing is known of the machines of others.
  expect(await row(page, 'Helsinki').locator('dl.node-live').count()).toBe(0)
  expect(await inspect(page, 'live-nodes')).toEqual([])
  const phone = await panel.open({
    runtime: 'bun',
    width: 390,
    theme: 'dark',
    lang: 'ru',
    hash: '#/nodes',
  })
  await row(phone, 'Riga').locator('dl.node-live').waitFor()
  await soon(() => fact(phone, '.live-all', 'Приём').textContent()).toMatch(/^1 МБ/)
  expect(await inspect(phone, 'live-nodes-phone-ru-dark')).toEqual([])
  await close(phone)
  await close(page)
  expect(panel.faults).toEqual([])
})

test('a node that goes down is said first, and goes when it is back', async () => {
  const page = await panel.open({ runtime: 'bun', theme: 'dark', hash: '#/nodes' })
  await row(page, 'Riga').getByText('Works').waitFor()
  expect(await faulty(page).getByRole('link').count()).toBe(0)
  panel.area.write(
    "update nodes set last_error = 'the proxy core is not running' where code = 'brno'",
  )
  await faulty(page)
    .getByRole('link', { name: /^Needs a look\s*Brno$/ })
    .waitFor()
  await riga.sshd.kill()
  await pass().catch(() => {})
  // That pass has also found the other one well again.
  panel.area.write(
    "update nodes set last_error = 'the proxy core is not running' where code = 'brno'",
  )
  await soon(() => faulty(page).getByRole('link').locator('b').allTextContents()).toEqual([
    'Riga',
    'Brno',
  ])
  await faulty(page)
    .getByRole('link', { name: /^Down\s*Riga\s*since / })
    .waitFor()
  // Its row follows at once, and what was counted before it went is not so now.
  await row(page, 'Riga').getByText('Does not work').waitFor()
  await soon(() => row(page, 'Riga').locator('dl.node-live').count()).toBe(0)
  expect(await inspect(page, 'live-down-dark')).toEqual([])
  await faulty(page).getByRole('link', { name: /Riga/ }).click()
  await dialog(page).getByRole('heading', { name: 'Riga' }).waitFor()
  await page.keyboard.press('Escape')
  await riga.sshd.start()
  // Up is what two checks in a row have found so.
  await pass()
  await pass()
  await soon(() => faulty(page).getByRole('link').count()).toBe(0)
  await row(page, 'Riga').getByText('Works').waitFor()
  await close(page)
  expect(panel.faults).toEqual([])
})

test('a menu stays open while something is said above it', async () => {
  const page = await panel.open({ width: 390, hash: '#/nodes' })
  await row(page, 'Brno').locator('dl.node-live').waitFor()
  await page.evaluate(() => scrollTo(0, document.body.scrollHeight))
  await button(page, 'Actions for Brno').click()
  const move = page.getByRole('menuitem', { name: 'Move everyone to another node' })
  await move.waitFor()
  const scrolled = () => page.evaluate(() => scrollY)
  const before = await scrolled()
  expect(before).toBeGreaterThan(0)
  panel.area.write(
    "update nodes set last_error = 'the proxy core is not running' where code = 'riga'",
  )
  await faulty(page).getByRole('link').waitFor()
  // The browser keeps what is seen in its place.
  await soon(scrolled).toBeGreaterThan(before)
  expect(await move.isVisible()).toBe(true)
  await page.evaluate(() => scrollBy(0, -50))
  await soon(() => move.isVisible()).toBe(false)
  panel.area.write("update nodes set last_error = null where code = 'riga'")
  await close(page)
  expect(panel.faults).toEqual([])
})

test('the card of a node has its checks of 90 days, told by day', async () => {
  const day = (ago: number) => stamp(Date.now() - ago * DAY_MS).slice(0, 10)
  panel.area.write('delete from node_uptime')
  for (const [ago, ok, bad] of [
    [89, 100, 0],
    [2, 758, 2],
    [1, 50, 50],
  ]) {
    const put = 'insert into node_uptime (node, day, ok, bad) values (?, ?, ?, ?)'
    panel.area.write(put, 'riga', day(ago as number), ok, bad)
  }
  const page = await panel.open({ width: 390, hash: '#/nodes?node=riga' })
  const strip = page.getByRole('region', { name: 'Uptime of 90 days' })
  await strip.getByText('94.5% of 960 checks').waitFor()
  expect(await strip.locator('rect').count()).toBe(90)
  const tones = await strip
    .locator('rect')
    .evaluateAll((all) => all.map((one) => one.getAttribute('class')))
  expect([tones[0], tones[87], tones[88], tones[89]]).toEqual(['ok', 'warn', 'bad', null])
  expect(await strip.locator('tbody td').allTextContents()).toEqual([
    '100% of 100 checks',
    '99.7% of 760 checks',
    '50% of 100 checks',
  ])
  expect(await inspect(page, 'live-uptime-phone')).toEqual([])
  await visit(page, '/nodes?node=brno')
  await strip.getByText('No checks yet').waitFor()
  await close(page)
  expect(panel.faults).toEqual([])
})

test('a window has one stream, while a screen shows something of it', async () => {
  const page = await panel.open({ runtime: 'bun', lang: 'ru', hash: '#/users' })
  await heading(page, 'Пользователи')
  const streams = watchStreams(page)
  await visit(page, '/nodes')
  await row(page, 'Riga').locator('dl.node-live').waitFor()
  await visit(page, '/')
  await page.getByText(/^Сейчас онлайн: /).waitFor()
  expect(streams).toEqual({ opened: 1, open: 1 })
  await visit(page, '/users')
  await heading(page, 'Пользователи')
  await soon(() => streams.open).toBe(0)
  await visit(page, '/nodes')
  await row(page, 'Riga').locator('dl.node-live').waitFor()
  expect(streams).toEqual({ opened: 2, open: 1 })
  await close(page)
  expect(panel.faults).toEqual([])
})

test('the overview tells of a sale, and of who is online', async () => {
  goOnline(3)
  const page = await panel.open()
  await page.getByText('3 customers online now').waitFor()
  const revenue = page.locator('.kpi', { hasText: 'Revenue' }).locator('.kpi-value')
  const before = await revenue.textContent()
  expect(await inspect(page, 'live-overview')).toEqual([])
  panel.area.write("update payments set status = 'paid', paid_at = ? where id = 'pay-1'", stamp())
  await soon(() => revenue.textContent()).not.toBe(before)
  goOnline(1)
  await soon(() => page.getByText('1 customer online now').count()).toBe(1)
  await close(page)
  expect(panel.faults).toEqual([])
})

test('where there is no stream it is read, until there is one again', async () => {
  goOnline(2)
  const page = await panel.open({ theme: 'dark', lang: 'ru', hash: '#/users' })
  await heading(page, 'Пользователи')
  const refused = { status: 503, json: { error: 'too busy, try again' } }
  await page.route('**/admin/api/live', (route) => route.fulfill(refused))
  await visit(page, '/nodes')
  await soon(() => fact(page, '.live-all', 'Покупателей онлайн').textContent()).toBe('2')
  goOnline(4)
  await soon(() => fact(page, '.live-all', 'Покупателей онлайн').textContent()).toBe('4')
  await page.unroute('**/admin/api/live')
  await page.waitForRequest('**/admin/api/live', { timeout: 15_000 })
  // From here on it tells of itself: there is nothing to read.
  await page.route('**/admin/api/nodes/live', (route) => route.fulfill(refused))
  goOnline(5)
  await soon(() => fact(page, '.live-all', 'Покупателей онлайн').textContent()).toBe('5')
  await close(page)
  expect(panel.faults).toEqual([])
})

test('the windows met runtimes, widths, themes and languages pair by pair', () => {
  expect(missingPairs()).toEqual([])
})
