/** A shop on two machines: what one sells is let in by the core of the other, which it can't reach. */
import { copyFileSync, existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { pause } from '#src/lib/pause.ts'
import { findCore } from '#test/support/cores.ts'
import { nextVersion } from '#test/support/drivers/next-version.ts'
import { type Area, freePort, PLAIN, RUNTIMES, type Server } from '#test/support/drivers/process.ts'
import { useAreas } from '#test/support/drivers/torture.ts'
import { until } from '#test/support/labs/lab.ts'
import { type PostgresServer, startPostgres } from '#test/support/labs/postgres-server.ts'

const area = useAreas()
let postgres: PostgresServer
beforeAll(async () => {
  postgres = await startPostgres()
})
afterAll(() => postgres.stop())

const clientsOf = (a: Area) => {
  const file = join(a.dir, 'data/node/clients')
  return existsSync(file) ? readFileSync(file, 'utf8') : ''
}

describe.each(RUNTIMES)('on %s', (runtime) => {
  test.each([{ LOCAL_NODE: 'elsewhere' }, { NODE_SYNC: 'scheduler', LOCAL_NODE: 'elsewhere' }])(
    'with %j a replica leaves the local node to the scheduler, who is there within two seconds',
    async (own) => {
      const settings = {
        ...PLAIN,
        DATABASE_URL: await postgres.createDatabase(),
        LOCAL_NODE: 'on',
        LOCAL_NODE_PORT: String(await freePort()),
      }
      const first = area({ ...settings, XRAY_BIN: findCore('xray') })
      await first.startServer({ runtime })
      const second = area({ ...settings, ...own })
      copyFileSync(first.envFile, second.envFile)
      const web = await second.startServer({ runtime, entry: `entry/${runtime}.ts` })
      await until('the core runs', async () => {
        const [node] = (await web.admin('/nodes')).json
        return node.core_version !== null && node.last_error === null
      })
      const begin = performance.now()
      const { status, json } = await web.admin('/users/7/grant', { node: 'de1', plan: '1m' })
      expect(status).toBe(200)
      await until('it lets the customer in', () => clientsOf(first).includes(json.uuid))
      const inMs = performance.now() - begin
      expect((await web.admin(`/subscriptions/${json.uuid}/hold`, {})).status).toBe(200)
      await until('and no more', () => !clientsOf(first).includes(json.uuid))
      const outMs = performance.now() - begin - inMs
      expect((await web.admin('/nodes')).json[0].enabled).toBe(true)
      console.log(`${runtime}: in after ${Math.round(inMs)} ms, out after ${Math.round(outMs)} ms`)
      expect(Math.max(inMs, outMs)).toBeLessThan(3000)
    },
  )

  test('two versions at once: the former one serves and sells on while the next has taken the database over', async () => {
    const a = area({ ...PLAIN, DATABASE_URL: await postgres.createDatabase() })
    const web = `entry/${runtime}.ts`
    const former = await a.startServer({ runtime })
    const sell = async (server: Server, user: number) => {
      const { status } = await server.admin(`/users/${user}/grant`, { node: 'de1', plan: '1m' })
      expect(status).toBe(200)
    }
    const knows = async (server: Server, user: number) =>
      (await server.admin(`/users/${user}`)).json.subscriptions.length
    await sell(former, 1)
    const link = `/sub/${(await former.admin('/users/1')).json.token}`
    // What is added is what the former one does without; what goes away goes with the release after.
    const root = nextVersion(a, {
      migrations: [
        'alter table users add column test_mark text',
        'alter table plans add column test_limit integer not null default 5',
      ],
      'migrations-postgres': [
        'alter table users add column test_mark text',
        "update users set test_mark = 'migrated'",
        'alter table plans add column test_limit bigint not null default 5',
        'create index users_test_mark on users (test_mark)',
      ],
    })
    let seller = 2
    let isMigrated = false
    const faults: number[] = []
    const selling = (async () => {
      while (!isMigrated) {
        const { status } = await former.admin(`/users/${seller++}/grant`, {
          node: 'de1',
          plan: '1m',
        })
        if (status !== 200) faults.push(status)
        if ((await former.call(link)).status !== 200) faults.push(0)
        await pause(20)
      }
    })()
    const next = await a.startServer({ runtime, root, entry: web }).finally(() => {
      isMigrated = true
    })
    await selling
    // Who wrote in the moment of the migration may have been told to come again.
    expect(faults.filter((status) => status !== 503)).toEqual([])
    expect(seller).toBeGreaterThan(3)
    await sell(former, 1000)
    await sell(next, 1001)
    for (const server of [former, next]) {
      for (const user of [1, 1000, 1001]) expect(await knows(server, user)).toBe(1)
      expect((await server.call(link)).status).toBe(200)
    }
    expect((await next.admin('/settings/brand', { brand_name: 'Next' })).status).toBe(200)
    await until('the former one has its settings', async () => {
      const { json } = await former.admin('/settings/brand')
      return json.brand_name === 'Next'
    })
    const backup = await former.admin('/backup')
    expect([backup.status, backup.json]).toEqual([
      503,
      { error: 'another version has the database now: restart the service' },
    ])
    await former.stop()
    const refused = await a.run({ runtime, env: { PORT: '0' } })
    expect([refused.code, refused.output]).toEqual([
      1,
      expect.stringMatching(/^subpanel: .+newer version of Subpanel: update the program\n$/),
    ])
    const checked = await a.run({ runtime, root, entry: '../scripts/verify.ts' })
    expect([checked.code, checked.output]).toEqual([0, 'all is well\n'])
  })
})
