/** `npm run pictures`: makes the README's pictures anew, from a server of its own with a made-up shop. Needs Chromium. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { openPanel, type Page, type PanelBrowser } from '#test/support/browser/panel-browser.ts'
import { tgIdOf, uuidOf } from '#test/support/browser/panel-seed.ts'
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

const GB = 1024 ** 3
const MB = 1024 ** 2

/** All servers for 100 GB a month, of which the customer has used some. */
async function sellAllServers(panel: PanelBrowser): Promise<void> {
  const nodes = (await panel.admin('/nodes')) as { code: string }[]
  const codes = nodes.map(({ code }) => code).filter((code) => code !== 'de1')
  await panel.admin('/node-groups', { code: 'all', label: 'All servers', nodes: codes })
  await panel.admin('/plans', {
    ...{ code: 'all', label: 'All servers, a month', days: 30, price: 399 },
    ...{ node_group: 'all', quota_gb: 100, quota_period: 'rolling', hwid_limit: 5 },
  })
  const until = new Date(Date.now() + 12 * 86_400_000).toISOString().slice(0, 19)
  panel.area.write(
    `update subscriptions set plan = 'all', node_group = 'all', quota_bytes = ?, quota_period = 'rolling', used_bytes = ?,
       quota_anchor = created_at, resets_at = ?, held_at = null, expires_at = ? where uuid = ?`,
    ...[100 * GB, 64 * GB, until, until, uuidOf(CUSTOMER)],
  )
}

/** The numbers of passes over servers that are not there. */
function fillLive(panel: PanelBrowser): void {
  const at = new Date().toISOString().slice(0, 19)
  panel.area.write(
    "update nodes set kind = 'managed', core_version = '26.7.28', program = 2, last_seen_at = ? where code <> 'de1'",
    at,
  )
  panel.area.write('update subscriptions set last_online_at = ? where active = 1', at)
  const codes = panel.area.query<{ code: string }>("select code from nodes where code <> 'de1'")
  for (const [n, { code }] of codes.entries()) {
    const rate = (turn: number) => Math.round((3 + n + Math.sin(turn + n) * 1.5) * MB)
    const spark = Array.from({ length: 10 }, (_, i) => ({ up: rate(i) / 12, down: rate(i) }))
    const host = {
      ...{ memTotalMb: 1000, memUsedMb: 310 + n * 90, uptimeS: 86_400 * 40, cpuCount: 2 },
      ...{ load1: 0.2 + n * 0.15, rxRate: rate(9), txRate: rate(9) },
    }
    panel.area.write(
      `insert into node_live (node, at, online, up_rate, down_rate, up_bytes, down_bytes, host_json, core_uptime_s, spark_json)
       values (?, ?, ?, ?, ?, 0, 0, ?, 864000, ?)`,
      ...[code, at, 34 + n * 17, Math.round(rate(9) / 12), rate(9)],
      ...[
        JSON.stringify(host),
        JSON.stringify(spark.map(({ up, down }) => ({ up: Math.round(up), down }))),
      ],
    )
  }
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

  await sellAllServers(panel)
  fillLive(panel)
  const nodes = await panel.open({ hash: '#/nodes' })
  await nodes.locator('dl.node-live').first().waitFor()
  await keep(nodes, 'nodes', 1)
  const customer = await panel.open({ hash: `#/users?user=${tgIdOf(CUSTOMER)}` })
  await customer.getByRole('dialog').getByText('All servers').first().waitFor()
  await keep(customer, 'customer', 1)

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
