/**
 * A shop on PostgreSQL whose replicas, scheduler and bot are killed at random, all at once, under buyers, admins, people in the bot, apps and
 * changes of nodes: nobody hears of it by another error than 503, and the books are right at the end.
 */
import { copyFileSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { pause } from '#src/lib/pause.ts'
import { findCore } from '#test/support/cores.ts'
import {
  type Answer,
  type Area,
  freePort,
  type Running,
  type Server,
} from '#test/support/drivers/process.ts'
import {
  addBuyer,
  addShopNode,
  buy,
  count,
  KEYS,
  notify,
  paymentsOf,
  yookassaEnvironment,
} from '#test/support/drivers/shop-process.ts'
import { expectSound, seeded, useAreas, useEngines } from '#test/support/drivers/torture.ts'
import { startFakeSystem } from '#test/support/fakes/system.ts'
import { startFakeTelegram } from '#test/support/fakes/telegram.ts'
import { startFakeYookassa } from '#test/support/fakes/yookassa.ts'
import { until } from '#test/support/labs/lab.ts'
import { BOT_TOKEN } from '#test/support/rows/messages.ts'

const area = useAreas()
const on = useEngines()
const MINUTES = process.env.FULL === '1' ? 20 : 0.75
const SEED = Number(process.env.SEED ?? 1)
/** Customers whom admins work on; those who buy have the numbers above. */
const USERS = 40
/** Those who write to the bot. */
const PEOPLE = 30_000

const closings: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const close of closings.splice(0)) await close()
})

/** The uuids in the file of the local core's clients. */
const clientsOf = (a: Area) =>
  readFileSync(join(a.dir, 'data/node/clients'), 'utf8')
    .split('\n')
    .flatMap((line) => /^[0-9a-f-]{36}/.exec(line)?.[0] ?? [])
    .sort()

/** Those whom the local node shall let in. */
const entitledOf = (a: Area) =>
  a
    .query<{ uuid: string }>(
      `select s.uuid from subscriptions s join users u using (tg_id) where s.node = 'de1' and s.active <> 0 and s.held_at is null
        and s.expires_at > ? and u.banned_at is null`,
      new Date().toISOString().slice(0, 19),
    )
    .map(({ uuid }) => uuid)
    .sort()

test(`${MINUTES} minutes of chaos`, { timeout: MINUTES * 60_000 + 300_000 }, async () => {
  const random = seeded(SEED)
  const below = (n: number) => Math.floor(random() * n)
  const yookassa = await startFakeYookassa(KEYS)
  const telegram = await startFakeTelegram({ [BOT_TOKEN]: 'shop_bot' })
  const receiver = await startFakeSystem(() => ({ status: 200 }))
  closings.push(yookassa.close, telegram.close, receiver.close)
  const settings = {
    ...yookassaEnvironment(yookassa.url),
    ...{ WEBHOOK_URL: receiver.url, BOT_TOKEN, TELEGRAM_API_URL: telegram.url },
    ...{ LOG_LEVEL: 'info', SYNC_INTERVAL_MS: '2000', LOCAL_NODE: 'on' },
    LOCAL_NODE_PORT: String(await freePort()),
    ...(await on('PostgreSQL')),
  }
  const first = area({ ...settings, XRAY_BIN: findCore('xray') })
  const starts = {
    replica: () => first.startServer({ entry: 'entry/node.ts' }),
    other: () => second.startServer({ runtime: 'bun', entry: 'entry/bun.ts' }),
  }
  const replicas: Server[] = [await starts.replica()]
  const second = area({ ...settings, LOCAL_NODE: 'elsewhere' })
  copyFileSync(first.envFile, second.envFile)
  replicas.push(await starts.other())
  const scheduler = () => first.spawn({ entry: 'entry/scheduler.ts' })
  const bot = () => second.spawn({ runtime: 'bun', entry: 'entry/bot.ts' })
  const roles: Running[] = [scheduler(), bot()]
  addShopNode(first)
  await replicas[0]?.admin('/nodes')
  await until('the core runs', async () => {
    const [node] = (await (replicas[1] as Server).admin('/nodes')).json
    return node.core_version !== null && node.last_error === null
  })

  let over = false
  const statuses = new Map<string, number>()
  const lost = { connections: 0 }
  /** Sends it to one of both; null where that one was killed meanwhile. */
  async function ask(what: string, send: (server: Server) => Promise<Answer>) {
    const answer = await send(replicas[below(2)] as Server).catch(() => null)
    if (answer === null) {
      lost.connections++
      await pause(20)
      return null
    }
    const key =
      answer.status < 500 ? `${Math.floor(answer.status / 100)}xx` : `${answer.status} of ${what}`
    statuses.set(key, (statuses.get(key) ?? 0) + 1)
    return answer
  }
  /** Sends it again and again until somebody answers with 200. */
  async function insist(what: string, send: (server: Server) => Promise<Answer>) {
    for (;;) {
      const answer = await ask(what, send)
      if (answer?.status === 200) return answer
      await pause(20)
    }
  }

  let bought = 0
  const buyer = async () => {
    while (!over) {
      const tgId = USERS + ++bought
      addBuyer(first, tgId)
      const { json } = await insist('buying', (server) => buy(server, tgId, { node: 'de1' }))
      const [made, ...others] = paymentsOf(first, tgId)
      expect([made?.id, others]).toEqual([json.id, []])
      const externalId = made?.external_id ?? ''
      yookassa.pay(externalId)
      await Promise.all(
        Array.from({ length: 1 + below(3) }, () =>
          insist('a notice', (server) => notify(server, yookassa, externalId)),
        ),
      )
      await pause(below(100))
    }
  }
  const anyUuid = () =>
    first.query<{ uuid: string }>(
      'select uuid from subscriptions where tg_id <= ? order by md5(uuid || ?) limit 1',
      ...[USERS, String(random())],
    )[0]?.uuid
  const anyUser = () => 1 + below(USERS)
  const admin = async () => {
    const doings: (() => [string, object | undefined, string?])[] = [
      () => [`/users/${anyUser()}/grant`, { node: below(2) ? 'de1' : 'nl1', plan: '1m' }],
      () => [`/users/${anyUser()}`, { note: `note ${below(9)}`, banned: below(4) === 0 }, 'PATCH'],
      () => [`/users/${anyUser()}/rotate-token`, {}],
      () => [
        `/subscriptions/${anyUuid()}/${['hold', 'resume', 'hold', 'resume', 'revoke'][below(5)]}`,
        {},
      ],
      () => [`/subscriptions/${anyUuid()}/extend`, { days: 1 + below(9) }],
      () => [`/subscriptions/${anyUuid()}`, { node: below(2) ? 'de1' : 'nl1' }, 'PATCH'],
      () => ['/gift-codes', { node: 'de1', plan: '1m' }],
      () => ['/settings/brand', { brand_name: `Brand ${below(100)}` }],
      () => ['/plans/1m', { label: `Month ${below(100)}` }, 'PATCH'],
      () => ['/users?limit=20', undefined, 'GET'],
      () => ['/stats', undefined, 'GET'],
    ]
    while (!over) {
      const [path, body, method = 'POST'] = (doings[below(doings.length)] as (typeof doings)[0])()
      await ask(path, (server) => server.admin(path, body, { method }))
      await pause(below(60))
    }
  }
  /** Servers of others come and go, and are renamed. */
  const nodes = async () => {
    for (let i = 0; !over; i++) {
      const code = `ext${i % 5}`
      const made = {
        code,
        label: `External ${i}`,
        address: `e${i % 5}.test`,
        public_key: 'k'.repeat(43),
        short_id: '00',
        sni: 'e.test',
      }
      await ask('a new node', (server) => server.admin('/nodes', made))
      await ask('a renamed node', (server) =>
        server.admin(
          `/nodes/${code}`,
          { label: `Again ${i}`, enabled: below(2) === 0 },
          { method: 'PATCH' },
        ),
      )
      await ask('a pass', (server) => server.admin('/sync', {}))
      await ask('a node less', (server) =>
        server.admin(`/nodes/ext${below(5)}`, undefined, { method: 'DELETE' }),
      )
      await pause(300)
    }
  }
  const app = async () => {
    while (!over) {
      const [user] = first.query<{ token: string }>(
        'select token from users order by md5(token || ?) limit 1',
        String(random()),
      )
      const headers = { 'user-agent': 'Happ/3.5.0', 'x-hwid': `device-${below(9)}` }
      if (user) await ask('a list', (server) => server.call(`/sub/${user.token}`, { headers }))
      await pause(below(40))
    }
  }
  let written = 0
  const people = async () => {
    while (!over) {
      telegram.say({ id: PEOPLE + ++written }, '/start', BOT_TOKEN)
      await pause(50 + below(400))
    }
  }

  let kills = 0
  const killReplica = async (i: 0 | 1) => {
    while (!over) {
      await pause(500 + below(6000))
      await replicas[i]?.kill()
      replicas[i] = await (i === 0 ? starts.replica() : starts.other())
      kills++
    }
  }
  const killRole = async (i: 0 | 1, start: () => Running) => {
    while (!over) {
      // Mostly before the next one has had the role of the one before, sometimes long after.
      await pause(1000 + below(25_000))
      await roles[i]?.kill()
      roles[i] = start()
      kills++
    }
  }
  const actors = [
    ...[buyer(), buyer(), buyer(), admin(), admin(), nodes(), app(), app(), people()],
    ...[killReplica(0), killReplica(1), killRole(0, scheduler), killRole(1, bot)],
  ]
  setTimeout(() => {
    over = true
  }, MINUTES * 60_000)
  await Promise.all(actors)

  const open = "status in ('ready', 'sending')"
  await until(
    'everything is sent or given up',
    () => count(first, `events where ${open}`) + count(first, `outbox where ${open}`) === 0,
    120_000,
  )
  await until(
    'everyone in the bot is answered',
    () => {
      const answered = new Set(telegram.sent.map(({ chat_id }) => chat_id))
      return Array.from({ length: written }, (_, i) => PEOPLE + i + 1).every((id) =>
        answered.has(id),
      )
    },
    60_000,
  )
  await until(
    'the core lets in who is entitled',
    () => clientsOf(first).join() === entitledOf(first).join(),
    30_000,
  )
  const total = [...statuses.values()].reduce((sum, n) => sum + n, 0)
  console.log(
    `seed ${SEED}: ${kills} kills in ${MINUTES} minutes; ${total} answers ${JSON.stringify(Object.fromEntries(statuses))}, ${lost.connections} connections lost with their process; ` +
      `${bought} payments, ${written} people in the bot, ${clientsOf(first).length} clients of the core`,
  )
  expect(
    [...statuses.keys()].filter((key) => key.startsWith('5') && !key.startsWith('503')),
  ).toEqual([])
  expect(count(first, 'payments')).toBe(bought)
  expect(
    count(
      first,
      "payments where status = 'paid' and subscription_uuid is not null and review_reason is null",
    ),
  ).toBe(bought)
  expect(count(first, 'subscriptions where payment_id is not null')).toBe(bought)
  expect(count(first, "audit_log where action = 'payment.grant'")).toBe(bought)
  expect(yookassa.payments.size).toBe(bought)
  const ids = receiver.asked.map(({ headers }) => headers['webhook-id'])
  expect(new Set(ids).size).toBe(ids.length)
  expectSound(first)
  for (const a of [first, second])
    expect(a.lines.filter(({ text }) => text.includes('request failed'))).toEqual([])
})
