/** `npm run pictures`: makes the README's two pictures anew, from a server of its own with a made-up shop. Needs Chromium. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { openPanel, type Page } from '#test/support/browser/panel-browser.ts'
import { tgIdOf } from '#test/support/browser/panel-seed.ts'
import { PHONE } from '#test/support/browser/public-site.ts'

const FOLDER = join(import.meta.dirname, '..', 'docs', 'images')
const QUALITY = 82
/** One whose subscription has a while to go. */
const CUSTOMER = 11

/** What the window shows now, `scale` dots to a pixel. */
async function keep(page: Page, name: string, scale: number): Promise<void> {
  const debug = await page.context().newCDPSession(page)
  const clip = { x: 0, y: 0, ...(page.viewportSize() as { width: number; height: number }), scale }
  const { data } = await debug.send('Page.captureScreenshot', {
    format: 'webp',
    quality: QUALITY,
    clip,
  })
  const picture = Buffer.from(data, 'base64')
  writeFileSync(join(FOLDER, `${name}.webp`), picture)
  console.log(`docs/images/${name}.webp: ${Math.ceil(picture.length / 1024)} KB`)
}

mkdirSync(FOLDER, { recursive: true })
const panel = await openPanel()
try {
  await panel.admin('/settings/brand', { brand_name: 'Harbour' })
  const overview = await panel.open()
  for (const part of ['.u-over', '.donut li', '.node-list li', '.latest tbody tr']) {
    await overview.locator(part).first().waitFor()
  }
  await keep(overview, 'overview', 1)

  const { token } = (await panel.admin(`/users/${tgIdOf(CUSTOMER)}`)) as { token: string }
  const phone = await panel.browser.newPage({
    viewport: { width: 390, height: 844 },
    locale: 'en-US',
    userAgent: PHONE,
  })
  await phone.goto(`http://${new URL(panel.url).host.replace('panel.', 'sub.')}/sub/${token}`)
  await keep(phone, 'subscription', 2)
} finally {
  await panel.close()
}
