/** A damaged database ends the process with 70, at its start and while it runs, and is never replaced by an empty one. */
import { execFileSync, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  closeSync,
  copyFileSync,
  openSync,
  readFileSync,
  statSync,
  truncateSync,
  writeSync,
} from 'node:fs'
import { expect, test } from 'vitest'
import {
  type Area,
  findProgram,
  inParallel,
  isAlive,
  RUNTIMES,
  type Server,
} from '#test/support/drivers/process.ts'
import { fillUsers, seeded, useAreas, verdict } from '#test/support/drivers/torture.ts'
import { webProcesses } from '#test/support/drivers/web-processes.ts'
import { until } from '#test/support/labs/lab.ts'

const area = useAreas()
const PAGE = 4096
const DAMAGED = /^subpanel: the database is damaged: .+ \(docs\/reliability\.md\)\n$/

const digest = (path: string) => createHash('sha256').update(readFileSync(path)).digest('hex')

function overwrite(path: string, position: number, bytes: Uint8Array): void {
  const file = openSync(path, 'r+')
  writeSync(file, bytes, 0, bytes.length, position)
  closeSync(file)
}

async function filled(): Promise<Area> {
  const a = area()
  await (await a.startServer()).stop()
  fillUsers(a, 1500)
  return a
}

test('no damage that SQLite can see passes the start unnoticed', async () => {
  const a = await filled()
  const pages = statSync(a.database).size / PAGE
  const random = seeded(20)
  const bytes = (count: number) => Uint8Array.from({ length: count }, () => random() * 256)
  const harms: [string, (path: string) => void][] = [
    ['zeroed first page', (path) => overwrite(path, 0, new Uint8Array(PAGE))],
    ['text instead', (path) => overwrite(path, 0, Buffer.from('not a database'))],
    ['truncated to nothing', (path) => truncateSync(path, 0)],
    ['truncated inside the first page', (path) => truncateSync(path, 100)],
  ]
  for (let i = 0; i < 8; i++) {
    const kept = Math.floor(1 + random() * (pages - 2))
    harms.push([`truncated to ${kept} pages`, (path) => truncateSync(path, kept * PAGE + 17)])
  }
  for (let i = 0; i < 40; i++) {
    const page = Math.floor(random() * pages)
    const noise = bytes(1 + random() * 200)
    // Page headers and cell pointers lie at the start of a page; damage there can be seen.
    const offset = i % 2 ? Math.floor(random() * 64) : Math.floor(random() * (PAGE - 200))
    harms.push([
      `${noise.length} bytes at ${offset} of page ${page}`,
      (path) => overwrite(path, page * PAGE + offset, noise),
    ])
  }
  const outcomes = await inParallel(harms, 2, async ([name, harm], index) => {
    const path = `${a.dir}/${index}.db`
    copyFileSync(a.database, path)
    harm(path)
    const before = digest(path)
    const seen = spawnSync('sqlite3', [`file:${path}?immutable=1`, 'PRAGMA quick_check(1)'], {
      encoding: 'utf8',
    })
    const visible = seen.stdout.trim() !== 'ok'
    const env = { DATABASE_URL: `file:${path}`, PORT: '0' }
    const running = a.spawn({ runtime: RUNTIMES[index % 2] ?? 'node', env })
    void until('it listens', () => running.output().includes('listening'), 20_000).then(
      () => running.signal('SIGTERM'),
      () => {},
    )
    const { code } = await running.exited
    if (visible && name !== 'truncated to nothing') {
      expect([name, code, running.output()]).toEqual([name, 70, expect.stringMatching(DAMAGED)])
    }
    if (code === 70) expect([name, digest(path)]).toEqual([name, before])
    if (code === 1)
      expect([name, running.output()]).toEqual([name, expect.stringMatching(/^subpanel: .+\n$/)])
    if (name === 'truncated to nothing') expect(running.output()).toContain('is empty')
    return code === 0 ? 'invisible' : `refused with ${code}`
  })
  const counts = Object.groupBy(outcomes, (outcome) => outcome)
  console.log(
    'damaged databases:',
    Object.entries(counts).map(([what, all]) => `${all?.length} ${what}`),
  )
  expect(counts['refused with 70']?.length).toBeGreaterThan(25)
})

const RUNS = RUNTIMES.flatMap((runtime) => ['1', '2'].map((web) => [runtime, web] as const))
test.each(RUNS)(
  'damage found while running ends %s with 70 (WEB_PROCESSES=%s)',
  async (runtime, web) => {
    const a = await filled()
    const server = await a.startServer({ runtime, env: { WEB_PROCESSES: web } })
    const processes = webProcesses(server.pid)
    expect(processes).toHaveLength(web === '1' ? 0 : 2)
    expect((await server.admin('/subscriptions?limit=1')).status).toBe(200)
    // A foreign commit makes the server drop its page cache; everything moves from the log into the file.
    execFileSync('sqlite3', [
      a.database,
      "update users set note = 'x'; PRAGMA wal_checkpoint(TRUNCATE)",
    ])
    const size = statSync(a.database).size
    overwrite(a.database, 4 * PAGE, Buffer.alloc(size - 4 * PAGE, 0xa5))
    const broken = digest(a.database)
    await server.admin('/subscriptions?limit=1000').catch(() => {})
    expect(await server.exited).toEqual({ code: 70, signal: null })
    expect(server.output()).toMatch(
      /error the database is damaged: stopping \(docs\/reliability\.md\)/,
    )
    await until('all have ended', () => !processes.some(isAlive))
    expect((await a.run({ runtime })).code).toBe(70)
    expect(digest(a.database)).toBe(broken)
  },
)

/** Grants one by one until the server is gone; the uuids that were answered with 200. */
async function grantUntilGone(server: Server, limit: number): Promise<string[]> {
  const acked: string[] = []
  for (let i = 1; i <= limit; i++) {
    const answer = await server
      .admin(`/users/${i}/grant`, { node: 'de1', plan: '1m' })
      .catch(() => null)
    if (answer?.status !== 200) break
    acked.push(answer.json.uuid)
  }
  return acked
}

test('a failed fsync ends the process with 70; what was acknowledged is there after a restart', async () => {
  const strace = findProgram('strace')
  const report: string[] = []
  for (const [round, nth] of [3, 9, 30, 45, 61].entries()) {
    const runtime = RUNTIMES[round % 2] ?? 'node'
    const a = area()
    await (await a.startServer({ runtime })).stop()
    const inject = `inject=fsync,fdatasync:error=EIO:when=${nth}+`
    const through = [
      strace,
      '-D',
      '-f',
      '-qq',
      '-o',
      '/dev/null',
      '-e',
      'trace=fsync,fdatasync',
      '-e',
      inject,
    ]
    const running = await a.startServer({ runtime, through }).catch(() => null)
    if (running) {
      const acked = await grantUntilGone(running, 200)
      expect(await running.exited).toEqual({ code: 70, signal: null })
      expect(running.output()).toContain('the database is damaged: stopping')
      report.push(`${runtime} fsync ${nth}: ${acked.length} acknowledged`)
      await (await a.startServer({ runtime })).stop()
      const kept = new Set(
        a.query<{ uuid: string }>('select uuid from subscriptions').map((row) => row.uuid),
      )
      expect(acked.filter((uuid) => !kept.has(uuid))).toEqual([])
    } else {
      report.push(`${runtime} fsync ${nth}: refused to start`)
      await (await a.startServer({ runtime })).stop()
    }
    expect(verdict(a.database)).toBe('ok')
  }
  console.log(report.join('\n'))
  expect(report.filter((line) => line.includes('acknowledged')).length).toBeGreaterThan(1)
})
