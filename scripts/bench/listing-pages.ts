/** Times the pages of part `listing` in this process and prints them as JSON. */
import { compose } from '#src/compose.ts'
import { loadConfig } from '#src/config.ts'
import { createApp } from '#src/http/app.ts'
import { GATEWAYS } from '#src/integrations/payments/index.ts'
import { median } from './figures.ts'
import type { PageTime } from './listing.ts'
import { NODES, tgIdOf } from './shop.ts'

const TIMES = 15

const { users } = JSON.parse(process.argv[2] as string) as { users: number }
const config = loadConfig(process.env, process.cwd(), GATEWAYS)
const { services } = await compose(config, { init: false })
const app = createApp(services)
const origin = `http://${config.domains.panel}`

async function ask(path: string, init: RequestInit = {}): Promise<Response> {
  const headers = { host: config.domains.panel, cookie, ...init.headers }
  const response = await app(new Request(origin + path, { ...init, headers }), {
    peer: '127.0.0.1',
  })
  if (!response.ok) throw new Error(`${path} was answered with ${response.status}`)
  return response
}

/** The median milliseconds of a page, body included; the first time is not counted. */
async function time(name: string, path: string, plain: boolean): Promise<PageTime> {
  const times: number[] = []
  for (let i = 0; i <= TIMES; i++) {
    const startedAt = performance.now()
    await (await ask(path)).arrayBuffer()
    if (i > 0) times.push(performance.now() - startedAt)
  }
  return { name, ms: median(times), plain }
}

let cookie = ''
const login = JSON.stringify({ username: 'admin', password: config.panelPassword })
const entered = await ask('/admin/api/login', { method: 'POST', body: login })
cookie = entered.headers.get('set-cookie')?.split(';')[0] ?? ''

/** The address of the page that begins behind `skipped` pages. */
async function deepPage(skipped: number): Promise<string> {
  let path = '/admin/api/subscriptions?limit=1000'
  for (let page = 0; page < skipped; page++) {
    const link = (await ask(path)).headers.get('link')
    path = /<([^>]+)>/.exec(link ?? '')?.[1] ?? path
  }
  return path.replace('limit=1000', 'limit=100')
}

const soon = new Date(Date.now() + 7 * 86_400_000).toISOString().slice(0, 19)
const digits = String(tgIdOf(Math.floor(users / 2)))
const filtered: [name: string, query: string][] = [
  ...['active', 'held', 'expired', 'revoked'].map((status): [string, string] => [
    `status=${status}`,
    `status=${status}`,
  ]),
  ['node', `node=${NODES[3]}`],
  ['plan', 'plan=3m'],
  ['node and status', `node=${NODES[3]}&status=expired`],
  ['q, 2 digits', `q=${digits.slice(0, 2)}`],
  ['q, 4 digits', `q=${digits.slice(0, 4)}`],
  ['q, a whole id', `q=${digits}`],
  ['q, all usernames', 'q=user'],
  ['q, every ninth username', 'q=user_1'],
  ['q, few usernames', `q=user_${Math.floor(users / 20)}`],
  ['expires_before', `expires_before=${soon}`],
  ['expires_before, by expiry', `expires_before=${soon}&sort=expires_at&order=asc`],
  ['by expiry', 'sort=expires_at'],
]

const pages: PageTime[] = [
  await time('unfiltered', '/admin/api/subscriptions', true),
  await time('user card', `/admin/api/users/${digits}`, true),
]
for (const [name, query] of filtered) {
  pages.push(await time(name, `/admin/api/subscriptions?${query}`, false))
}
const ofUsers: [name: string, query: string][] = [
  ['no filter', ''],
  ...['active', 'held', 'expired', 'none'].map((status): [string, string] => [
    `status=${status}`,
    `status=${status}`,
  ]),
  ['banned', 'banned=true'],
  ['not banned', 'banned=false'],
  ['q, 2 digits', `q=${digits.slice(0, 2)}`],
  ['q, a whole id', `q=${digits}`],
  ['q, all usernames', 'q=user'],
  ['q, few usernames', `q=user_${Math.floor(users / 20)}`],
  ['by tg_id', 'sort=tg_id'],
  ['1000 rows', 'limit=1000'],
]
for (const [name, query] of ofUsers) {
  pages.push(await time(`users, ${name}`, `/admin/api/users?${query}`, false))
}
pages.push(await time('stats', '/admin/api/stats', false))
pages.push(await time('series of 400 days', '/admin/api/stats/series?days=400', false))
pages.push(
  await time('deep cursor', await deepPage(Math.min(100, Math.floor(users / 1000))), false),
)
services.db.close()
console.log(JSON.stringify(pages))
process.exit(0)
