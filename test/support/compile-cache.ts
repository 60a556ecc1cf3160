/**
 * Fills Node's compile cache before the first thread starts. Without it threads strip types by WebAssembly, and V8 ends the process now
 * and then where several isolates of one process do (`Check failed: jit_page.has_value()`; nodejs/node#64500): here a process with one
 * isolate does it for them.
 */
import { spawnSync } from 'node:child_process'
import { join, resolve } from 'node:path'

const ROOT = resolve(import.meta.dirname, '../..')

/** What the threads of the service load when they have something to do. */
const LOADED = [
  'src/entry/restore-task.ts',
  'db/reads.ts',
  'db/upload.ts',
  'src/integrations/payments/index.ts',
]
/** Threads themselves: here, where nobody speaks to them, they are compiled and fail. */
const THREADS = [
  'src/entry/data-worker.ts',
  'src/entry/read-worker.ts',
  'test/support/drivers/resident-data.ts',
]

const PROGRAM = `
const [loaded, threads] = JSON.parse(process.argv[1])
for (const path of loaded) await import(path)
for (const path of threads) await import(path).catch(() => {})
process.exit(0)
`

/** Before all tests of a run; Vitest calls it. Under Bun, and without such a cache, there is nothing to do. */
export function setup(): void {
  if (process.versions.bun || !process.env.NODE_COMPILE_CACHE) return
  const paths = [LOADED, THREADS].map((list) => list.map((path) => join(ROOT, path)))
  const { status, stderr } = spawnSync(
    process.execPath,
    ['--input-type=module', '--eval', PROGRAM, JSON.stringify(paths)],
    { cwd: ROOT, encoding: 'utf8', timeout: 60_000 },
  )
  if (status !== 0) throw new Error(`the compile cache could not be filled: ${stderr}`)
}
