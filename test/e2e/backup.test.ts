/** The operator's commands, and archives between them, the panel, GNU tar and the sqlite3 program. */
import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import { gnuTar, gnuUntar } from '#test/support/archives/archives.ts'
import {
  type Area,
  createArea,
  PLAIN,
  ROOT,
  RUNTIMES,
  runtimeBinary,
} from '#test/support/drivers/process.ts'
import { startFakeSystem } from '#test/support/fakes/system.ts'
import { readEvent, SECRET } from '#test/support/rows/events.ts'

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

  test('whoever restores in a shell hides nothing by it either', async () => {
    const receiver = await startFakeSystem(() => ({ status: 204 }))
    const settle = (at: Area, settings: Record<string, string>) => {
      for (const [key, value] of Object.entries(settings)) {
        at.write('insert or replace into settings (key, value) values (?, ?)', key, value)
      }
    }
    const webhook = (path: string, secret: string) => ({
      WEBHOOK_URL: `${receiver.url}${path}`,
      WEBHOOK_SECRET: secret,
      WEBHOOK_EVENTS: 'backup.restored',
    })
    const evil = await running()
    await evil.server.stop()
    settle(evil.a, { ADMIN_TG_IDS: '666', BOT_TOKEN: '666:evil', ...webhook('/evil', 'evil') })
    evil.a.write('delete from audit_log')
    const archive = (await script(evil.a, 'backup')).stdout.trim()

    const { a, server } = await running()
    await server.stop()
    settle(a, { ADMIN_TG_IDS: '777', BOT_TOKEN: '777:own', ...webhook('/own', SECRET) })
    const at = new Date().toISOString().slice(0, 19)
    a.write(
      `insert into outbox (tg_id, kind, payload, next_try_at, created_at) values (777, 'alert', '{"about":"new-address"}', ?, ?)`,
      ...[at, at],
    )
    a.write('update users set note = ?', 'as it was before')
    const audited = () =>
      a.query("select at, admin, action, object from audit_log where action <> 'backup.restore'")
    const before = audited()
    expect(before.length).toBeGreaterThan(0)
    const copies = () =>
      readdirSync(join(a.dir, 'data', 'safety'))
        .filter((name) => name.endsWith('.db'))
        .sort()

    expect((await script(a, 'restore', archive)).code).toBe(0)
    expect(
      a.query(
        "select tg_id, status, bot_token, payload ->> 'about' as about from outbox order by id",
      ),
    ).toEqual([
      { tg_id: 777, status: 'ready', bot_token: '777:own', about: 'new-address' },
      { tg_id: 777, status: 'ready', bot_token: '777:own', about: 'restored' },
      { tg_id: 666, status: 'ready', bot_token: null, about: 'restored' },
    ])
    expect(audited()).toEqual(before)
    expect(a.query("select admin, ip from audit_log where action = 'backup.restore'")).toEqual([
      { admin: null, ip: 'local' },
    ])
    expect(receiver.asked.map(({ path }) => path)).toEqual(['/own'])
    expect(readEvent(receiver.asked[0])).toMatchObject({
      event: 'backup.restored',
      data: { admin: null, ip: 'local' },
    })
    expect(
      a.query("select status from events where event = 'backup.restored' order by seq"),
    ).toEqual([{ status: 'ready' }, { status: 'done' }])
    await receiver.close()

    const first = copies()
    for (let i = 0; i < 5; i++) expect((await script(a, 'restore', archive)).code).toBe(0)
    expect(copies()).toHaveLength(6)
    // The second copy of a second has a number, which sorts before it.
    expect(copies()).toEqual(expect.arrayContaining(first))
    expect(
      sqlite(join(a.dir, 'data', 'safety', first[0] as string), 'select note from users'),
    ).toBe('as it was before')
    const env = { SNAPSHOT_MAX_MB: '1' }
    const command = [runtimeBinary(runtime), join(ROOT, 'scripts/restore.ts'), archive]
    const refused = await a.run({ command, env })
    expect([refused.code, refused.output]).toEqual([
      1,
      expect.stringContaining('the safety copies of the last 7 days fill SNAPSHOT_MAX_MB'),
    ])
    expect(copies()).toHaveLength(6)
  })

  test('an encrypted backup from one machine to another, its passphrase from stdin or a file', async () => {
    const { a, server } = await running()
    const ask = (at: Area, name: string, args: string[], stdin: string, env = {}) => {
      const command = [runtimeBinary(runtime), join(ROOT, 'scripts', `${name}.ts`), ...args]
      return at.run({ command, stdin, env })
    }
    const passphrase = 'staple correct horse'
    const refused = await ask(a, 'backup', ['--encrypt'], 'too short\n')
    expect([refused.code, refused.output]).toEqual([
      1,
      'the passphrase must have at least 12 characters\n',
    ])
    const made = await ask(a, 'backup', ['--encrypt'], `${passphrase}\n`)
    expect([made.code, made.stdout]).toEqual([0, expect.stringMatching(/\.tar\.gz\.enc\n$/)])
    const archive = made.stdout.trim()
    expect(statSync(archive).mode & 0o777).toBe(0o600)
    expect(readFileSync(archive).toString('latin1', 0, 8)).toBe('SPBACKUP')

    await server.admin('/settings/backup', { passphrase: 'another one altogether' })
    // By its own name: one by the second would be refused within the second of the first.
    const standing = join(a.dir, 'standing')
    expect((await ask(a, 'backup', [standing], '')).code).toBe(0)
    const plain = join(a.dir, 'plain.tar.gz')
    expect((await ask(a, 'backup', [plain, '--plain'], '')).code).toBe(0)
    expect(Object.keys(gnuUntar(readFileSync(plain)))).toEqual(['panel.db', '.env'])
    expect((await ask(a, 'verify', [standing], passphrase)).output).toContain('wrong passphrase\n')
    expect((await ask(a, 'verify', [standing], 'another one altogether')).code).toBe(0)

    const other = area({ ...PLAIN, PANEL_PASSWORD: '' })
    for (const [stdin, fault] of [
      ['', 'no passphrase was given: it is typed'],
      ['Staple correct horse\n', 'wrong passphrase\n'],
    ] as const) {
      const answer = await ask(other, 'restore', [archive], stdin)
      expect([answer.code, answer.output]).toEqual([1, expect.stringContaining(fault)])
      expect(existsSync(other.database)).toBe(false)
    }
    const file = join(other.dir, 'passphrase')
    writeFileSync(file, `${passphrase}\r\n`)
    const env = { BACKUP_PASSPHRASE_FILE: file }
    expect((await ask(other, 'verify', [archive], '', env)).stdout).toBe('all is well\n')
    const restored = await ask(other, 'restore', [archive], '', env)
    expect([restored.code, restored.stdout]).toEqual([
      0,
      expect.stringContaining('encrypted to this passphrase from now on'),
    ])
    expect(other.query('select tg_id from users')).toEqual([{ tg_id: 1 }])
    const next = await ask(other, 'backup', [], '')
    expect((await ask(other, 'verify', [next.stdout.trim()], passphrase)).code).toBe(0)
    const missing = { BACKUP_PASSPHRASE_FILE: '/nowhere' }
    expect((await ask(other, 'verify', [archive], '', missing)).output).toMatch(/can't be read/)
  })

  test('verify names the rows that are not as they must be', async () => {
    const { a, server } = await running()
    await server.stop()
    const paid =
      "insert into payments (id, tg_id, node, plan, provider, status, amount, currency, days, created_at, paid_at, source) values ('p1', 1, 'de1', '1m', 'provider_a', 'paid', 1, 'RUB', 30, datetime('now'), strftime('%Y-%m-%dT%H:%M:%S'), 'bot')"
    a.write(paid.replace("datetime('now')", "strftime('%Y-%m-%dT%H:%M:%S')"))
    a.write(
      "update subscriptions set held_at = created_at, active = 0, payment_id = 'gone', gift_code = 'ABCDEFGHIJKLMNOP'",
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

  test('verify --rebuild makes anew what lists and statistics are counted by, and nothing else', async () => {
    const { a, server } = await running()
    await server.stop()
    const facts = ['user_summaries', 'ending_counts', 'tallies'] as const
    const keptIn = () => facts.map((table) => a.query(`select * from ${table} order by 1, 2`))
    const kept = keptIn()
    expect(kept.every((rows) => rows.length > 0)).toBe(true)
    a.write('delete from user_summaries')
    a.write('update ending_counts set n = n + 1')
    a.write("update tallies set n = n + 1 where name = 'users'")
    a.write('drop trigger fact_users_insert')
    const found = await script(a, 'verify')
    expect([found.code, found.stdout]).toEqual([1, expect.stringContaining('I9 row of tallies')])
    const rebuilt = await script(a, 'verify', '--rebuild')
    expect([rebuilt.code, rebuilt.stdout]).toEqual([0, 'all is well\n'])
    expect(keptIn()).toEqual(kept)
    a.write(
      "insert into users (tg_id, token, created_at) values (9, 'nine', '2026-01-01T00:00:00')",
    )
    expect((await script(a, 'verify')).stdout).toBe('all is well\n')
    const elsewhere = await script(a, 'verify', a.database, '--rebuild')
    expect([elsewhere.code, elsewhere.output]).toEqual([
      1,
      "--rebuild is for the service's own database\n",
    ])
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
