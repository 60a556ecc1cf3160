/** Part `processes`: list fetches of a service with one web process and of one with two, and what they cost. */
import { type Figure, median } from './figures.ts'
import type { LoadResult } from './load.ts'
import type { Options } from './options.ts'
import { type Runtime, type Server, startServer } from './processes.ts'
import { dataFolder } from './seed.ts'
import { load, serviceEnvironment } from './sub.ts'

const COUNTS = [1, 2]
/** A machine that this one is not, with a process for each core and the load generator elsewhere. */
const SIMULATED_CORES = 8

interface Service {
  count: number
  server: Server
  runs: (LoadResult & { cpuMs: number })[]
}

async function startService(
  runtime: Runtime,
  folder: string,
  users: number,
  count: number,
): Promise<Service> {
  const env = serviceEnvironment(await dataFolder(`${folder}/${count}`, users))
  const server = await startServer(runtime, 'src/main.ts', { ...env, WEB_PROCESSES: String(count) })
  return { count, server, runs: [] }
}

async function measureRun(options: Options, { server, runs }: Service): Promise<void> {
  const before = server.familyCpuMs()
  const result = await load(options, server, options.users)
  runs.push({ ...result, cpuMs: server.familyCpuMs() - before })
}

const requestMs = ({ cpuMs, answers }: Service['runs'][number]) => cpuMs / answers

function figuresOf(runtime: Runtime, { count, server, runs }: Service): Figure[] {
  const of = (value: (run: Service['runs'][number]) => number) => median(runs.map(value))
  const figure = (name: string, value: number, unit: string): Figure => ({
    ...{ part: 'processes', runtime: runtime.name, value, unit },
    name: `${count} web process${count === 1 ? '' : 'es'}: ${name}`,
  })
  const used = of((run) => (requestMs(run) * run.perSecond) / 1000)
  const memory = server.familyMb().reduce((sum, mb) => sum + mb, 0)
  return [
    figure(
      '/sub',
      of(({ perSecond }) => perSecond),
      'requests/s',
    ),
    figure(
      '/sub p99',
      of(({ p99Ms }) => p99Ms),
      'ms',
    ),
    figure('processor time of a request', 1000 * of(requestMs), 'µs'),
    figure('cores that the service used', used, ''),
    figure(
      'cores that the load generator used',
      of(({ busy }) => busy),
      '',
    ),
    figure('memory, what is shared counted once', memory, 'MB'),
  ]
}

export async function measureProcesses(
  options: Options,
  runtime: Runtime,
  folder: string,
): Promise<Figure[]> {
  const services: Service[] = []
  for (const count of COUNTS)
    services.push(await startService(runtime, folder, options.users, count))
  for (let run = 0; run < options.runs; run++)
    for (const service of services) await measureRun(options, service)
  const figures = services.flatMap((service) => figuresOf(runtime, service))
  await Promise.all(services.map(({ server }) => server.stop()))
  const [one, two] = services as [Service, Service]
  const ratios = one.runs.map((run, i) => (two.runs[i]?.perSecond ?? Number.NaN) / run.perSecond)
  const value = median(ratios)
  const own = { part: 'processes', runtime: runtime.name }
  // Each doubling makes a request dearer by as much as the first one has (caches, locks of the file).
  const [cost, doubled] = [one, two].map(({ runs }) => median(runs.map(requestMs)) * 1000) as [
    number,
    number,
  ]
  const onMany = cost * Math.max(1, doubled / cost) ** Math.log2(SIMULATED_CORES)
  return [
    { ...own, name: 'requests/s of two, times those of one', value, unit: '' },
    ...figures,
    {
      ...{ ...own, name: `/sub on ${SIMULATED_CORES} cores by processor time, simulated` },
      value: (SIMULATED_CORES * 1e6) / onMany,
      unit: 'requests/s',
    },
  ]
}
