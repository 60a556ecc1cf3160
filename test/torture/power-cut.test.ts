/** Power cuts at every point of the real service's writes: what was answered with 200 survives all of them. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import Sqlite from 'better-sqlite3'
import { describe, expect, test } from 'vitest'
import { logged, readEvents, replay } from '#test/support/drivers/power-cut.ts'
import { inParallel, ROOT, RUNTIMES } from '#test/support/drivers/process.ts'
import { useAreas } from '#test/support/drivers/torture.ts'

const area = useAreas()
const GRANTS = 160
const SEED = Number(process.env.SEED ?? 7)

/** The ids that a query finds in a database that a power cut left; null when SQLite finds fault with it. */
function inspect(folder: string, name: string, sql: string): Set<string> | null {
  try {
    const db = new Sqlite(join(folder, name))
    try {
      if (db.pragma('integrity_check', { simple: true }) !== 'ok') return null
      return new Set(db.prepare(sql).pluck().all().map(String))
    } finally {
      db.close()
    }
  } catch (error) {
    // All of it lost, the table too, is no damage.
    return String(error).includes('no such table') ? new Set() : null
  }
}

describe.each(RUNTIMES)('on %s', (runtime) => {
  test(`${GRANTS} grants survive every power cut`, async () => {
    const a = area()
    const log = join(a.dir, 'calls')
    const server = await a.startServer({ runtime, through: logged(log) })
    const users = Array.from({ length: GRANTS }, (_, i) => i + 1)
    const uuids = await inParallel(users, 3, async (tgId) => {
      const answer = await server.admin(`/users/${tgId}/grant`, { node: 'de1', plan: '1m' })
      expect(answer.status).toBe(200)
      return answer.json.uuid as string
    })
    await server.stop()
    const acks = (sent: string) =>
      sent.startsWith('HTTP/1.1 200')
        ? [...sent.matchAll(/"uuid":"([0-9a-f-]{36})"/g)].map((match) => match[1] as string)
        : []
    const events = await readEvents(log, ['panel.db', 'panel.db-wal', 'panel.db-journal'], acks)
    const look = (folder: string) => inspect(folder, 'panel.db', 'select uuid from subscriptions')
    const report = replay(events, join(a.dir, 'after'), look, { seed: SEED, everyNth: 9 })
    console.log(`${runtime}, seed ${SEED}:`, JSON.stringify(report))
    expect(new Set(uuids).size).toBe(GRANTS)
    expect(report).toMatchObject({ acks: GRANTS, lost: 0, corrupt: 0 })
    expect(report.states).toBeGreaterThan(300)
  })
})

test('control: with synchronous=NORMAL the same replay finds losses', async () => {
  const a = area()
  const log = join(a.dir, 'calls')
  const script = join(a.dir, 'writer.mjs')
  const code = `
import { writeSync } from 'node:fs'
import { createRequire } from 'node:module'
const Database = createRequire(${JSON.stringify(join(ROOT, 'package.json'))})('better-sqlite3')
const db = new Database('panel.db')
db.pragma('journal_mode = WAL')
db.pragma('synchronous = ' + process.env.SYNCHRONOUS)
db.exec('create table t (id integer primary key, text)')
const insert = db.prepare('insert into t values (?, ?)')
for (let i = 1; i <= 150; i++) {
  insert.run(i, 'x'.repeat(400))
  writeSync(1, 'ACK ' + i + '\\n')
}
`
  writeFileSync(script, code)
  const cut = async (synchronous: string) => {
    const own = `${log}-${synchronous}`
    const cwd = join(a.dir, synchronous)
    mkdirSync(cwd)
    const command = [process.execPath, script]
    const exit = await a.run({
      command,
      cwd,
      through: logged(own),
      env: { SYNCHRONOUS: synchronous },
    })
    expect(exit.code, exit.output).toBe(0)
    const acks = (sent: string) =>
      [...sent.matchAll(/^ACK (\d+)\n/g)].map((match) => match[1] as string)
    const events = await readEvents(own, ['panel.db', 'panel.db-wal', 'panel.db-journal'], acks)
    const look = (folder: string) => inspect(folder, 'panel.db', 'select id from t')
    const report = replay(events, join(a.dir, 'after'), look, { seed: SEED, everyNth: 3 })
    console.log(`control ${synchronous}:`, JSON.stringify(report))
    return report
  }
  expect(await cut('FULL')).toMatchObject({ acks: 150, lost: 0, corrupt: 0 })
  const normal = await cut('NORMAL')
  expect(normal.acks).toBe(150)
  expect(normal.lost).toBeGreaterThan(50)
})
