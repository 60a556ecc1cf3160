/** Part `sync`: one node with many clients, the real node program and the real Xray. */
import type { Figure } from './figures.ts'
import type { Options } from './options.ts'
import { type Runtime, runScript } from './processes.ts'
import { serviceEnvironment } from './sub.ts'

/** What sync-node.ts gives; null when no Xray was found. */
export interface SyncTimes {
  addAllMs: number
  tickCpuMs: number
  tickMs: number
  exchangeBytes: number
  grantedMs: number
}

/** Where Xray is found. */
export const CORE_SETTINGS = ['XRAY_BIN', 'CORES_DIR']

export async function measureSync(
  options: Options,
  runtime: Runtime,
  folder: string,
): Promise<Figure[]> {
  const env: Record<string, string> = { ...serviceEnvironment(folder), LOCAL_NODE: 'on' }
  for (const name of CORE_SETTINGS) if (process.env[name]) env[name] = process.env[name]
  const input = { clients: options.clients }
  const times = await runScript<SyncTimes | null>(runtime, 'scripts/bench/sync-node.ts', input, env)
  if (!times) {
    console.error('bench: no Xray was found (XRAY_BIN, CORES_DIR, PATH): sync is left out')
    return []
  }
  const own = { part: 'sync', runtime: runtime.name }
  return [
    { ...own, name: `${options.clients} adds`, value: times.addAllMs, unit: 'ms', atMost: 6000 },
    {
      ...{ ...own, name: 'tick without a change: own CPU', unit: 'ms', atMost: 25 },
      value: times.tickCpuMs,
    },
    {
      ...{ ...own, name: 'tick without a change: bytes exchanged', unit: 'bytes', atMost: 1024 },
      value: times.exchangeBytes,
    },
    { ...own, name: 'tick without a change: time', value: times.tickMs, unit: 'ms' },
    {
      ...{ ...own, name: 'client in the running core after its grant', unit: 'ms', atMost: 300 },
      value: times.grantedMs,
    },
  ]
}
