/** What to measure, and how large. */
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import type { RuntimeName } from './processes.ts'

export const PARTS = [
  'sub',
  'sub-groups',
  'processes',
  'scale',
  'idle',
  'listing',
  'sync',
  'backup',
  'resets',
  'login',
  'grants',
  'engines',
  'million',
  'memory',
] as const
export type Part = (typeof PARTS)[number]

export const HELP = `Measures the service on Node and Bun and prints one table (docs/benchmarks.md).

  npm run bench                          every part at full size: about 15 minutes, 3 GB in the temporary folder, and what million takes:
                                         some minutes to make a database of 3.3 GB, which is kept, and as much again for a copy
  npm run bench -- --only sub,idle       some parts: ${PARTS.join(', ')}
  npm run bench -- --runtimes node       one runtime; Bun is BUN_BIN, else the one in PATH
  npm run bench -- --quick               small sizes and short runs: whether it works, not how fast it is

  --users N          users of sub, processes, listing, resets, grants and engines, each with 3 subscriptions and 3 devices (100000);
                     a tenth as many of each kind of sub-groups
  --many N           users of scale, against 1000, and of million (1000000)
  --clients N        clients of a node in sync and memory, whose large one has ten times as many (10000)
  --payments N       payments of grants and engines, each run (10000)
  --runs N           alternating runs that the median is taken of (5)
  --seconds N        length of one run, after 2 s of warm-up (5)
  --connections N    connections of the load generator (64)
  --json FILE        where the figures go (bench-results.json in the temporary folder)
  --help             this text

PostgreSQL's programs for engines are Debian's, or in PATH. Xray for sync is found as the service finds it: XRAY_BIN, CORES_DIR, PATH.`

export interface Options {
  parts: Part[]
  runtimes: RuntimeName[]
  users: number
  many: number
  clients: number
  payments: number
  runs: number
  seconds: number
  connections: number
  json: string
}

function choose<T extends string>(text: string | undefined, all: readonly T[], name: string): T[] {
  if (text === undefined) return [...all]
  return text.split(',').map((word) => {
    const found = all.find((one) => one === word)
    if (!found) throw new Error(`--${name} takes ${all.join(', ')}`)
    return found
  })
}

/** The options of a command line; null when help was asked for. Throws on what it does not know. */
export function parseOptions(args: string[]): Options | null {
  const text = { type: 'string' } as const
  const flag = { type: 'boolean', default: false } as const
  const { values } = parseArgs({
    args,
    options: {
      only: text,
      runtimes: text,
      users: text,
      many: text,
      clients: text,
      payments: text,
      runs: text,
      seconds: text,
      connections: text,
      json: text,
      quick: flag,
      help: flag,
    },
  })
  if (values.help) return null
  const count = (
    name: 'users' | 'many' | 'clients' | 'payments' | 'runs' | 'seconds' | 'connections',
  ) => {
    const full = {
      users: 100_000,
      many: 1_000_000,
      clients: 10_000,
      payments: 10_000,
      runs: 5,
      seconds: 5,
      connections: 64,
    }
    const quick = {
      users: 2000,
      many: 5000,
      clients: 200,
      payments: 500,
      runs: 1,
      seconds: 1,
      connections: 16,
    }
    const given = values[name]
    if (given === undefined) return (values.quick ? quick : full)[name]
    if (!/^[1-9]\d{0,7}$/.test(given)) throw new Error(`--${name} takes a whole number above 0`)
    return Number(given)
  }
  return {
    parts: choose(values.only, PARTS, 'only'),
    runtimes: choose(values.runtimes, ['node', 'bun'] as const, 'runtimes'),
    users: count('users'),
    many: count('many'),
    clients: count('clients'),
    payments: count('payments'),
    runs: count('runs'),
    seconds: count('seconds'),
    connections: count('connections'),
    json: values.json ?? join(tmpdir(), 'bench-results.json'),
  }
}
