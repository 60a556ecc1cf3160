/** A shop on two machines: what one sells is let in by the core of the other, which it can't reach. */
import { copyFileSync, existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { findCore } from '#test/support/cores.ts'
import { type Area, freePort, PLAIN, RUNTIMES } from '#test/support/drivers/process.ts'
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
  test('a replica that reaches no node leaves them to the scheduler, who is there within two seconds', async () => {
    const settings = {
      ...PLAIN,
      DATABASE_URL: await postgres.createDatabase(),
      LOCAL_NODE: 'on',
      LOCAL_NODE_PORT: String(await freePort()),
    }
    const first = area({ ...settings, XRAY_BIN: findCore('xray') })
    await first.startServer({ runtime })
    const second = area({ ...settings, NODE_SYNC: 'scheduler' })
    copyFileSync(first.envFile, second.envFile)
    const refused = await second.run({ runtime, entry: 'entry/scheduler.ts' })
    expect([refused.code, refused.output]).toEqual([
      1,
      'subpanel: NODE_SYNC=scheduler leaves nodes to a scheduler elsewhere: not where it runs\n',
    ])
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
    console.log(`${runtime}: in after ${Math.round(inMs)} ms, out after ${Math.round(outMs)} ms`)
    expect(Math.max(inMs, outMs)).toBeLessThan(3000)
  })
})
