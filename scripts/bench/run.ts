/** `npm run bench`: runs the parts one after another, prints one table, writes the figures as JSON. */
import { writeFileSync } from 'node:fs'
import { cpus, totalmem } from 'node:os'
import { measureBackup } from './backup.ts'
import { measureEngines } from './engines.ts'
import { type Figure, formatTable } from './figures.ts'
import { measureGrants } from './grants.ts'
import { measureIdle } from './idle.ts'
import { measureListing } from './listing.ts'
import { measureLogin } from './login.ts'
import { measureMemory } from './memory.ts'
import { measureMillion } from './million.ts'
import { HELP, type Options, type Part, parseOptions } from './options.ts'
import { findRuntimes, type Runtime } from './processes.ts'
import { measureResets } from './resets.ts'
import { measureScale, measureSub } from './sub.ts'
import { measureSubGroups } from './sub-groups.ts'
import { measureSync } from './sync.ts'
import { measureProcesses } from './web-processes.ts'
import { withWorkFolder } from './work-folder.ts'

type Measure = (options: Options, runtime: Runtime, folder: string) => Promise<Figure[]>

const MEASURES: Record<Part, Measure> = {
  sub: measureSub,
  'sub-groups': measureSubGroups,
  processes: measureProcesses,
  scale: measureScale,
  idle: measureIdle,
  listing: measureListing,
  sync: measureSync,
  backup: measureBackup,
  resets: measureResets,
  login: measureLogin,
  grants: measureGrants,
  engines: measureEngines,
  million: measureMillion,
  memory: measureMemory,
}

function writeResults(options: Options, figures: Figure[]): void {
  const [cpu] = cpus()
  const machine = {
    cpu: cpu?.model ?? 'unknown',
    cores: cpus().length,
    memoryGb: Math.round(totalmem() / 1024 ** 3),
    at: new Date().toISOString(),
  }
  writeFileSync(options.json, `${JSON.stringify({ machine, options, figures }, null, 2)}\n`)
}

async function run(options: Options): Promise<void> {
  const figures: Figure[] = []
  for (const runtime of findRuntimes(options.runtimes)) {
    for (const part of options.parts) {
      console.error(`bench: ${part} on ${runtime.name}`)
      figures.push(...(await withWorkFolder((folder) => MEASURES[part](options, runtime, folder))))
    }
  }
  console.log(formatTable(figures))
  writeResults(options, figures)
  console.error(`bench: figures are in ${options.json}`)
}

// Ends through `exit`, whose handlers end the children.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => process.exit(1))
const options = parseOptions(process.argv.slice(2))
if (options) await run(options)
else console.log(HELP)
