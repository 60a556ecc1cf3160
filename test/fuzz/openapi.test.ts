/** Every route under made-up requests: no fault, and no answer that the description of the API does not have. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { GATEWAY_IDS } from '#src/integrations/payments/index.ts'
import { fingerprintOf } from '#src/lib/host-key.ts'
import { formatTimestamp } from '#src/lib/time.ts'
import { type Area, PASSWORD, PLAIN, RUNTIMES, type Server } from '#test/support/drivers/process.ts'
import { useAreas } from '#test/support/drivers/torture.ts'
import { APIS_NOWHERE, NOWHERE } from '#test/support/fakes/nowhere.ts'
import { runSchemathesis } from './schemathesis.ts'

const area = useAreas()

/** These would end the session of the run, put other data in place, or have an answer without an end. */
const LEFT_OUT = [
  'post_logout',
  'post_password',
  'post_backup_restore',
  'delete_sessions',
  'delete_sessions_session_id',
  'delete_admins_admin_id',
  'get_live',
]

/** Where nobody listens, as an address that a setting takes, and that is refused when it is sent to. */
const REFUSED = 'https://localhost:9'

const ENVIRONMENT = {
  ...PLAIN,
  CORES_DIR: 'cores',
  LOG_LEVEL: 'info',
  ...APIS_NOWHERE,
  PROVIDER_B_API_URL: NOWHERE,
  OUTBOUND_DENY_PRIVATE: 'on',
  WEBHOOK_URL: REFUSED,
  PAYMENTS_ENABLED: 'true',
  PROVIDER_A_SHOP_ID: '100500',
  PROVIDER_A_SECRET_KEY: 'secret',
  PROVIDER_A_ENABLED: 'true',
  PROVIDER_B_PRESET: 'platega',
  PROVIDER_B_MERCHANT_ID: 'merchant',
  PROVIDER_B_SECRET: 'secret',
  PROVIDER_B_ENABLED: 'true',
  CRYPTOBOT_TOKEN: '777:token-of-the-app',
  CRYPTOBOT_ENABLED: 'true',
}

const GROUP = 'group-1'
/** A file of rules. */
const RULES = 'geoip-ru'

/** Of the catalogue, and of every made-up one. */
const APPS = ['happ']

const HOST_KEY = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIDTC55uxBOGQeuSKIBl8ur1WHJyklQbO+Y1dWN6A78pG'

const numbers = (count: number) => Array.from({ length: count }, (_, i) => i + 1)

const assetOf = (html: string) => /assets\/([\w.-]+\.js)/.exec(html)?.[1] ?? ''

/** A pay link of every user for every plan on every node, some of them in review; money without a payment; events. */
function seedPayments(a: Area) {
  const at = '2026-01-01T00:00:00'
  const order = 'tg_id, node, plan, amount, days'
  const link = 'provider, shop_id, external_id, pay_url, pay_url_expires_at'
  a.write(
    `insert into payments (id, ${order}, ${link}, currency, source, created_at)
     select lower(hex(randomblob(16))), tg_id, nodes.code, plans.code, price, days,
       'provider_a', '100500', lower(hex(randomblob(16))), ?, '9999-12-31T23:59:59', 'RUB', 'site', ?
     from users, nodes, plans where tg_id <= 4`,
    `${REFUSED}/pay`,
    at,
  )
  a.write("update payments set review_reason = 'paid with another amount' where seq % 4 = 0")
  const orphan = 'provider, external_id, amount, currency, found_at'
  const event = 'id, event, data, status, created_at'
  for (const n of numbers(40)) {
    const money = ['provider_a', `orphan-${n}`, '10.00', 'RUB', at]
    a.write(`insert into orphan_payments (${orphan}) values (?, ?, ?, ?, ?)`, ...money)
    // Of today: old ones are cleaned up.
    const sent = [`event-${n}`, 'user.created', '{}', 'done', formatTimestamp(new Date())]
    a.write(`insert into events (${event}) values (?, ?, ?, ?, ?)`, ...sent)
  }
}

/** Something of every kind, so that requests find what they name. */
async function seed(a: Area, server: Server) {
  const post = async (path: string, body: unknown) => {
    const answer = await server.admin(path, body)
    expect(answer.status, answer.text).toBe(200)
    return answer.json
  }
  const nodes = numbers(40).map((n) => `node-${n}`)
  const plans = numbers(40).map((n) => `plan-${n}`)
  // More than made-up lists name: were all banned or deleted, what their owners may do would only be refused.
  const users = numbers(200)
  const place = { address: '127.0.0.1', port: 9, public_key: 'P', short_id: 'ab', sni: 's' }
  for (const code of nodes) await post('/nodes', { code, label: `Label of ${code}`, ...place })
  for (const n of numbers(100)) {
    await post('/nodes/provision-guide', { label: `Server ${n}`, address: '127.0.0.1' })
  }
  await post('/node-groups', { code: GROUP, label: 'A group', nodes: nodes.slice(0, 3) })
  for (const code of nodes) {
    await post(`/nodes/${code}/hosts`, { transport: 'reality', address: '127.0.0.1' })
  }
  mkdirSync(join(a.dir, 'cores', 'rules'), { recursive: true })
  writeFileSync(join(a.dir, 'cores', 'rules', `${RULES}.srs`), 'SRS\x01rules')
  for (const code of plans) await post('/plans', { code, label: code, days: 30, price: 10 })
  for (const node of ['de1', ...nodes.slice(0, 3)]) {
    await post('/users/bulk', { tg_ids: users, action: 'grant', node, plan: '1m' })
  }
  // Every second one, so that both hold and resume have what they take.
  a.write('update subscriptions set held_at = created_at where seq % 2 = 0')
  const gifts = await post('/gift-codes', { node: 'de1', plan: '1m', count: 40 })
  for (const user of users) {
    const columns = 'tg_id, hwid, created_at, last_seen_at'
    const at = '2026-01-01T00:00:00'
    a.write(`insert into devices (${columns}) values (?, ?, ?, ?)`, user, 'device-0001', at, at)
  }
  a.write('update nodes set presented_host_key = ?', HOST_KEY)
  seedPayments(a)
  const listing = await server.admin('/subscriptions?limit=1')
  const cursor = /cursor=([^&>]+)/.exec(listing.headers.get('link') ?? '')?.[1] ?? ''
  const column = <T>(sql: string) => a.query<{ value: T }>(sql).map(({ value }) => value)
  const payments = column<string>('select id as value from payments order by seq limit 40')
  return {
    paths: {
      tg_id: users,
      device_id: column<number>('select id as value from devices'),
      uuid: column<string>('select uuid as value from subscriptions'),
      // Of users' links, and of servers that are being set up.
      token: column<string>(
        'select token as value from users union all select provision_token from nodes where provision_token is not null',
      ),
      code: [...nodes, ...plans, ...gifts.map((gift: { code: string }) => gift.code)],
      provider_id: [...GATEWAY_IDS],
      payment_id: payments,
      orphan_id: column<number>('select id as value from orphan_payments'),
      id: [
        ...column<string>('select id as value from events'),
        ...column<number>('select id as value from node_hosts'),
      ],
      app: APPS,
      name: [
        assetOf((await server.call('/cabinet.html')).text),
        assetOf((await server.call('/admin')).text),
        RULES,
      ],
    },
    queries: { cursor: [cursor] },
    fields: {
      node: ['de1', ...nodes],
      to: ['de1', ...nodes],
      plan: ['1m', ...plans],
      password: [PASSWORD],
      tg_id: users,
      provider: [...GATEWAY_IDS],
      payment_id: payments,
      node_group: [GROUP],
      // Of hosts: what is left to the node.
      ...{ sni: [''], host: [''], path: [''] },
      fingerprint: [fingerprintOf(HOST_KEY), ''],
      id: APPS,
      // Made-up addresses might be somebody's.
      url: [REFUSED, ...numbers(4).map((n) => `${REFUSED}/${n}`), NOWHERE, ''],
      api_url: ['', REFUSED, 'https://127.0.0.1:9'],
    },
  }
}

async function sessionOf(server: Server): Promise<string> {
  const body = { username: 'admin', password: PASSWORD }
  const { headers } = await server.call('/admin/api/login', { body })
  return /panel_admin=([^;]+)/.exec(headers.get('set-cookie') ?? '')?.[1] ?? ''
}

/** The full form asks fifteen times as much. */
const EXAMPLES = process.env.FULL === '1' ? 300 : 20
const SEED = Number(process.env.SEED ?? 1)

test.each(RUNTIMES)('schemathesis finds nothing on %s', { timeout: 1_800_000 }, async (runtime) => {
  const a = area(ENVIRONMENT)
  const server = await a.startServer({ runtime })
  const known = await seed(a, server)
  const { json: document } = await server.admin('/openapi.json')
  const { output, code, ...run } = await runSchemathesis({
    ...{ ...known, document, without: LEFT_OUT, seed: SEED, examples: EXAMPLES },
    ...{ url: server.url, cookie: await sessionOf(server), dir: a.dir },
  })
  expect(code, output).toBe(0)
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.keys(methods as object).map((method) => `${method.toUpperCase()} ${path}`),
  )
  expect(run.tested).toBe(operations.length - LEFT_OUT.length)
  expect(run.requests).toBeGreaterThan(run.tested * EXAMPLES)
  // What only refuses is not tested: all but the few that need a code or an outside system.
  const refusing = operations.filter((operation) => !run.accepted.includes(operation))
  expect(run.accepted.length, refusing.join('\n')).toBeGreaterThan(run.tested * 0.85)
  expect((await server.call('/healthz')).status).toBe(200)
  expect(server.output()).not.toContain('request failed')
  expect(await server.stop()).toEqual({ code: 0, signal: null })
  const did = `${run.accepted.length} of ${run.tested} operations did what they were asked`
  console.log(`${runtime}: ${run.requests} requests, seed ${SEED}, nothing found; ${did}`)
})
