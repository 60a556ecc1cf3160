/** Backup and restore in the panel: progress, what breaks, what comes back. */
import { readFileSync } from 'node:fs'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import {
  answer,
  button,
  close,
  dialog,
  inspect,
  openPanel,
  type Page,
  type PanelBrowser,
  soon,
  visit,
} from '#test/support/panel-browser.ts'
import { PASSWORD } from '#test/support/process.ts'

let panel: PanelBrowser
beforeAll(async () => {
  panel = await openPanel()
})
afterAll(() => panel.close())
afterEach(() => expect(panel.faults.splice(0)).toEqual([]))

/** Sends the chosen file, after the question. */
async function agree(page: Page, name: string): Promise<void> {
  await button(page, 'Restore').click()
  await dialog(page).getByText(`Replace all data by ${name}?`).waitFor()
  await dialog(page)
    .getByLabel(/Type RESTORE/)
    .fill('RESTORE')
  await answer(page, 'Restore')
}

async function restore(page: Page, name: string, buffer: Buffer): Promise<void> {
  const file = { name, mimeType: 'application/gzip', buffer }
  await page.getByLabel('Backup file').setInputFiles(file)
  await agree(page, name)
}

/** Notes in the window what the bar of an upload shows. */
const noteShares = () => {
  const shares: number[] = []
  Object.assign(globalThis, { shares })
  new MutationObserver(() => {
    const value = document.querySelector('progress')?.value
    if (value !== undefined && value !== shares.at(-1)) shares.push(value)
  }).observe(document.body, { childList: true, subtree: true, attributes: true })
}

test('an upload shows how far it is; one that breaks off is told, and the same file is sent again', async () => {
  const page = await panel.open({ hash: '#/backup', width: 390, runtime: 'bun' })
  await page.getByLabel('Backup file').waitFor()
  await page.evaluate(noteShares)
  const shares = () => page.evaluate<number[]>('shares')
  const debug = await page.context().newCDPSession(page)
  const throttle = (uploadThroughput: number) =>
    debug.send('Network.emulateNetworkConditions', {
      offline: false,
      latency: 0,
      downloadThroughput: -1,
      uploadThroughput,
    })
  await debug.send('Network.enable')
  await throttle(10_000)
  await restore(page, 'slow.tar.gz', Buffer.alloc(300_000))
  await soon(async () => (await shares()).some((share) => share > 0 && share < 1)).toBe(true)
  expect(await inspect(page, 'backup-uploading')).toEqual([])
  const { host, port: PORT } = new URL(page.url())
  const listening = panel.area.lines.find(({ text }) => text.endsWith(` port=${PORT}`))
  process.kill(listening?.pid as number, 'SIGKILL')
  await page.getByRole('alert').getByText('No answer came: it may have been done').waitFor()
  await page.getByText('Connection lost').waitFor()
  expect(await page.getByRole('progressbar').count()).toBe(0)
  const broken = await shares()
  expect(broken.at(-1)).toBeLessThan(1)
  await throttle(150_000)
  await panel.area.startServer({ runtime: 'bun', env: { PORT, PANEL_DOMAIN: host } })
  await page.getByText('Connection lost').waitFor({ state: 'detached' })
  await agree(page, 'slow.tar.gz')
  await page.getByRole('alert').getByText('no gzip archive').waitFor()
  const seen = (await shares()).slice(broken.length)
  expect(seen.length).toBeGreaterThanOrEqual(4)
  expect(seen).toEqual(seen.toSorted((a, b) => a - b))
  expect([seen[0], seen.at(-1)]).toEqual([0, 1])
  await close(page)
})

test('a file that is no backup is refused in place; a backup brings back what was, and asks to log in', async () => {
  const page = await panel.open({ hash: '#/backup' })
  await restore(page, 'wrong.tar.gz', Buffer.from('nothing of the kind'))
  await page.getByRole('alert').waitFor()

  await panel.admin('/settings/brand', { brand_name: 'Harbour' })
  const downloads = page.waitForEvent('download')
  await page.getByRole('link', { name: 'Download a backup' }).click()
  const download = await downloads
  const name = download.suggestedFilename()
  expect(name).toMatch(/\.tar\.gz$/)
  await panel.admin('/settings/brand', { brand_name: 'After the backup' })
  await restore(page, name, readFileSync(await download.path()))
  await page.getByText('The backup is in place').waitFor()
  expect(await inspect(page, 'backup-restored')).toEqual([])
  await button(page, 'Log in again').click()
  await page.getByLabel('User name').fill('admin')
  await page.getByLabel('Password', { exact: true }).fill(PASSWORD)
  await button(page, 'Log in').click()
  await visit(page, '/settings/brand')
  await soon(() => page.getByRole('textbox', { name: 'Name', exact: true }).inputValue()).toBe(
    'Harbour',
  )
  await close(page)
})
