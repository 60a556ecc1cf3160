/** Settings written by two processes at one instant, Node and Bun mixed: what is decided once is decided once. */
import { afterEach, expect, test } from 'vitest'
import {
  type Area,
  createArea,
  PLAIN,
  RUNTIMES,
  type Server,
} from '#test/support/drivers/process.ts'

let area: Area | undefined
afterEach(() => area?.close())

async function startBoth(): Promise<{ area: Area; servers: Server[] }> {
  area = createArea({ ...PLAIN, TIMEZONE: 'Asia/Tokyo' })
  const made = area
  const servers = await Promise.all(RUNTIMES.map((runtime) => made.startServer({ runtime })))
  return { area: made, servers }
}

test('two processes that save the first webhook address generate one secret', async () => {
  const ROUNDS = 40
  const { area, servers } = await startBoth()
  for (let round = 0; round < ROUNDS; round++) {
    area.write("delete from settings where key like 'WEBHOOK%'")
    const answers = await Promise.all(
      [0, 1, 2, 3].map((i) =>
        servers[i % 2]?.admin('/settings/webhook', { url: `https://hook-${i}.test/` }),
      ),
    )
    expect(answers.map((answer) => answer?.status)).toEqual([200, 200, 200, 200])
    const secrets = answers.flatMap((answer) => answer?.json.secret ?? [])
    const rows = area.query("select value from settings where key = 'WEBHOOK_SECRET'")
    expect(rows).toEqual([{ value: secrets[0] }])
    expect(secrets).toHaveLength(1)
  }
  const output = servers.map((server) => server.output()).join('')
  expect(output).not.toMatch(/ (error|warn) /)
  for (const { value } of area.query<{ value: string }>('select value from settings')) {
    if (value.length === 64) expect(output).not.toContain(value)
  }
})

test('every process reads at once what another one saved', async () => {
  const { servers } = await startBoth()
  const [one, two] = servers as [Server, Server]
  for (let round = 0; round < 20; round++) {
    const [writer, reader] = round % 2 ? [one, two] : [two, one]
    const name = `Brand ${round}`
    await writer.admin('/settings/brand', { brand_name: name })
    await writer.admin('/payments/legal-settings', { LEGAL_NAME: `Name ${round}` })
    await writer.admin('/payments/plan-settings', { prices: { '1m': 100 + round } })
    expect((await reader.admin('/settings/brand')).json.brand_name).toBe(name)
    expect((await reader.call('/offer')).text).toContain(`Name ${round}`)
    expect((await reader.call('/')).text).toContain(name)
    expect((await reader.call('/api/plans')).json[0].price).toBe(100 + round)
  }
})

test('settings that many requests write at two processes are all kept', async () => {
  const { area, servers } = await startBoth()
  const values = Array.from({ length: 60 }, (_, i) => i)
  const writes = values.map((i) =>
    servers[i % 2]?.admin(
      ...([
        ['/settings/brand', { brand_hue: i }],
        ['/settings/alerts', { admin_tg_ids: [i + 1] }],
        ['/payments/provider-b-settings', { merchant_id: `m${i}`, secret: `secret-${i}` }],
      ][i % 3] as [string, object]),
    ),
  )
  for (const answer of await Promise.all(writes)) expect(answer?.status).toBe(200)
  const [audited] = area.query<{ n: number }>(
    "select count(*) n from audit_log where action = 'settings.change'",
  )
  expect(audited).toEqual({ n: 60 })
  const [{ value: merchant } = { value: '' }] = area.query<{ value: string }>(
    "select value from settings where key = 'PROVIDER_B_MERCHANT_ID'",
  )
  const [{ value: secret } = { value: '' }] = area.query<{ value: string }>(
    "select value from settings where key = 'PROVIDER_B_SECRET'",
  )
  expect(secret).toBe(merchant.replace('m', 'secret-'))
  const kept = area.query<{ shopId: string; secret: string }>(
    'select shop_id "shopId", secret from former_credentials',
  )
  expect(new Set(kept.map((one) => one.shopId)).size).toBe(19)
  for (const one of kept) expect(one.secret).toBe(one.shopId.replace('m', 'secret-'))
  expect(area.query('select wanted_generation n from bot_state')).toEqual([{ n: 20 }])
})
