/** Part `sub-groups`: list fetches of customers with a group of nodes, against those of one node and of as many subscriptions. */
import type { Figure } from './figures.ts'
import { groupShopFolder, PLACES } from './group-shop.ts'
import type { LoadResult } from './load.ts'
import type { Options } from './options.ts'
import { type Runtime, type Server, startServer } from './processes.ts'
import { hwidOf, tokenOf } from './shop.ts'
import { load, perSecond, ratio, serviceEnvironment } from './sub.ts'

interface Kind {
  name: string
  /** The first of its customers, of whom there are `users`. */
  first: number
  results: LoadResult[]
  /** Of the service, in ms. */
  cpuMs: number
}

async function bodyOf(port: number, user: number): Promise<number> {
  const headers = { 'user-agent': 'Happ/3.5.0', 'x-hwid': hwidOf(user, 0), connection: 'close' }
  const response = await fetch(`http://127.0.0.1:${port}/sub/${tokenOf(user)}`, { headers })
  if (response.status !== 200) throw new Error(`a list was answered with ${response.status}`)
  return (await response.text()).length
}

/** Asks for lists of each kind by turns, so that what else the machine does meets all. */
async function measure(options: Options, server: Server, users: number, kinds: Kind[]) {
  for (let run = 0; run < options.runs; run++) {
    for (const kind of kinds) {
      const before = server.cpuMs()
      kind.results.push(await load(options, server, users, kind.first))
      kind.cpuMs += server.cpuMs() - before
    }
  }
}

export async function measureSubGroups(
  options: Options,
  runtime: Runtime,
  folder: string,
): Promise<Figure[]> {
  const users = Math.ceil(options.users / 10)
  const env = serviceEnvironment(await groupShopFolder(folder, users))
  const server = await startServer(runtime, 'src/main.ts', env)
  const names = ['one node', `a group of ${PLACES}`, `${PLACES} subscriptions`]
  const kinds = names.map((name, i): Kind => ({ name, first: i * users, results: [], cpuMs: 0 }))
  await measure(options, server, users, kinds)
  const bodies = await Promise.all(kinds.map(({ first }) => bodyOf(server.port, first)))
  await server.stop()
  const [one, group, singles] = kinds.map(({ results }) => results) as [
    LoadResult[],
    LoadResult[],
    LoadResult[],
  ]
  const own = { part: 'sub-groups', runtime: runtime.name }
  return [
    {
      ...{ ...own, name: `requests/s of a group of ${PLACES}, share of one node's`, unit: '' },
      ...{ value: ratio(group, one, (result) => result.perSecond), atLeast: 0.5 },
    },
    {
      ...{ ...own, name: `the same, times those of ${PLACES} subscriptions`, unit: '' },
      value: ratio(group, singles, (result) => result.perSecond),
    },
    ...kinds.flatMap(({ name, results, cpuMs }, i): Figure[] => [
      { ...own, name: `/sub, ${name}`, value: perSecond(results), unit: 'requests/s' },
      {
        ...{ ...own, name: `its own CPU, ${name}`, unit: 'µs' },
        value: (1000 * cpuMs) / results.reduce((sum, { answers }) => sum + answers, 0),
      },
      { ...own, name: `body, ${name}`, value: bodies[i] as number, unit: 'bytes' },
    ]),
    {
      ...{ ...own, name: 'load generator: most of one core used', unit: '' },
      value: Math.max(...kinds.flatMap(({ results }) => results.map(({ busy }) => busy))),
    },
  ]
}
