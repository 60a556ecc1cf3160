/** A shop whose processes reach PostgreSQL through PgBouncer in transaction mode, with fewer connections than they ask for. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { PLAIN, RUNTIMES, type Server } from '#test/support/drivers/process.ts'
import { expectSound, useAreas } from '#test/support/drivers/torture.ts'
import { until } from '#test/support/labs/lab.ts'
import { type Bouncer, startBouncer } from '#test/support/labs/pgbouncer.ts'
import { type PostgresServer, startPostgres } from '#test/support/labs/postgres-server.ts'

/** Of all processes together: one alone would open nineteen. */
const CONNECTIONS = 4
const GRANTS = 200

const area = useAreas()
let postgres: PostgresServer
let bouncer: Bouncer
beforeAll(async () => {
  postgres = await startPostgres()
  bouncer = await startBouncer(postgres, CONNECTIONS)
})
afterAll(async () => {
  await bouncer.stop()
  await postgres.stop()
})

describe.each(RUNTIMES)('on %s', (runtime) => {
  test('processes that start at once are one shop: changes are seen, jobs run once, an archive is restored', async () => {
    const direct = await postgres.createDatabase()
    const a = area({ ...PLAIN, DATABASE_URL: bouncer.urlOf(direct) })
    const entry = `entry/${runtime}.ts`
    const [first, second] = (await Promise.all([
      a.startServer({ runtime }),
      a.startServer({ runtime, entry }),
    ])) as [Server, Server]
    const grants = Array.from({ length: GRANTS }, (_, i) =>
      [first, second][i % 2]?.admin(`/users/${i + 1}/grant`, { node: 'de1', plan: '1m' }),
    )
    const statuses = (await Promise.all(grants)).map((answer) => answer?.status)
    expect(statuses.filter((status) => status !== 200 && status !== 503)).toEqual([])
    const sold = statuses.filter((status) => status === 200).length
    console.log(`${runtime}: ${sold} of ${GRANTS} grants at once over ${CONNECTIONS} connections`)
    expect(sold).toBeGreaterThan(GRANTS / 2)
    expect((await second.admin('/settings/brand', { brand_name: 'Bounced' })).status).toBe(200)
    const from = performance.now()
    const brand = async () => (await first.admin('/settings/brand')).json.brand_name
    await until('the other one has it', async () => (await brand()) === 'Bounced', 5000)
    const seen = Math.round(performance.now() - from)
    const archive = await first.download('/backup')
    await first.admin('/settings/brand', { brand_name: 'After' })
    expect((await second.restore(archive)).status).toBe(200)
    await until('the brand of before', async () => (await brand()) === 'Bounced', 5000)
    const [{ n }] = a.query<{ n: number }>('select count(*) n from subscriptions') as [
      { n: number },
    ]
    expect(n).toBe(sold)
    expect(a.query("select count(*) n from leases where name = 'scheduler'")).toEqual([{ n: 1 }])
    expectSound(a)
    console.log(`${runtime}: a change was seen by the other process after ${seen} ms`)
    expect((await Promise.all([first.stop(), second.stop()])).map(({ code }) => code)).toEqual([
      0, 0,
    ])
    const faults = a.lines.filter(({ text }) => /request failed|prepared statement/.test(text))
    expect(faults).toEqual([])
  })
})
