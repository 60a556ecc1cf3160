/** Restores that are killed, raced and fed with bad archives, while three processes write: exactly old or exactly new. */
import { spawn } from 'node:child_process'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import Sqlite from 'better-sqlite3'
import { describe, expect, test } from 'vitest'
import { gnuTar, gnuUntar, rawTarGz } from '#test/support/archives/archives.ts'
import { BAD_ARCHIVES } from '#test/support/archives/bad-archives.ts'
import {
  type Area,
  findProgram,
  PASSWORD,
  PLAIN,
  RUNTIMES,
  type Runtime,
  type Server,
} from '#test/support/drivers/process.ts'
import { fillUsers, seeded, useAreas, verdict } from '#test/support/drivers/torture.ts'
import { until } from '#test/support/labs/lab.ts'

const area = useAreas()
const FULL = process.env.FULL === '1'
const SEED = Number(process.env.SEED ?? 1)
const USERS = 4000
const KILLS_PER_STEP = FULL ? 20 : 1

/** The steps as the log names them, in their order. */
const STEPS = [
  ...['begun', 'unpacked', 'checked', 'prepared', 'locked', 'safety copies made'],
  ...[
    'rows of devices',
    'rows of subscriptions',
    'rows copied',
    'committed',
    'env file written',
    'done',
  ],
]

/** Where the data reaches the disk. */
const CALLS = 'fsync,fdatasync,rename'
const CUTS = FULL ? Array.from({ length: 30 }, (_, i) => i + 1) : [2, 5, 8, 9, 11, 12, 14]

/** Two states of an installation, told apart by their users and by the brand in their env file. */
type State = 'old' | 'new'
const other = (state: State): State => (state === 'old' ? 'new' : 'old')

/** An archive of a state: users 1 to 4000 with a note, so that a mixture would show. */
async function makeArchive(a: Area, state: State): Promise<Buffer> {
  const made = area({ ...PLAIN, BRAND_NAME: '' })
  const server = await made.startServer()
  await server.stop()
  fillUsers(made, USERS)
  made.write('update users set note = ?', state)
  made.write('update settings set value = (select instance_id from instance)')
  const env = readFileSync(made.envFile, 'utf8')
  writeFileSync(made.envFile, `${env}BRAND_NAME=Brand-${state}\n`)
  const again = await made.startServer()
  const archive = await again.download('/backup')
  await made.close()
  writeFileSync(join(a.dir, `${state}.tar.gz`), archive)
  return archive
}

/** What the database is now; throws when it is a mixture. */
function stateOf(a: Area): State {
  const notes = a.query<{ note: State | null; n: number }>(
    'select note, count(*) n from users group by note having note is not null',
  )
  expect(notes).toEqual([{ note: expect.stringMatching(/^(old|new)$/), n: USERS }])
  expect(a.query('select count(*) n from subscriptions where tg_id <= ?', USERS)).toEqual([
    { n: USERS },
  ])
  return notes[0]?.note as State
}

interface Ack {
  tgId: number
  /** Milliseconds of the test's clock when it was asked for. */
  asked: number
}

/** Keeps granting to new users through these servers; logs in anew when a restore has ended the session. */
function startWriters(servers: () => Server[]) {
  let over = false
  let next = 1_000_000
  const acks: Ack[] = []
  const statuses = new Map<number, number>()
  const logIn = async (server: Server): Promise<string> => {
    const answer = await server.call('/admin/api/login', {
      body: { username: 'admin', password: PASSWORD },
    })
    return /panel_admin=[^;]+/.exec(answer.headers.get('set-cookie') ?? '')?.[0] ?? ''
  }
  const worker = async (number: number) => {
    let cookie = ''
    while (!over) {
      const server = servers()[number % servers().length] as Server
      const tgId = next++
      const asked = performance.now()
      try {
        if (cookie === '') cookie = await logIn(server)
        const answer = await server.call(`/admin/api/users/${tgId}/grant`, {
          body: { node: 'de1', plan: '1m' },
          headers: { cookie },
          timeoutMs: 15_000,
        })
        statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1)
        if (answer.status === 200) acks.push({ tgId, asked })
        if (answer.status === 401) cookie = ''
      } catch {
        await new Promise((resolve) => setTimeout(resolve, 20))
      }
    }
  }
  const workers = [0, 1, 2].map(worker)
  return {
    acks,
    statuses,
    async stop() {
      over = true
      await Promise.all(workers)
    },
  }
}

/** Waits for a line of this process without losing a millisecond. */
async function seeStep(a: Area, pid: number, from: number, step: string): Promise<boolean> {
  const wanted = [`step=${step}`, `step="${step}"`]
  const deadline = performance.now() + 60_000
  for (let at = from; performance.now() < deadline; ) {
    const line = a.lines[at]
    if (!line) await new Promise((resolve) => setImmediate(resolve))
    else if (line.pid === pid && wanted.some((text) => line.text.endsWith(text))) return true
    else at++
  }
  return false
}

/** All safety copies open, are whole, and there are at most five. */
function expectSafetyCopies(a: Area): number {
  const folder = join(a.dir, 'data/safety')
  let names: string[] = []
  try {
    names = readdirSync(folder).filter((name) => name.endsWith('.db'))
  } catch {
    return 0
  }
  for (const name of names) {
    const copy = new Sqlite(join(folder, name), { readonly: true })
    const whole = copy.pragma('integrity_check', { simple: true })
    const notes = copy
      .prepare('select distinct note from users where note is not null')
      .pluck()
      .all()
    copy.close()
    // None before the first restore.
    expect([name, whole, notes.length <= 1]).toEqual([name, 'ok', true])
  }
  return names.length
}

const brandOf = async (server: Server) =>
  /Brand-(old|new)/.exec(
    (await server.call('/', { headers: { host: 'site.localhost' } })).text,
  )?.[1]

/** An installation in the state `old`, with archives of both states. */
async function prepareStates() {
  const a = area()
  const archives = { old: await makeArchive(a, 'old'), new: await makeArchive(a, 'new') }
  const server = await a.startServer()
  expect((await server.restore(archives.old)).status).toBe(200)
  return { a, archives, server }
}

/** What every process must agree on after a kill, once one was started anew. */
async function expectWhole(a: Area, state: State, servers: Server[]): Promise<void> {
  expect(stateOf(a)).toBe(state)
  expect(readFileSync(a.envFile, 'utf8')).toContain(`BRAND_NAME=Brand-${state}\n`)
  expect(a.query('select 1 from instance where pending_env is not null')).toEqual([])
  for (const server of servers) expect(await brandOf(server)).toBe(state)
  expectSafetyCopies(a)
}

/** What kills may come to: nothing before the rows are being replaced, everything after the commit. */
function expectOutcomes(done: Record<string, number>, statuses: Map<number, number>): void {
  expect(done.begun).toBe(0)
  for (const step of ['committed', 'env file written', 'done'])
    expect([step, done[step]]).toEqual([step, KILLS_PER_STEP])
  const unexpected = [...statuses.keys()].filter((status) => ![200, 401, 503].includes(status))
  expect(unexpected).toEqual([])
}

describe('killed', () => {
  test(
    `at each of ${STEPS.length} steps, ${KILLS_PER_STEP} of each, with three processes writing`,
    async () => {
      const random = seeded(SEED)
      const { a, archives, server } = await prepareStates()
      const survivors = [server, await a.startServer({ runtime: 'bun' })]
      let victim = await a.startServer()
      let state: State = 'old'
      const writers = startWriters(() => [...survivors, victim])
      /** Restores the other state, kills the process after that step, starts another one. Whether the restore took place. */
      const kill = async (step: string, afterMs: number, runtime: Runtime): Promise<boolean> => {
        const from = a.lines.length
        const asked = victim.restore(archives[other(state)]).catch(() => null)
        expect(await seeStep(a, victim.pid, from, step), step).toBe(true)
        if (afterMs > 1) await new Promise((resolve) => setTimeout(resolve, afterMs))
        await victim.kill()
        const killed = performance.now()
        await asked
        await new Promise((resolve) => setTimeout(resolve, 100))
        const before = state
        state = stateOf(a)
        victim = await a.startServer({ runtime })
        await expectWhole(a, state, [...survivors, victim])
        // What was asked for after the kill and acknowledged is there, whatever the restore came to.
        const users = a.query<{ tg_id: number }>('select tg_id from users')
        const known = new Set(users.map((row) => row.tg_id))
        const since = writers.acks.filter(({ asked: at }) => at > killed)
        expect(since.filter(({ tgId }) => !known.has(tgId))).toEqual([])
        return state !== before
      }
      const done = Object.fromEntries(STEPS.map((step) => [step, 0]))
      const kills = STEPS.flatMap((step) => Array.from({ length: KILLS_PER_STEP }, () => step))
      for (const [i, step] of kills.entries()) {
        const afterMs = random() * (i % 2 ? 10 : 1)
        const restored = await kill(step, afterMs, RUNTIMES[i % 2] ?? 'node')
        if (restored) done[step] = (done[step] ?? 0) + 1
      }
      await writers.stop()
      for (const one of [...survivors, victim]) expect((await one.stop()).code).toBe(0)
      expect(verdict(a.database)).toBe('ok')
      console.log(
        `seed ${SEED}, ${KILLS_PER_STEP} kills a step, of these restored: ${JSON.stringify(done)};`,
        `${writers.acks.length} grants meanwhile, answers ${JSON.stringify([...writers.statuses])}`,
      )
      expectOutcomes(done, writers.statuses)
    },
    FULL ? 3_600_000 : 300_000,
  )

  test('at a sync to disk or a rename: all or nothing, completed by the next start', async () => {
    const { a, archives, server } = await prepareStates()
    await server.stop()
    let state: State = 'old'
    const seen = { old: 0, new: 0, unharmed: 0 }
    /** Kills a process at its n-th such call during a restore; null when it came to its end before that. */
    const cut = async (runtime: Runtime, nth: number): Promise<boolean> => {
      const victim = await a.startServer({ runtime })
      await victim.admin('/nodes')
      const inject = `inject=${CALLS}:signal=SIGKILL:when=${nth}`
      const traced = ['-p', String(victim.pid), '-e', `trace=${CALLS}`, '-e', inject]
      const args = ['-f', '-qq', '-o', '/dev/null', ...traced]
      const strace = spawn(findProgram('strace'), args, { stdio: 'ignore' })
      await until('strace is attached', () =>
        /TracerPid:\s+[1-9]/.test(readFileSync(`/proc/${victim.pid}/status`, 'utf8')),
      )
      const answer = await victim.restore(archives[other(state)]).catch(() => null)
      await (answer === null ? victim.exited : victim.kill())
      strace.kill('SIGKILL')
      return answer === null
    }
    for (const [round, nth] of CUTS.entries()) {
      const harmed = await cut(RUNTIMES[round % 2] ?? 'node', nth)
      const found = stateOf(a)
      if (harmed) seen[found === state ? 'old' : 'new']++
      else {
        seen.unharmed++
        expect(found).toBe(other(state))
      }
      state = found
      const next = await a.startServer()
      await expectWhole(a, state, [next])
      expect((await next.stop()).code).toBe(0)
      expect(verdict(a.database)).toBe('ok')
    }
    console.log('killed at a sync or rename, state afterwards:', JSON.stringify(seen))
    expect(seen.old).toBeGreaterThan(1)
    expect(seen.new).toBeGreaterThan(1)
  })
})

test('two at once by two processes: one after the other, the second one by a session that has ended', async () => {
  const a = area()
  const archives = [await makeArchive(a, 'old'), await makeArchive(a, 'new')] as const
  const servers = [await a.startServer(), await a.startServer({ runtime: 'bun' })] as const
  await servers[0].admin('/nodes')
  for (let round = 0; round < 3; round++) {
    await servers[0].admin('/nodes')
    const answers = await Promise.all([
      servers[0].restore(archives[0]),
      servers[1].restore(archives[1]),
    ])
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 401])
    expect(stateOf(a)).toBe(answers[0].status === 200 ? 'old' : 'new')
  }
  expect(verdict(a.database)).toBe('ok')
})

/** Megabytes that the process held at most since the last reset, and holds now. */
function memory(pid: number): { peak: number; now: number } {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  const read = (name: string) => Number(new RegExp(`${name}:\\s+(\\d+)`).exec(status)?.[1]) / 1024
  return { peak: read('VmHWM'), now: read('VmRSS') }
}

test.each(RUNTIMES)(
  'on %s bad archives are refused, change nothing and take little memory',
  async (runtime) => {
    const a = area()
    const server = await a.startServer({ runtime })
    const files = gnuUntar(await server.download('/backup'))
    const good = { database: files['panel.db'] as Buffer, env: files['.env'] as Buffer }
    const bomb = (bytes: number) => rawTarGz([{ name: 'panel.db', content: Buffer.alloc(bytes) }])
    // The short form sends each of them to one of the runtimes.
    const own = BAD_ARCHIVES.filter((_, i) => FULL || RUNTIMES[i % 2] === runtime)
    const uploads: [string, Buffer][] = [
      ...own.map(([name, make]): [string, Buffer] => [name, Buffer.from(make(good))]),
      ['a bomb of 600 MB', bomb(600 * 1024 ** 2)],
      [
        'an env file of 300 MB',
        gnuTar({ 'panel.db': good.database, '.env': Buffer.alloc(300 * 1024 ** 2) }),
      ],
    ]
    const dump = () =>
      JSON.stringify(
        ['users', 'settings', 'nodes', 'admins', 'audit_log'].map((table) =>
          a.query(`select * from ${table}`),
        ),
      )
    const before = { rows: dump(), env: readFileSync(a.envFile, 'utf8') }
    // The first upload loads what the later ones use.
    await server.restore(uploads[0]?.[1] as Buffer)
    const base = memory(server.pid).now
    let worst = { name: '', growth: 0 }
    for (const [name, archive] of uploads) {
      writeFileSync(`/proc/${server.pid}/clear_refs`, '5')
      const answer = await server.restore(archive)
      expect([name, answer.status]).toEqual([name, 400])
      const growth = memory(server.pid).peak - base
      if (growth > worst.growth) worst = { name, growth }
    }
    console.log(
      `${runtime}: ${uploads.length} bad archives, most memory: +${Math.round(worst.growth)} MB (${worst.name})`,
    )
    expect({ rows: dump(), env: readFileSync(a.envFile, 'utf8') }).toEqual(before)
    expect(readdirSync(join(a.dir, 'data'))).not.toContain('safety')
    expect(worst.growth).toBeLessThan(96)
    expect((await server.stop()).code).toBe(0)
  },
)
