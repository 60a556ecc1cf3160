/** Part `idle`: how soon `src/main.ts` answers, and what it holds while nobody asks. */
import { type Figure, median } from './figures.ts'
import type { Options } from './options.ts'
import { type Runtime, startServer } from './processes.ts'
import { serviceEnvironment } from './sub.ts'

const SETTLE_MS = 5000
const LIMIT_MB = { node: 130, bun: 80 }

async function startOnce(runtime: Runtime, folder: string, settleMs: number) {
  const startedAt = performance.now()
  const server = await startServer(runtime, 'src/main.ts', serviceEnvironment(folder))
  const response = await fetch(`http://127.0.0.1:${server.port}/healthz`)
  await response.text()
  const startMs = performance.now() - startedAt
  await new Promise((resolve) => setTimeout(resolve, settleMs))
  const residentMb = server.residentMb()
  await server.stop()
  return { startMs, residentMb }
}

/** Part `idle`. The first start makes the database and is not counted. */
export async function measureIdle(
  options: Options,
  runtime: Runtime,
  folder: string,
): Promise<Figure[]> {
  await startOnce(runtime, folder, 0)
  const starts: { startMs: number; residentMb: number }[] = []
  for (let run = 0; run < options.runs; run++) {
    starts.push(await startOnce(runtime, folder, SETTLE_MS))
  }
  const own = { part: 'idle', runtime: runtime.name }
  return [
    {
      ...{ ...own, name: 'memory', unit: 'MB', atMost: LIMIT_MB[runtime.name] },
      value: median(starts.map((start) => start.residentMb)),
    },
    {
      ...{ ...own, name: 'start to the first /healthz', unit: 'ms', atMost: 1000 },
      value: median(starts.map((start) => start.startMs)),
    },
  ]
}
