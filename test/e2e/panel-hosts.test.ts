/** Hosts of a node in the panel: added, refused, changed, put in order, switched off and deleted on its card. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { CERT_PEM } from '#test/fixtures/lists/samples.ts'
import {
  answer,
  button,
  choose,
  close,
  dialog,
  field,
  inspect,
  missingPairs,
  openPanel,
  type Page,
  type PanelBrowser,
  soon,
  toast,
} from '#test/support/browser/panel-browser.ts'
import { dragByMouse, dragByTouch } from '#test/support/browser/panel-drag.ts'

interface Host {
  id: number
  transport: string
  label: string
  address: string
  port: number | null
  sni: string
  enabled: boolean
  formats: string[]
}

let panel: PanelBrowser
beforeAll(async () => {
  panel = await openPanel({ seed: { users: 3 } })
  const transports = [
    { type: 'ws', port: 8443, path: '/ws', cert: CERT_PEM },
    { type: 'xhttp', port: 443, path: '/xh' },
    { type: 'hysteria2', port: 443, cert: CERT_PEM },
  ]
  const json = JSON.stringify(transports)
  panel.area.write(`update nodes set transports_json = '${json}' where code = 'nl1'`)
})
afterAll(() => panel.close())

const hosts = () => panel.admin('/nodes/nl1/hosts') as Promise<Host[]>
const names = async () => (await hosts()).map(({ label, address }) => label || address)

const line = (page: Page, name: string) => page.locator('.host-row').filter({ hasText: name })

const add = async (page: Page, fields: Record<string, string>) => {
  await button(page, 'Add a host').click()
  for (const [label, value] of Object.entries(fields)) await field(page, label).fill(value)
}

test('a host is added, refused for what it says, and found in lists', async () => {
  const page = await panel.open({ hash: '#/nodes?node=nl1' })
  await page.getByText(/^Other ways to this node/).waitFor()
  await add(page, { Address: 'relay.test/x', 'Name in apps': 'Relay' })
  expect(await field(page, 'Host header').count()).toBe(0)
  await answer(page, 'Add the host')
  await dialog(page).getByRole('alert').getByText('host name or an IP address').waitFor()
  await field(page, 'Address').fill('relay.test')
  await field(page, 'Port').fill('2053')
  await choose(page, 'Looks like', 'Firefox')
  expect(await inspect(page, 'host-form')).toEqual([])
  await answer(page, 'Add the host')
  await toast(page, 'relay.test is in the lists now')
  await line(page, 'Relay').getByText('VLESS with REALITY · relay.test:2053').waitFor()
  expect(await hosts()).toMatchObject([
    { transport: 'reality', label: 'Relay', address: 'relay.test', port: 2053 },
  ])
  await close(page)
})

test('a CDN before WebSocket says what it must do, for the formats that are ticked', async () => {
  const page = await panel.open({
    hash: '#/nodes?node=nl1',
    theme: 'dark',
    runtime: 'bun',
    width: 390,
  })
  await add(page, { Address: 'cdn.test' })
  await choose(page, 'Transport', 'WebSocket')
  await field(page, 'Server name (SNI)').fill('cdn.test')
  await dialog(page).getByText('The CDN must pass WebSocket on').waitFor()
  await field(page, 'Path').fill('no slash')
  await dialog(page).getByRole('checkbox', { name: 'Xray', exact: true }).click()
  await dialog(page).getByRole('checkbox', { name: 'sing-box', exact: true }).click()
  await answer(page, 'Add the host')
  await dialog(page).getByRole('alert').first().waitFor()
  await choose(page, 'Transport', 'Hysteria2')
  expect(await field(page, 'Path').count()).toBe(0)
  await choose(page, 'Transport', 'WebSocket')
  expect(await field(page, 'Path').inputValue()).toBe('')
  await answer(page, 'Add the host')
  await toast(page, 'cdn.test is in the lists now')
  await line(page, 'cdn.test').getByText('WebSocket · singbox, xray').waitFor()
  expect((await hosts())[1]).toMatchObject({
    ...{ transport: 'ws', address: 'cdn.test', sni: 'cdn.test', port: null },
    formats: ['singbox', 'xray'],
  })
  expect(await inspect(page, 'hosts-dark')).toEqual([])
  await close(page)
})

test('hosts are put in order by keys and by the mouse, changed, switched off', async () => {
  await panel.admin('/nodes/nl1/hosts', { transport: 'xhttp', address: '192.0.2.7' })
  const page = await panel.open({ hash: '#/nodes?node=nl1' })
  await button(page, 'Move Relay').press('ArrowDown')
  await soon(names).toEqual(['cdn.test', 'Relay', '192.0.2.7'])
  await dragByMouse(page, 'Move 192.0.2.7', 'Move cdn.test')
  await soon(names).toEqual(['192.0.2.7', 'cdn.test', 'Relay'])
  await button(page, 'Edit Relay').click()
  await field(page, 'Name in apps').fill('')
  await field(page, 'Port').fill('')
  await answer(page, 'Save')
  await toast(page, 'Saved')
  await line(page, 'relay.test').waitFor()
  expect((await hosts())[2]).toMatchObject({ label: '', port: null, address: 'relay.test' })
  await page.getByRole('switch', { name: 'cdn.test: in lists' }).click()
  await soon(async () => (await hosts())[1]?.enabled).toBe(false)
  await close(page)
})

test('on a phone, in Russian: dragged, deleted, and kept where apps would be left with nothing', async () => {
  const own = { transport: 'reality', address: 'a.test' }
  await panel.admin('/nodes/fi1/hosts', own)
  await panel.admin('/nodes/fi1/hosts', { ...own, address: 'b.test', formats: ['links'] })
  const options = { width: 390, lang: 'ru', runtime: 'bun' } as const
  const page = await panel.open({ hash: '#/nodes?node=fi1', ...options })
  await line(page, 'a.test').waitFor()
  expect(await inspect(page, 'hosts-phone-ru')).toEqual([])
  await dragByTouch(page, 'Переместить: b.test', 'Переместить: a.test')
  const order = async () =>
    ((await panel.admin('/nodes/fi1/hosts')) as Host[]).map(({ address }) => address)
  await soon(order).toEqual(['b.test', 'a.test'])
  const remove = async (name: string) => {
    await button(page, `Удалить: ${name}`).click()
    await answer(page, 'Удалить')
  }
  await remove('a.test')
  await toast(page, /^Приложения, которые читают base64, mihomo, singbox, xray, не получат/)
  await remove('b.test')
  await toast(page, 'b.test: удалён')
  await soon(order).toEqual(['a.test'])
  await button(page, 'Изменить: a.test').click()
  expect(await inspect(page, 'host-form-phone-ru')).toEqual([])
  await close(page)
  for (const others of [{ width: 390 }, { runtime: 'bun' }] as const) {
    const dark = await panel.open({
      hash: '#/nodes?node=nl1',
      lang: 'ru',
      theme: 'dark',
      ...others,
    })
    await line(dark, 'relay.test').waitFor()
    expect(await inspect(dark, `hosts-${Object.keys(others)}-dark`)).toEqual([])
    await close(dark)
  }
})

test('the windows met runtimes, widths, themes and languages pair by pair', () => {
  expect(missingPairs()).toEqual([])
  expect(panel.faults).toEqual([])
})
