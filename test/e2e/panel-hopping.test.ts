/** The range of ports of Hysteria2 in the card of a node. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  button,
  close,
  inspect,
  openPanel,
  type PanelBrowser,
  soon,
} from '#test/support/browser/panel-browser.ts'

interface Node {
  code: string
  hysteria_hop?: string
}

let panel: PanelBrowser
beforeAll(async () => {
  panel = await openPanel({ seed: { users: 3 }, env: { SYNC_INTERVAL_MS: '3600000' } })
})
afterAll(() => panel.close())

const nodeOf = async (code: string) =>
  ((await panel.admin('/nodes')) as Node[]).find((node) => node.code === code)

test('a range is given, refused where it is none, and taken away; a node without Hysteria2 has no field', async () => {
  const guide = { label: 'Tartu', address: '127.0.0.1', include_hysteria2: true }
  await panel.admin('/nodes/provision-guide', guide)
  const page = await panel.open({ hash: '#/nodes' })
  await page.getByRole('button', { name: /^Tartu/ }).click()
  const range = page.getByLabel('Port range of Hysteria2 (UDP)')
  const save = async (text: string) => {
    await range.fill(text)
    await button(page, 'Save').click()
  }
  await save('30000-20000')
  await page.getByText('must be a first and a last port').waitFor()
  await save('20000-30000')
  const hops = { hysteria_hop: '20000-30000', hysteria_hopping: false }
  await soon(() => nodeOf('tartu')).toMatchObject(hops)
  await page.getByText(/^Lists have it as soon as the server says/).waitFor()
  expect(await inspect(page, 'node-hopping')).toEqual([])
  await save('')
  await soon(() => nodeOf('tartu')).not.toHaveProperty('hysteria_hop')
  await page.getByText(/^Apps hop among these ports/).waitFor()
  await page.keyboard.press('Escape')
  await page.getByRole('button', { name: /^Amsterdam/ }).click()
  await page.getByLabel('Public key', { exact: true }).waitFor()
  expect(await range.count()).toBe(0)
  await close(page)
  expect(panel.faults).toEqual([])
})
