/** What the shop sells, where it runs and what happened: plans, nodes, traffic and the logs in the panel. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  act,
  answer,
  button,
  close,
  dialog,
  field,
  heading,
  inspect,
  missingPairs,
  openPanel,
  type Page,
  type PanelBrowser,
  soon,
  toast,
  visit,
} from '#test/support/browser/panel-browser.ts'
import { dragByMouse, dragByTouch } from '#test/support/browser/panel-drag.ts'
import { freePort } from '#test/support/drivers/process.ts'

const KEY = 'jNXHt1yRo0vDuchQlIP6Z0ZvjT3KtzVI-T4E7RoLJS0'

interface Plan {
  code: string
  label: string
  price: number
  archived: boolean
}

interface Node {
  code: string
  label: string
  port: number
  enabled: boolean
  sync_blocked: boolean
}

/** Answers with a status that can be changed, and keeps the ids of the events that came. */
async function startReceiver() {
  const receiver = { status: 200, ids: [] as unknown[], url: '', close: () => server.close() }
  const server = createServer((request, response) => {
    receiver.ids.push(request.headers['webhook-id'])
    request.resume()
    response.writeHead(receiver.status).end()
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  receiver.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
  return receiver
}

/** Every screen of the shop in Russian. */
async function lookAround(page: Page, name: string): Promise<void> {
  for (const [route, title] of [
    ['nodes', 'Серверы'],
    ['plans', 'Тарифы и цены'],
    ['traffic', 'Трафик'],
    ['log', 'Журнал'],
  ] as const) {
    await visit(page, `/${route}`)
    await heading(page, title)
    await soon(() => page.locator('.skel').count()).toBe(0)
    expect(await inspect(page, `${route}-${name}`)).toEqual([])
  }
}

describe('the shop', () => {
  let panel: PanelBrowser
  beforeAll(async () => {
    // The node of this machine without a core: its clients are kept all the same, and nothing listens.
    const env = { LOCAL_NODE: 'on', XRAY_BIN: '/nonexistent/xray', SYNC_INTERVAL_MS: '3600000' }
    panel = await openPanel({ env })
  })
  afterAll(() => panel.close())

  const plans = () => panel.admin('/plans') as Promise<Plan[]>
  const onSale = async () => (await plans()).filter((plan) => !plan.archived)
  const nodes = () => panel.admin('/nodes') as Promise<Node[]>
  const nodeOf = async (code: string) => (await nodes()).find((node) => node.code === code)

  test('a plan is added, a refusal stands at its field, it is changed and moved by keyboard', async () => {
    const page = await panel.open({ hash: '#/plans' })
    await heading(page, 'Plans & prices')
    await page.locator('.plan-row').first().waitFor()
    expect(await inspect(page, 'plans')).toEqual([])
    await button(page, 'Add a plan').click()
    await field(page, 'Code').fill('no good')
    await field(page, 'Name').fill('Fortnight')
    await field(page, 'Length').fill('14')
    await field(page, 'Price').fill('99')
    await answer(page, 'Add the plan')
    await dialog(page)
      .getByText(/must be 1 to 32 letters/)
      .waitFor()
    expect(await field(page, 'Name').inputValue()).toBe('Fortnight')
    expect(await inspect(page, 'plan-form')).toEqual([])
    await field(page, 'Code').fill('d14')
    await answer(page, 'Add the plan')
    await toast(page, 'Fortnight is on sale')
    await button(page, 'Edit Fortnight').click()
    await field(page, 'Price').fill('89')
    await field(page, 'Price in Telegram Stars').fill('60')
    await answer(page, 'Save')
    await toast(page, 'Saved')
    const sent: string[] = []
    page.on('request', (request) => {
      if (request.method() !== 'GET') sent.push(new URL(request.url()).pathname)
    })
    await button(page, 'Move Fortnight').press('ArrowUp')
    const moved = { code: 'd14', price: 89, price_stars: 60 }
    await soon(async () => (await onSale()).at(-2)).toMatchObject(moved)
    const others = (await onSale()).map(({ label }) => label)
    await dragByMouse(page, 'Move Fortnight', `Move ${others[0]}`)
    await soon(async () => (await onSale())[0]).toMatchObject(moved)
    // All that a drag passes is one change.
    await soon(async () => sent).toEqual(['/admin/api/plans/reorder', '/admin/api/plans/reorder'])
    await close(page)
    expect(panel.faults).toEqual([])
  })

  test('a plan is archived, put on sale again and deleted; one that is in use is archived instead', async () => {
    await panel.admin('/plans', { code: 'trial', label: 'Trial', days: 3, price: 10 })
    const page = await panel.open({ hash: '#/plans', width: 390 })
    await act(page, 'Trial', 'Archive')
    await answer(page, 'Archive')
    await toast(page, 'Trial is archived')
    expect((await onSale()).map(({ code }) => code)).not.toContain('trial')
    await page.getByRole('heading', { name: 'Archived' }).waitFor()
    await act(page, 'Trial', 'Put on sale again')
    await toast(page, 'Trial is on sale again')
    const before = (await onSale()).map(({ code, label }) => ({ code, label }))
    expect(before.at(-1)?.code).toBe('trial')
    await dragByTouch(page, `Move ${before[0]?.label}`, 'Move Trial')
    await soon(async () => (await onSale()).map(({ code }) => code)).toEqual(
      [...before.slice(1), before[0]].map((plan) => plan?.code),
    )
    await act(page, 'Trial', 'Delete')
    await answer(page, 'Delete')
    await toast(page, 'Trial is deleted')
    expect((await plans()).map(({ code }) => code)).not.toContain('trial')
    const used = (await onSale())[0] as Plan
    await act(page, used.label, 'Delete')
    await answer(page, 'Delete')
    await toast(page, `${used.label} is archived`)
    expect((await plans()).find(({ code }) => code === used.code)?.archived).toBe(true)
    await close(page)
    expect(panel.faults).toEqual([])
  })

  test('nodes are moved by keyboard, switched off and on, renamed; one in use is not deleted', async () => {
    const page = await panel.open({ hash: '#/nodes', theme: 'dark' })
    await button(page, 'Move Istanbul').press('ArrowUp')
    const order = async () => (await nodes()).map(({ code }) => code).join(' ')
    await soon(order).toMatch(/nl1 tr1 fi1$/)
    await dragByMouse(page, 'Move Amsterdam', 'Move Helsinki')
    await soon(order).toMatch(/tr1 fi1 nl1$/)
    expect(await inspect(page, 'nodes-dark')).toEqual([])
    const taken = page.getByRole('switch', { name: /^Helsinki/ })
    await taken.click()
    await answer(page, 'Cancel')
    expect((await nodeOf('fi1'))?.enabled).toBe(true)
    await taken.click()
    await answer(page, 'Switch off')
    await toast(page, 'Helsinki is off')
    expect((await nodeOf('fi1'))?.enabled).toBe(false)
    await soon(() => taken.isChecked()).toBe(false)
    await taken.click()
    await toast(page, 'Helsinki is on')
    expect((await nodeOf('fi1'))?.enabled).toBe(true)
    await act(page, 'Helsinki', 'Delete')
    await answer(page, 'Delete')
    await toast(page, 'node has active subscriptions')
    expect(await nodeOf('fi1')).toBeDefined()
    await page.getByRole('button', { name: /^Amsterdam/ }).click()
    await field(page, 'Name').fill('Rotterdam')
    await answer(page, 'Save')
    await toast(page, 'Saved')
    expect((await nodeOf('nl1'))?.label).toBe('Rotterdam')
    expect(await inspect(page, 'node-card')).toEqual([])
    await close(page)
    expect(panel.faults).toEqual([])
  })

  test('an external node is added, its port is checked, it is deleted', async () => {
    const page = await panel.open({ hash: '#/nodes' })
    await page.getByRole('link', { name: 'Add a node', exact: true }).click()
    await button(page, 'Add an external node instead').click()
    await field(page, 'Code').fill('no good')
    await field(page, 'Name').fill('Prague')
    await field(page, 'Address').fill('127.0.0.1')
    await field(page, 'Port').fill(new URL(panel.server.url).port)
    await field(page, 'Server name (SNI)').fill('dl.google.com')
    await field(page, 'Public key').fill(KEY)
    await field(page, 'Short id').fill('ab12')
    await answer(page, 'Add the node')
    await dialog(page)
      .getByText(/must be 1 to 32 letters/)
      .waitFor()
    expect(await field(page, 'Public key').inputValue()).toBe(KEY)
    expect(await inspect(page, 'node-form')).toEqual([])
    await field(page, 'Code').fill('cz1')
    await answer(page, 'Add the node')
    await toast(page, 'Prague is added')
    await act(page, 'Prague', 'Check the port')
    await toast(page, 'Prague: the port answers')
    const port = await freePort()
    await page.getByRole('button', { name: /^Prague/ }).click()
    await field(page, 'Port').fill(String(port))
    await answer(page, 'Save')
    await toast(page, 'Saved')
    expect((await nodeOf('cz1'))?.port).toBe(port)
    await page.keyboard.press('Escape')
    await act(page, 'Prague', 'Check the port')
    await toast(page, 'Prague: the port does not answer')
    await act(page, 'Prague', 'Delete')
    await answer(page, 'Delete')
    await toast(page, 'Prague is deleted')
    expect(await nodeOf('cz1')).toBeUndefined()
    await close(page)
    expect(panel.faults).toEqual([])
  })

  test('the machine’s health is shown; a sync that would remove too many stops until it is forced', async () => {
    const move = (from: string, to: string) =>
      panel.area.write('update subscriptions set node = ? where node = ?', to, from)
    const page = await panel.open({ hash: '#/nodes?node=de1' })
    await dialog(page).getByText('no proxy core is installed').waitFor()
    await dialog(page).getByText('Memory').waitFor()
    await dialog(page).getByText('None in the last 30 days.').waitFor()
    const day = new Date().toISOString().slice(0, 10)
    const sample = "insert into traffic_samples (node, day, up, down) values ('de1', ?, 1024, ?)"
    panel.area.write(sample, day, 3 * 1024 ** 3)
    await page.reload()
    await dialog(page).getByText('3 GB in the last 30 days').waitFor()
    await dialog(page).locator('.time-chart .uplot').waitFor()
    expect(await dialog(page).locator('.time-chart tbody tr').count()).toBe(30)
    expect(await inspect(page, 'node-card-traffic')).toEqual([])
    await page.keyboard.press('Escape')
    move('nl1', 'de1')
    await button(page, 'Sync now').click()
    await toast(page, 'de1: no proxy core is installed: run `npm run cores`')
    // Who is on another node by now is no loss that the brake stops.
    const heldAt = '2000-01-01T00:00:00'
    const hold = 'update subscriptions set held_at = ? where node = ? and held_at is null'
    panel.area.write(hold, heldAt, 'de1')
    await button(page, 'Sync now').click()
    await toast(page, 'de1: removals held back')
    await page.getByText('Nothing is removed from de1').waitFor()
    await page.getByText('Sync stopped', { exact: true }).waitFor()
    expect((await nodeOf('de1'))?.sync_blocked).toBe(true)
    expect(await inspect(page, 'nodes-blocked')).toEqual([])
    await button(page, 'Remove them anyway').click()
    await answer(page, 'Remove them anyway')
    await page.getByText('Nothing is removed from de1').waitFor({ state: 'detached' })
    expect((await nodeOf('de1'))?.sync_blocked).toBe(false)
    panel.area.write('update subscriptions set held_at = null where held_at = ?', heldAt)
    move('de1', 'nl1')
    // Told where it is seen first, and where servers are added that get their cores from here.
    await visit(page, '/')
    await page.getByText('Local has no proxy core: run “npm run cores”').waitFor()
    await visit(page, '/nodes/add')
    await page.getByText('The panel has no proxy cores yet').waitFor()
    await visit(page, '/nodes')
    const own = page.getByRole('switch', { name: 'Local: sold' })
    expect(await own.isDisabled()).toBe(true)
    await button(page, 'Actions for Local').click()
    await page.getByRole('menuitem', { name: 'Check the port' }).waitFor()
    expect(await page.getByRole('menuitem', { name: 'Delete' }).count()).toBe(0)
    await page.keyboard.press('Escape')
    // The letters of a shortcut lie where they lie, whatever the alphabet.
    await page.evaluate(() => {
      const keys = { KeyG: 'п', KeyU: 'г' }
      for (const [code, key] of Object.entries(keys)) {
        dispatchEvent(new KeyboardEvent('keydown', { code, key }))
      }
    })
    await heading(page, 'Users')
    await close(page)
    expect(panel.faults).toEqual([])
  })

  test('traffic comes a page at a time, with the sum of all', async () => {
    const page = await panel.open({ hash: '#/plans', theme: 'dark' })
    await heading(page, 'Plans & prices')
    const asked: URL[] = []
    page.on('request', (request) => asked.push(new URL(request.url())))
    await visit(page, '/traffic')
    const list = page.getByRole('region', { name: 'Subscriptions with the most traffic' })
    const shown = list.locator('tbody tr')
    await soon(() => shown.count()).toBe(50)
    // All but the first of the seed have some.
    await list.getByText('119 in all').waitFor()
    await page.getByText('in all subscriptions').waitFor()
    expect(await inspect(page, 'traffic-dark')).toEqual([])
    const first = await shown.first().textContent()
    await list.getByRole('button', { name: 'Next' }).click()
    await soon(() => shown.first().textContent()).not.toBe(first)
    await list.getByRole('button', { name: 'Next' }).click()
    await soon(() => shown.count()).toBe(19)
    await list.getByRole('button', { name: 'Previous' }).click()
    await soon(() => shown.count()).toBe(50)
    await list.getByRole('button', { name: 'Previous' }).click()
    await soon(() => shown.first().textContent()).toBe(first)
    const limits = asked
      .filter(({ pathname }) => pathname === '/admin/api/traffic')
      .map(({ searchParams }) => searchParams.get('limit'))
    expect(new Set(limits)).toEqual(new Set(['50']))
    await close(page)
    expect(panel.faults).toEqual([])
  })

  test('the API reference shows the fields of what it names', async () => {
    const page = await panel.open({ hash: '#/api' })
    await page.getByRole('searchbox').fill('plans/{code}')
    const operation = page.locator('.api-op').filter({ hasText: 'PATCH' })
    // The search waits for the end of typing.
    await soon(() => operation.count()).toBe(1)
    await operation.locator('summary').first().click()
    await operation.getByText('integer 0…3650').waitFor()
    await operation.locator('summary', { hasText: 'AdminPlan' }).click()
    const fields = operation.locator('.api-shape code')
    await soon(() => fields.allTextContents()).toEqual([
      'code',
      'label',
      'days',
      'price',
      'currency',
      'quota_gb',
      'quota_period',
      'price_stars',
      'sort_order',
      'archived',
      'node_group',
      'hwid_limit',
    ])
    expect(await inspect(page, 'api-fields')).toEqual([])
    await close(page)
    expect(panel.faults).toEqual([])
  })

  test('an event that was not taken is sent again, with its id', async () => {
    const receiver = await startReceiver()
    receiver.status = 500
    await panel.admin('/settings/webhook', { url: receiver.url })
    const more = { public_key: KEY, short_id: 'ab12', sni: 'dl.google.com' }
    await panel.admin('/nodes', { code: 'se1', label: 'Oslo', address: 'se1.example.com', ...more })
    await soon(() => receiver.ids.length).toBe(1)
    const page = await panel.open({ hash: '#/log/events' })
    const row = page.locator('tbody tr').filter({ hasText: receiver.ids[0] as string })
    await row.getByText('Failed').waitFor()
    await row.getByText('answered 500').waitFor()
    expect(await inspect(page, 'events')).toEqual([])
    receiver.status = 200
    await row.getByRole('button', { name: /^Send .* again$/ }).click()
    await answer(page, 'Send again')
    await row.getByText('Delivered').waitFor()
    expect(receiver.ids).toEqual([receiver.ids[0], receiver.ids[0]])
    receiver.close()
    await visit(page, '/log')
    await page.getByLabel('Action').selectOption('event.resend')
    await soon(() => page.locator('tbody tr').first().textContent()).toContain('sent again')
    expect(await inspect(page, 'log')).toEqual([])
    await close(page)
    expect(panel.faults).toEqual([])
  })

  test('everything is there in Russian', async () => {
    const page = await panel.open({ lang: 'ru' })
    await lookAround(page, 'ru')
    await close(page)
    expect(panel.faults).toEqual([])
  })
})

describe('the shop on bun', () => {
  let panel: PanelBrowser
  beforeAll(async () => {
    panel = await openPanel({ runtime: 'bun', seed: { users: 12 } })
  })
  afterAll(() => panel.close())

  test('a plan is added and archived, nodes are synced, traffic and the log are shown', async () => {
    const page = await panel.open({ hash: '#/plans' })
    await button(page, 'Add a plan').click()
    await field(page, 'Code').fill('d14')
    await field(page, 'Name').fill('Fortnight')
    await field(page, 'Price').fill('99')
    await answer(page, 'Add the plan')
    await toast(page, 'Fortnight is on sale')
    await act(page, 'Fortnight', 'Archive')
    await answer(page, 'Archive')
    await toast(page, 'Fortnight is archived')
    await visit(page, '/nodes')
    await button(page, 'Sync now').click()
    await toast(page, 'All nodes agree with the subscriptions: 0 added, 0 removed.')
    await visit(page, '/traffic')
    await page.locator('.time-chart canvas').waitFor()
    await page.locator('tbody tr').first().waitFor()
    expect(await inspect(page, 'traffic')).toEqual([])
    await visit(page, '/log')
    await page.getByLabel('Action').selectOption('plan.create')
    await soon(() => page.locator('tbody tr').first().textContent()).toContain('Plan added')
    await page.getByRole('link', { name: 'Outbound events' }).click()
    await page.getByText('No events yet').waitFor()
    await close(page)
    expect(panel.faults).toEqual([])
  })

  test('everything is there on a phone, in Russian and in the dark', async () => {
    const page = await panel.open({ width: 390, theme: 'dark', lang: 'ru' })
    await lookAround(page, 'phone-ru-dark')
    await close(page)
    expect(panel.faults).toEqual([])
  })
})

test('the windows met runtimes, widths, themes and languages pair by pair', () => {
  expect(missingPairs()).toEqual([])
})
