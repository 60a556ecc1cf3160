/** Part `engines`: the same shop in its file and on a PostgreSQL server of this machine, by turns. */
import { statSync } from 'node:fs'
import { type Figure, median } from './figures.ts'
import { type Elsewhere, grantRuns } from './grants.ts'
import type { LoadResult } from './load.ts'
import type { Options } from './options.ts'
import { connect, moveShop, withServer } from './postgres.ts'
import { type Runtime, type Server, startServer } from './processes.ts'
import { dataFolder } from './seed.ts'
import { load, serviceEnvironment } from './sub.ts'

/** How many processes take the notices of a shop on the server. */
const WEB_PROCESSES = 4
/** A machine that this one is not: what it would do if nothing but processor time bound it. */
const SIMULATED_CORES = 8

/** What the server has committed of this database until now. It tells of it with a delay. */
async function transactions(url: string): Promise<number> {
  const client = await connect(url)
  await new Promise((resolve) => setTimeout(resolve, 1500))
  const { rows } = await client.query(
    'select xact_commit as n from pg_stat_database where datname = current_database()',
  )
  await client.end()
  return Number(rows[0].n)
}

async function sizeMb(url: string): Promise<number> {
  const client = await connect(url)
  const { rows } = await client.query('select pg_database_size(current_database()) as bytes')
  await client.end()
  return Number(rows[0].bytes) / 2 ** 20
}

interface Run extends LoadResult {
  cpuMs: number
}

async function measureRun(options: Options, server: Server): Promise<Run> {
  const before = server.cpuMs()
  const result = await load(options, server, options.users)
  return { ...result, cpuMs: (server.cpuMs() - before) / result.answers }
}

/** List fetches of both, and how many transactions one is to the server. */
async function measureLists(options: Options, runtime: Runtime, folder: string, url: string) {
  const places = { file: `${folder}/file`, server: `${folder}/server` }
  const env = {
    file: serviceEnvironment(await dataFolder(places.file, options.users)),
    server: serviceEnvironment(await dataFolder(places.server, options.users)),
  }
  await moveShop(runtime, env.server, url)
  const size = {
    file: statSync(`${places.file}/panel.db`).size / 2 ** 20,
    server: await sizeMb(url),
  }
  const file = await startServer(runtime, 'src/main.ts', env.file)
  const server = await startServer(runtime, 'src/main.ts', { ...env.server, DATABASE_URL: url })
  const runs: Record<'file' | 'server', Run[]> = { file: [], server: [] }
  let asked = 0
  const before = await transactions(url)
  for (let run = 0; run < options.runs; run++) {
    runs.file.push(await measureRun(options, file))
    const own = await measureRun(options, server)
    runs.server.push(own)
    asked += own.answers
  }
  const perFetch = ((await transactions(url)) - before) / asked
  await Promise.all([file.stop(), server.stop()])
  return { ...runs, perFetch, size }
}

export async function measureEngines(
  options: Options,
  runtime: Runtime,
  folder: string,
): Promise<Figure[]> {
  const [lists, grants] = await withServer(async (postgres) => {
    const url = await postgres.createDatabase()
    const lists = await measureLists(options, runtime, folder, url)
    const elsewhere: Elsewhere = {
      url: await postgres.createDatabase(),
      webProcesses: WEB_PROCESSES,
      pid: postgres.pid(),
    }
    const file = await grantRuns(options, runtime, `${folder}/grants-file`)
    const server = await grantRuns(options, runtime, `${folder}/grants-server`, elsewhere)
    return [lists, { file, server }] as const
  })
  const figure = (name: string, value: number, unit = '', more: Partial<Figure> = {}): Figure => ({
    ...{ part: 'engines', runtime: runtime.name, name, value, unit },
    ...more,
  })
  const of = (runs: Run[], value: (run: Run) => number) => median(runs.map(value))
  const rate = ({ perSecond }: { perSecond: number }) => perSecond
  const ratios = lists.file.map((run, i) => rate(lists.server[i] as Run) / rate(run))
  const perSecond = {
    file: median(grants.file.map(rate)),
    server: median(grants.server.map(rate)),
  }
  const cpuMs = {
    file: median(grants.file.map((run) => run.cpuMs)),
    own: median(grants.server.map((run) => run.cpuMs)),
    server: median(grants.server.map((run) => run.serverCpuMs)),
  }
  const many = `PostgreSQL, ${WEB_PROCESSES} web processes`
  return [
    figure('/sub on PostgreSQL, share of SQLite', median(ratios), '', { atLeast: 0.35 }),
    figure('/sub on SQLite', of(lists.file, rate), 'requests/s'),
    figure('/sub on PostgreSQL', of(lists.server, rate), 'requests/s'),
    figure('processor time of a list, SQLite', 1000 * of(lists.file, (run) => run.cpuMs), 'µs'),
    figure(
      'processor time of a list, PostgreSQL (its server apart)',
      1000 * of(lists.server, (run) => run.cpuMs),
      'µs',
    ),
    figure('transactions of the server for a list', lists.perFetch, '', { atMost: 1.05 }),
    figure('size of the shop, SQLite', lists.size.file, 'MB'),
    figure('size of the shop, PostgreSQL', lists.size.server, 'MB'),
    figure(`grants of ${many}, share of SQLite's`, perSecond.server / perSecond.file, '', {
      atLeast: 1,
    }),
    figure('grants on SQLite, one process', perSecond.file, 'grants/s'),
    figure(`grants on ${many}`, perSecond.server, 'grants/s'),
    figure(
      'notices that were told to come again, of all',
      median(grants.server.map((run) => run.repeated / options.payments)),
    ),
    figure('processor time of a grant, message and event, SQLite', cpuMs.file, 'ms'),
    figure(`processor time of one, ${many}`, cpuMs.own, 'ms'),
    figure('and of the server', cpuMs.server, 'ms'),
    figure(
      `grants on ${SIMULATED_CORES} cores by that time, PostgreSQL`,
      (1000 * SIMULATED_CORES) / (cpuMs.own + cpuMs.server),
      'grants/s',
    ),
  ]
}
