/** Traffic packs in the panel: beside the plans, and in the payments for them. */
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
  openPanel,
  type PanelBrowser,
  soon,
  toast,
} from '#test/support/browser/panel-browser.ts'

interface Pack {
  code: string
  price: number
  archived: boolean
}

describe('traffic packs', () => {
  let panel: PanelBrowser
  beforeAll(async () => {
    panel = await openPanel({ env: { LOCAL_NODE: 'on', XRAY_BIN: '/nonexistent/xray' } })
  })
  afterAll(() => panel.close())

  const packs = () => panel.admin('/traffic-packs') as Promise<Pack[]>
  const codes = async () => (await packs()).map(({ code }) => code)

  test('are there once a plan has a quota: added, refused at the field, changed, moved, archived, deleted', async () => {
    await panel.admin('/plans', {
      ...{ code: 'q', label: 'With a quota', days: 30, price: 100 },
      ...{ quota_gb: 100, quota_period: 'month' },
    })
    await panel.admin('/traffic-packs', { code: '10gb', label: '10 GB', gb: 10, price: 30 })
    const page = await panel.open({ hash: '#/plans' })
    await heading(page, 'Plans & prices')
    await page.getByRole('heading', { name: 'Traffic packs' }).waitFor()
    expect(await inspect(page, 'packs')).toEqual([])
    await button(page, 'Add a pack').click()
    await field(page, 'Code').fill('no good')
    await field(page, 'Name').fill('50 GB')
    await field(page, 'Traffic').fill('50')
    await field(page, 'Price').fill('99')
    await answer(page, 'Add the pack')
    await dialog(page)
      .getByText(/must be 1 to 32 letters/)
      .waitFor()
    expect(await inspect(page, 'pack-form')).toEqual([])
    await field(page, 'Code').fill('50gb')
    await answer(page, 'Add the pack')
    await toast(page, '50 GB is on sale')
    await button(page, 'Edit 50 GB').click()
    await field(page, 'Price').fill('89')
    await answer(page, 'Save')
    await toast(page, 'Saved')
    await button(page, 'Move 50 GB').press('ArrowUp')
    await soon(codes).toEqual(['50gb', '10gb'])
    await act(page, '50 GB', 'Archive')
    await answer(page, 'Archive')
    await toast(page, '50 GB is archived')
    await soon(async () => (await packs()).find(({ code }) => code === '50gb')).toMatchObject({
      archived: true,
      price: 89,
    })
    await act(page, '50 GB', 'Delete')
    await answer(page, 'Delete')
    await toast(page, '50 GB is deleted')
    await soon(codes).toEqual(['10gb'])
    await close(page)
    expect(panel.faults).toEqual([])
  })

  test('in Russian, and nothing of them without a quota and a pack', async () => {
    const page = await panel.open({ hash: '#/plans', lang: 'ru' })
    await page.getByRole('heading', { name: 'Пакеты трафика' }).waitFor()
    expect(await inspect(page, 'packs-ru')).toEqual([])
    await close(page)
    await panel.admin('/traffic-packs/10gb', undefined, 'DELETE')
    await panel.admin('/plans/q', undefined, 'DELETE')
    const plain = await panel.open({ hash: '#/plans' })
    await plain.locator('.plan-row').first().waitFor()
    await soon(() => plain.getByText('Traffic packs').count()).toBe(0)
    await close(plain)
    expect(panel.faults).toEqual([])
  })
})
