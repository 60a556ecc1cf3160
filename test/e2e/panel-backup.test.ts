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
} from '#test/support/browser/panel-browser.ts'
import { PASSWORD } from '#test/support/drivers/process.ts'

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

async function choose(page: Page, name: string, buffer: Buffer): Promise<void> {
  const file = { name, mimeType: 'application/gzip', buffer }
  await page.getByLabel('Backup file').setInputFiles(file)
}

async function restore(page: Page, name: string, buffer: Buffer): Promise<void> {
  await choose(page, name, buffer)
  await agree(page, name)
}

async function download(page: Page): Promise<{ name: string; bytes: Buffer }> {
  const downloads = page.waitForEvent('download')
  await page.getByRole('link', { name: 'Download a backup' }).click()
  const found = await downloads
  return { name: found.suggestedFilename(), bytes: readFileSync(await found.path()) }
}

async function logIn(page: Page): Promise<void> {
  await page.getByLabel('User name').fill('admin')
  await page.getByLabel('Password', { exact: true }).fill(PASSWORD)
  await button(page, 'Log in').click()
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
  const { name, bytes } = await download(page)
  expect(name).toMatch(/\.tar\.gz$/)
  await panel.admin('/settings/brand', { brand_name: 'After the backup' })
  await restore(page, name, bytes)
  await page.getByText('The backup is in place').waitFor()
  expect(await inspect(page, 'backup-restored')).toEqual([])
  await button(page, 'Log in again').click()
  await logIn(page)
  await visit(page, '/settings/brand')
  await soon(() => page.getByRole('textbox', { name: 'Name', exact: true }).inputValue()).toBe(
    'Harbour',
  )
  await close(page)
})

test('a passphrase is typed twice; the backup asks for it when it is restored, and it can be taken away', async () => {
  // A restore has ended the session of this file.
  const page = await panel.open({ hash: '#/backup', theme: 'dark', login: false })
  await logIn(page)
  await button(page, 'Set a passphrase').click()
  const passphrase = dialog(page).getByLabel('Passphrase of the backup')
  const again = dialog(page).getByLabel('Once more')
  const encrypt = async (first: string, second: string) => {
    await passphrase.fill(first)
    await again.fill(second)
    await answer(page, 'Encrypt backups')
  }
  await encrypt('staple correct horse', 'staple correct house')
  await dialog(page).getByText('is not the same').waitFor()
  await encrypt('too short', 'too short')
  await dialog(page).getByText('must have at least 12 characters').waitFor()
  expect(await inspect(page, 'backup-passphrase')).toEqual([])
  await encrypt('staple correct horse', 'staple correct horse')
  await page.getByText('only the passphrase opens it').waitFor()
  const { name, bytes } = await download(page)
  expect(name).toMatch(/\.tar\.gz\.enc$/)

  await button(page, 'Switch off').click()
  await answer(page, 'Switch off')
  await button(page, 'Set a passphrase').waitFor()
  const asked = page.getByLabel('Passphrase of the backup')
  expect(await asked.count()).toBe(0)
  await choose(page, 'renamed.tar.gz', bytes)
  await asked.waitFor()
  expect(await button(page, 'Restore').isDisabled()).toBe(true)
  await asked.fill('something else')
  await agree(page, 'renamed.tar.gz')
  await page.getByRole('alert').getByText('wrong passphrase').waitFor()
  expect(await inspect(page, 'backup-encrypted')).toEqual([])
  await asked.fill('staple correct horse')
  await agree(page, 'renamed.tar.gz')
  await page.getByText('Backups are encrypted to this passphrase from now on').waitFor()
  await button(page, 'Log in again').click()
  await logIn(page)
  await page.getByText('only the passphrase opens it').waitFor()
  await close(page)
})
