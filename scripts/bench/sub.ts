/** Parts `sub` and `scale`: list fetches of client apps with the device limit on, against a route that only answers. */
import type { BareAnswer } from './bare.ts'
import { type Figure, median } from './figures.ts'
import type { LoadJob, LoadResult } from './load.ts'
import type { Options } from './options.ts'
import { findRuntimes, type Runtime, runScript, type Server, startServer } from './processes.ts'
import { dataFolder } from './seed.ts'
import { hwidOf, tokenOf } from './shop.ts'

const HOST = 'sub.bench.test'
const WARMUP_SECONDS = 2
const FEW_USERS = 1000
const SAMPLES = 201

/** The service as an installation with its own domains runs it. */
export const serviceEnvironment = (folder: string): Record<string, string> => ({
  DATA_DIR: folder,
  ENV_FILE: `${folder}/.env`,
  PORT: '0',
  LOCAL_NODE: 'off',
  HWID_LIMIT_ENABLED: 'true',
  SUB_DOMAIN: HOST,
  SITE_DOMAIN: 'bench.test',
  PANEL_DOMAIN: 'panel.bench.test',
  PANEL_PASSWORD: 'only for benchmarks',
  SUPPORT_CONTACT: 'https://t.me/support',
})

async function startService(runtime: Runtime, folder: string, users: number): Promise<Server> {
  const env = serviceEnvironment(await dataFolder(folder, users))
  return startServer(runtime, 'src/main.ts', env)
}

/** An answer of median length, as the yardstick repeats it. */
async function sampleAnswer(port: number): Promise<BareAnswer> {
  const answers: BareAnswer[] = []
  for (let user = 0; user < SAMPLES; user++) {
    const url = `http://127.0.0.1:${port}/sub/${tokenOf(user)}`
    const headers = { 'user-agent': 'Happ/3.5.0', 'x-hwid': hwidOf(user, 0), connection: 'close' }
    const response = await fetch(url, { headers })
    if (response.status !== 200) throw new Error(`a list was answered with ${response.status}`)
    const own = [...response.headers].filter(
      ([name]) => !['date', 'connection', 'keep-alive', 'content-length'].includes(name),
    )
    answers.push({ headers: Object.fromEntries(own), body: await response.text() })
  }
  answers.sort((a, b) => a.body.length - b.body.length)
  return answers[SAMPLES >> 1] as BareAnswer
}

/** Lets the generator, always on Node, ask a server for the lists of `users` users from the first on. */
export function load(
  options: Options,
  server: Server,
  users: number,
  firstUser = 0,
): Promise<LoadResult> {
  const { connections, seconds } = options
  const job: LoadJob = {
    ...{ port: server.port, host: HOST, users, firstUser, connections },
    ...{ warmupSeconds: WARMUP_SECONDS, seconds },
  }
  const [node] = findRuntimes(['node'])
  if (!node) throw new Error('the load generator needs Node')
  return runScript(node, 'scripts/bench/load.ts', job)
}

/** Runs two servers by turns, so that what else the machine does meets both. */
async function alternate(
  options: Options,
  first: { server: Server; users: number },
  second: { server: Server; users: number },
): Promise<[LoadResult[], LoadResult[]]> {
  const results: [LoadResult[], LoadResult[]] = [[], []]
  for (let run = 0; run < options.runs; run++) {
    results[0].push(await load(options, first.server, first.users))
    results[1].push(await load(options, second.server, second.users))
  }
  return results
}

export const perSecond = (results: LoadResult[]) =>
  median(results.map((result) => result.perSecond))
const p99 = (results: LoadResult[]) => median(results.map((result) => result.p99Ms))
/** The median of the ratios of two runs that followed each other. */
export const ratio = (a: LoadResult[], b: LoadResult[], of: (result: LoadResult) => number) =>
  median(a.map((result, i) => of(result) / of(b[i] as LoadResult)))

/** Part `sub`. */
export async function measureSub(
  options: Options,
  runtime: Runtime,
  folder: string,
): Promise<Figure[]> {
  const service = await startService(runtime, folder, options.users)
  const answer = await sampleAnswer(service.port)
  const bare = await startServer(runtime, 'scripts/bench/bare.ts', {
    BARE_ANSWER: JSON.stringify(answer),
  })
  const { users } = options
  const [ours, bares] = await alternate(
    options,
    { server: service, users },
    { server: bare, users },
  )
  const residentMb = service.residentMb()
  await Promise.all([service.stop(), bare.stop()])
  const own = { part: 'sub', runtime: runtime.name }
  return [
    {
      ...{ ...own, name: 'requests/s, share of the bare route', unit: '', atLeast: 0.5 },
      value: ratio(ours, bares, (result) => result.perSecond),
    },
    {
      ...{ ...own, name: 'p99, times that of the bare route', unit: '', atMost: 3 },
      value: ratio(ours, bares, (result) => result.p99Ms),
    },
    { ...own, name: '/sub', value: perSecond(ours), unit: 'requests/s' },
    { ...own, name: 'bare route', value: perSecond(bares), unit: 'requests/s' },
    { ...own, name: '/sub p99', value: p99(ours), unit: 'ms' },
    { ...own, name: 'bare route p99', value: p99(bares), unit: 'ms' },
    { ...own, name: 'body', value: answer.body.length, unit: 'bytes' },
    { ...own, name: '/sub memory under load', value: residentMb, unit: 'MB' },
    {
      ...{ ...own, name: 'load generator: most of one core used', unit: '' },
      value: Math.max(...[...ours, ...bares].map((result) => result.busy)),
    },
  ]
}

/** Part `scale`. */
export async function measureScale(
  options: Options,
  runtime: Runtime,
  folder: string,
): Promise<Figure[]> {
  const few = await startService(runtime, `${folder}/few`, FEW_USERS)
  const many = await startService(runtime, `${folder}/many`, options.many)
  const [fewResults, manyResults] = await alternate(
    options,
    { server: few, users: FEW_USERS },
    { server: many, users: options.many },
  )
  await Promise.all([few.stop(), many.stop()])
  const own = { part: 'scale', runtime: runtime.name }
  return [
    {
      ...{ ...own, name: `times slower with ${options.many} users`, unit: '', atMost: 1.3 },
      value: ratio(fewResults, manyResults, (result) => result.perSecond),
    },
    { ...own, name: `/sub, ${FEW_USERS} users`, value: perSecond(fewResults), unit: 'requests/s' },
    {
      ...own,
      name: `/sub, ${options.many} users`,
      value: perSecond(manyResults),
      unit: 'requests/s',
    },
  ]
}
