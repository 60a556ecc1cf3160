/** A large shop's database survives backup and restore through the panel, row by row. */
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import { ROOT, RUNTIMES, runtimeBinary } from '#test/support/drivers/process.ts'
import { useAreas, verdict } from '#test/support/drivers/torture.ts'

const area = useAreas()
const USERS = process.env.FULL === '1' ? 100_000 : 2000

test.each(RUNTIMES)(`on %s a shop of ${USERS} users is as it was`, async (runtime) => {
  const a = area()
  const code = `import { dataFolder } from '${ROOT}/scripts/bench/seed.ts'; await dataFolder('${a.dir}/data', ${USERS})`
  const command = [runtimeBinary('node'), '--input-type=module', '-e', code]
  expect(await a.run({ command, cwd: ROOT })).toMatchObject({ code: 0 })
  const server = await a.startServer({ runtime })
  // The scheduler may mark a reminder at any moment.
  const columnsOf = (table: string) =>
    a
      .query(`select name from pragma_table_info('${table}') where name <> 'reminded'`)
      .map(({ name }) => name)
  const sums = () =>
    ['users', 'subscriptions', 'devices', 'nodes', 'plans'].map((table) => {
      const sql = `select ${columnsOf(table)} from ${table} order by 1`
      const rows = execFileSync('sqlite3', [a.database, sql], { maxBuffer: 2 ** 30 })
      return createHash('sha256').update(rows).digest('hex')
    })
  const before = sums()
  const began = performance.now()
  const archive = await server.download('/backup')
  const packed = performance.now()
  a.write('delete from devices')
  a.write("update users set token = 'lost-' || tg_id")
  const restoring = performance.now()
  const answer = await server.restore(archive)
  expect([answer.status, answer.json.restored_db]).toEqual([200, true])
  const ms = [packed - began, performance.now() - restoring].map(Math.round)
  console.log(
    `${runtime}: ${USERS} users, an archive of ${(archive.length / 1e6).toFixed(1)} MB in ${ms[0]} ms, restored in ${ms[1]} ms`,
  )
  // A restore marks the nodes: nothing is removed from them.
  a.write('update nodes set sync_blocked = 0')
  expect(sums()).toEqual(before)
  expect(verdict(a.database)).toBe('ok')
})
