/** The operator's commands, and archives between them, the panel, GNU tar and the sqlite3 program. */
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import { gnuTar, gnuUntar } from '#test/support/archives.ts'
import {
  type Area,
  createArea,
  PLAIN,
  ROOT,
  RUNTIMES,
  runtimeBinary,
} from '#test/support/process.ts'

const areas: Area[] = []
afterEach(async () => {
  await Promise.all(areas.splice(0).map((one) => one.close()))
})
const area = (defaults: Record<string, string> = PLAIN): Area => {
  const made = createArea(defaults)
  areas.push(made)
  return made
}

const sqlite = (database: string, sql: string) =>
  execFileSync('sqlite3', [database, sql], { encoding: 'utf8' }).trim()

describe.each(RUNTIMES)('on %s', (runtime) => {
  /** Runs a command of scripts/ in an area. */
  const script = (a: Area, name: string, ...args: string[]) =>
    a.run({ command: [runtimeBinary(runtime), join(ROOT, 'scripts', `${name}.ts`), ...args] })

  async function running() {
    const a = area()
    const server = await a.startServer({ runtime })
    await server.admin('/users/1/grant', { node: 'de1', plan: '1m' })
    return { a, server }
  }

  test('a backup of the panel is read by GNU tar and sqlite3, and made anew by them', async () => {
    const { a, server } = await running()
    const files = gnuUntar(await server.download('/backup'))
    const copy = join(a.dir, 'copy.db')
    writeFileSync(copy, files['panel.db'] as Buffer)
    expect(sqlite(copy, 'pragma integrity_check; select tg_id from users')).toBe('ok\n1')
    sqlite(copy, "update users set note = 'by hand'; pragma journal_mode = wal")
    const changed = gnuTar({ 'panel.db': readFileSync(copy), '.env': files['.env'] as Buffer })
    expect((await server.restore(changed)).status).toBe(200)
    expect(a.query('select tg_id, note from users')).toEqual([{ tg_id: 1, note: 'by hand' }])
  })

  test('backup, verify and restore beside a running service, which goes on', async () => {
    const { a, server } = await running()
    const made = await script(a, 'backup')
    expect([made.code, made.stdout]).toEqual([
      0,
      expect.stringMatching(/\/backup-\d{8}-\d{6}\.tar\.gz\n$/),
    ])
    const archive = made.stdout.trim()
    expect(statSync(archive).mode & 0o777).toBe(0o600)
    expect(Object.keys(gnuUntar(readFileSync(archive)))).toEqual(['panel.db', '.env'])
    expect((await script(a, 'backup', archive)).code).toBe(1)
    const piped = await script(a, 'backup', '-')
    expect(piped.code).toBe(0)
    expect((await script(a, 'verify', archive)).stdout).toBe('all is well\n')
    await server.admin('/users/2/grant', { node: 'de1', plan: '1m' })
    const restored = await script(a, 'restore', archive)
    expect([restored.code, restored.stdout]).toEqual([
      0,
      expect.stringContaining('before-restore-'),
    ])
    expect(a.query('select tg_id from users')).toEqual([{ tg_id: 1 }])
    expect((await server.admin('/nodes')).status).toBe(401)
    expect((await script(a, 'verify')).stdout).toBe('all is well\n')
    expect((await server.stop()).code).toBe(0)
  })

  test('a restore on a machine that has nothing: the service starts with everything', async () => {
    const { a, server } = await running()
    const { json: card } = await server.admin('/users/1')
    await script(a, 'backup', 'all.tar.gz')
    const other = area({ ...PLAIN, PANEL_PASSWORD: '' })
    writeFileSync(other.envFile, 'LOCAL_NODE_PORT=4433\n')
    const archive = join(a.dir, 'all.tar.gz')
    const cut = join(other.dir, 'cut.tar.gz')
    writeFileSync(cut, readFileSync(archive).subarray(0, 5000))
    const refused = await script(other, 'restore', cut)
    expect([refused.code, refused.output]).toEqual([
      1,
      expect.stringMatching(/damaged or cut off\n$/),
    ])
    expect(existsSync(other.database)).toBe(false)
    expect(readFileSync(other.envFile, 'utf8')).toBe('LOCAL_NODE_PORT=4433\n')
    expect((await script(other, 'restore', archive)).code).toBe(0)
    const id = /INSTANCE_ID=(.+)/.exec(readFileSync(a.envFile, 'utf8'))?.[1]
    const env = readFileSync(other.envFile, 'utf8')
    expect(env).toContain(`INSTANCE_ID=${id}\n`)
    expect(env).toContain('LOCAL_NODE_PORT=4433\n')
    const next = await other.startServer({ runtime })
    expect(next.stdout()).not.toContain('Password')
    expect((await next.admin('/users/1')).json).toEqual(card)
    expect((await next.stop()).code).toBe(0)
  })

  test('verify names the rows that are not as they must be', async () => {
    const { a, server } = await running()
    await server.stop()
    const paid =
      "insert into payments (id, tg_id, node, plan, provider, status, amount, currency, days, created_at, paid_at, source) values ('p1', 1, 'de1', '1m', 'provider_a', 'paid', 1, 'RUB', 30, datetime('now'), strftime('%Y-%m-%dT%H:%M:%S'), 'bot')"
    a.write(paid.replace("datetime('now')", "strftime('%Y-%m-%dT%H:%M:%S')"))
    a.write(
      "update subscriptions set held_at = created_at, active = 0, payment_id = 'gone', gift_code = 'G'",
    )
    const found = await script(a, 'verify')
    expect(found.code).toBe(1)
    const lines = found.stdout.trim().split('\n')
    expect(lines.map((line) => line.slice(0, 2))).toEqual(['I1', 'I2', 'I3', 'I3', 'I3', 'I7'])
    expect(lines[0]).toBe('I1 payment is paid, and nothing was given for it: p1')
    sqlite(
      a.database,
      "pragma foreign_keys = off; insert into devices (tg_id, hwid, created_at, last_seen_at) values (99, 'x', '', '')",
    )
    expect((await script(a, 'verify')).stdout).toMatch(
      /^I8 row points nowhere: devices 1, to users\n/,
    )
    expect((await script(a, 'verify', 'nowhere.db')).code).toBe(1)
    expect((await script(a, 'verify', '--what')).code).toBe(1)
  })

  test('a command that was killed leaves nothing that a later one trips over', async () => {
    const { a } = await running()
    const command = [runtimeBinary(runtime), join(ROOT, 'scripts/backup.ts'), 'killed.tar.gz']
    for (const afterMs of [50, 120, 200, 300]) {
      const one = a.spawn({ command })
      await new Promise((resolve) => setTimeout(resolve, afterMs))
      await one.kill()
    }
    const fresh = await script(a, 'backup', 'whole.tar.gz')
    expect(fresh.code).toBe(0)
    if (existsSync(join(a.dir, 'killed.tar.gz')))
      expect((await script(a, 'verify', 'killed.tar.gz')).stdout).toBe('all is well\n')
  })
})
