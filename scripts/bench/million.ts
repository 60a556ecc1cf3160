/** Part `million`: what an admin asks of a shop of a million users, and a download of all of them while customers fetch lists. */
import { type Figure, median } from './figures.ts'
import type { LoadJob, LoadResult } from './load.ts'
import type { Hold } from './million-service.ts'
import { millionShop } from './million-shop.ts'
import type { Options } from './options.ts'
import { findRuntimes, type Runtime, runScript, type Server, startServer } from './processes.ts'
import { folderWith } from './seed.ts'
import { serviceEnvironment } from './sub.ts'

/** What million-pages.ts gives of each address, and million-work.ts of what it does. */
export interface MillionPage extends Hold {
  name: string
  ms: number
  /** Of all threads; more than the work's own where the loop turned while another thread read. */
  cpuMs: number
}

const PANEL = 'panel.bench.test'
const LOOK_MS = 100
/** Fetches of lists beside the download: what a shop of this size has, not what the machine can do. */
const CONNECTIONS = 8
const REST_MS = 20

type Own = Pick<Figure, 'part' | 'runtime'>

/** How a loop was held up: by work of its own thread, and with waits for the disk and other threads. */
const holdFigures = (own: Own, name: string, holds: Hold[]): Figure[] => [
  {
    ...{ ...own, name: `${name}, longest turn of the loop`, unit: 'ms', atMost: 20 },
    value: Math.max(...holds.map(({ turnMs }) => turnMs)),
  },
  {
    ...{ ...own, name: `${name}, longest stall of the loop`, unit: 'ms' },
    value: Math.max(...holds.map(({ stallMs }) => stallMs)),
  },
]

/** Of each list the slowest address, and the longest that the loop was held up. */
function figuresOf(own: Own, pages: MillionPage[]): Figure[] {
  const groups = Map.groupBy(pages, ({ name }) => name.split('?')[0] as string)
  return [...groups].flatMap(([list, all]) => {
    const slowest = all.reduce((a, b) => (a.cpuMs >= b.cpuMs ? a : b))
    const of = all.length > 1 ? `, slowest of ${all.length}` : ''
    const which = all.length > 1 ? ` (${slowest.name.split('?')[1] ?? 'unfiltered'})` : ''
    const ms = { ...own, unit: 'ms' }
    return [
      { ...ms, name: `${list}${of}${which}`, value: slowest.ms, atMost: 60 },
      { ...ms, name: `the same, processor time`, value: slowest.cpuMs },
      ...(all.length > 1
        ? [
            { ...ms, name: `${list}, median`, value: median(all.map((page) => page.ms)) },
            {
              ...{ ...own, name: `${list}, above 60 ms of processor time`, unit: '' },
              value: all.filter(({ cpuMs }) => cpuMs > 60).length,
            },
          ]
        : []),
      ...holdFigures(own, list, all),
    ]
  })
}

/** What each piece of work took, and how it held the loop up. */
const figuresOfWork = (own: Own, done: MillionPage[]): Figure[] =>
  done.flatMap((one) => [
    { ...own, name: one.name, value: one.ms / 1000, unit: 's' },
    ...holdFigures(own, one.name, [one]),
  ])

function fetchLists(options: Options, server: Server): Promise<LoadResult> {
  const job: LoadJob = {
    ...{ port: server.port, host: 'sub.bench.test', users: options.many, pauseMs: REST_MS },
    ...{ connections: CONNECTIONS, warmupSeconds: 2, seconds: options.seconds },
  }
  const [node] = findRuntimes(['node'])
  if (!node) throw new Error('the load generator needs Node')
  return runScript(node, 'scripts/bench/load.ts', job)
}

/** Downloads all users; gives the lines, and the most memory that the service took meanwhile. */
async function download(server: Server, cookie: string, signal?: AbortSignal) {
  let mostMb = server.residentMb()
  const timer = setInterval(() => {
    mostMb = Math.max(mostMb, server.residentMb())
  }, LOOK_MS)
  let lines = 0
  const startedAt = performance.now()
  try {
    const response = await fetch(`http://127.0.0.1:${server.port}/admin/api/users?format=csv`, {
      headers: { host: PANEL, cookie },
      ...(signal ? { signal } : {}),
    })
    for await (const chunk of response.body ?? []) {
      for (const byte of chunk as Uint8Array) if (byte === 10) lines++
    }
  } finally {
    clearInterval(timer)
  }
  return { lines: lines - 1, mostMb, seconds: (performance.now() - startedAt) / 1000 }
}

async function logIn(server: Server, password: string): Promise<string> {
  const response = await fetch(`http://127.0.0.1:${server.port}/admin/api/login`, {
    method: 'POST',
    headers: { host: PANEL },
    body: JSON.stringify({ username: 'admin', password }),
  })
  return response.headers.get('set-cookie')?.split(';')[0] ?? ''
}

/** A download of all users beside fetches of lists, against the same fetches alone. */
async function measureDownload(
  own: Own,
  options: Options,
  runtime: Runtime,
  folder: string,
): Promise<Figure[]> {
  const env = serviceEnvironment(folder)
  const server = await startServer(runtime, 'src/main.ts', env)
  const cookie = await logIn(server, env.PANEL_PASSWORD as string)
  const ratios: number[] = []
  const extras: number[] = []
  const downloads: Awaited<ReturnType<typeof download>>[] = []
  for (let run = 0; run < options.runs; run++) {
    const alone = await fetchLists(options, server)
    const beforeMb = server.residentMb()
    const stop = new AbortController()
    const beside = fetchLists(options, server).finally(() => stop.abort())
    // Again and again until the fetches end: one may be shorter than they are.
    const meanwhile = async () => {
      for (;;) {
        downloads.push(await download(server, cookie, stop.signal))
        extras.push((downloads.at(-1)?.mostMb ?? 0) - beforeMb)
      }
    }
    await meanwhile().catch(() => {})
    ratios.push((await beside).p99Ms / alone.p99Ms)
  }
  const beforeMb = server.residentMb()
  const whole = await download(server, cookie)
  extras.push(whole.mostMb - beforeMb)
  await server.stop()
  if (whole.lines !== options.many) throw new Error(`the download had ${whole.lines} users`)
  return [
    {
      ...{ ...own, name: 'p99 of /sub during a download of all users, times that alone', unit: '' },
      ...{ value: median(ratios), atMost: 2 },
    },
    {
      ...{ ...own, name: 'more memory during a download of all users', unit: 'MB' },
      ...{ value: Math.max(...extras), atMost: 60 },
    },
    { ...own, name: 'download of all users', value: whole.seconds, unit: 's' },
  ]
}

/** Part `million`. */
export async function measureMillion(
  options: Options,
  runtime: Runtime,
  folder: string,
): Promise<Figure[]> {
  const own = { part: 'million', runtime: runtime.name }
  folderWith(folder, await millionShop(options.many))
  const env = serviceEnvironment(folder)
  const input = { users: options.many }
  const pages = await runScript<MillionPage[]>(
    runtime,
    'scripts/bench/million-pages.ts',
    input,
    env,
  )
  const downloads = await measureDownload(own, options, runtime, folder)
  const done = await runScript<MillionPage[]>(runtime, 'scripts/bench/million-work.ts', input, env)
  return [...figuresOf(own, pages), ...downloads, ...figuresOfWork(own, done)]
}
