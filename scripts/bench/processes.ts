/** The runtimes under test, and their processes: started, asked, and ended with this one. */
import { type ChildProcess, spawn } from 'node:child_process'
import { accessSync, constants, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'

export type RuntimeName = 'node' | 'bun'

export interface Runtime {
  name: RuntimeName
  program: string
}

export const ROOT = join(import.meta.dirname, '..', '..')

export const isExecutable = (path: string): boolean => {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}

/** The first executable of this name in PATH. */
export function inPath(name: string): string | null {
  const folders = (process.env.PATH ?? '').split(delimiter)
  return folders.map((folder) => join(folder, name)).find(isExecutable) ?? null
}

/** Node is the one that runs the project; Bun is BUN_BIN, else found in PATH. A missing one is left out. */
export function findRuntimes(wanted: RuntimeName[]): Runtime[] {
  const programs = {
    node: 'Bun' in globalThis ? inPath('node') : process.execPath,
    bun: process.env.BUN_BIN ?? inPath('bun'),
  }
  return wanted.flatMap((name) => {
    const program = programs[name]
    if (program !== null) return [{ name, program }]
    console.error(`bench: ${name} was not found and is left out`)
    return []
  })
}

const children = new Set<ChildProcess>()
process.on('exit', () => {
  for (const child of children) child.kill('SIGKILL')
})

/** What a service of the benchmark reads of the environment, and nothing of the caller's settings. */
export const environment = (own: Record<string, string>): Record<string, string> => ({
  PATH: process.env.PATH ?? '',
  HOME: process.env.HOME ?? '',
  // As `npm start` and the unit have it: from the second start on Node strips no types, and its young objects have little room.
  NODE_COMPILE_CACHE: join(tmpdir(), 'subpanel-bench', 'compile-cache'),
  NODE_OPTIONS: '--max-semi-space-size=8',
  ...own,
})

function start(program: string, args: string[], env: Record<string, string>): ChildProcess {
  const child = spawn(program, args, { cwd: ROOT, env, stdio: ['ignore', 'pipe', 'pipe'] })
  children.add(child)
  child.on('exit', () => children.delete(child))
  return child
}

const ended = (child: ChildProcess): Promise<void> =>
  new Promise((resolve) => {
    if (child.exitCode !== null || child.signalCode !== null) resolve()
    else child.once('exit', () => resolve())
  })

/** Milliseconds of CPU that a process, its children of now and those that have ended have used until now. */
export const familyCpuMs = (pid: number): number =>
  familyOf(pid).reduce((sum, one) => sum + cpuMs(one), cpuMs(pid, [13, 14]))

export interface Server {
  port: number
  pid: number
  /** Milliseconds of CPU that the process has used until now. */
  cpuMs(): number
  /** MB of memory that the process holds now. */
  residentMb(): number
  /** The first of these of it and its children together. */
  familyCpuMs(): number
  /** MB of memory that it and each of its children hold now, their parts of what they share. */
  familyMb(): number[]
  stop(): Promise<void>
}

const TICK_MS = 10
const STOP_MS = 15_000

/** Fields of /proc/PID/stat from the third on (proc(5)): utime and stime are 11 and 12, those of children that have ended 13 and 14. */
function cpuMs(pid: number, fields: number[] = [11, 12]): number {
  const text = readFileSync(`/proc/${pid}/stat`, 'utf8')
  const values = text.slice(text.lastIndexOf(')') + 2).split(' ')
  return fields.reduce((sum, field) => sum + Number(values[field]) * TICK_MS, 0)
}

function residentMb(pid: number): number {
  const kilobytes = /^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
  return Number(kilobytes) / 1024
}

function proportionalMb(pid: number): number {
  const kilobytes = /^Pss:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8'))?.[1]
  return Number(kilobytes) / 1024
}

function familyOf(pid: number): number[] {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8')
  return [pid, ...children.split(' ').filter(Boolean).map(Number)]
}

/** Starts a server script and waits for its line `listening … port=N`. */
export function startServer(
  runtime: Runtime,
  script: string,
  env: Record<string, string>,
): Promise<Server> {
  const child = start(runtime.program, [script], environment(env))
  let said = ''
  const stop = async () => {
    const timer = setTimeout(() => child.kill('SIGKILL'), STOP_MS)
    child.kill('SIGTERM')
    await ended(child)
    clearTimeout(timer)
  }
  return new Promise((resolve, reject) => {
    child.stdout?.resume()
    child.stderr?.on('data', (chunk: Buffer) => {
      said = (said + chunk.toString('utf8')).slice(-4000)
      const port = / listening .*port=(\d+)/.exec(said)?.[1]
      const pid = child.pid
      if (port && pid) {
        resolve({
          port: Number(port),
          pid,
          cpuMs: () => cpuMs(pid),
          residentMb: () => residentMb(pid),
          familyCpuMs: () => familyOf(pid).reduce((sum, one) => sum + cpuMs(one), 0),
          familyMb: () => familyOf(pid).map(proportionalMb),
          stop,
        })
      }
    })
    child.on('error', reject)
    child.on('exit', (code) => reject(new Error(`${script} ended with ${code}: ${said}`)))
  })
}

/** Runs a script to its end and gives the JSON that it printed. */
export async function runScript<T>(
  runtime: Runtime,
  script: string,
  input: unknown,
  env: Record<string, string> = {},
): Promise<T> {
  const child = start(runtime.program, [script, JSON.stringify(input)], environment(env))
  let output = ''
  let complaint = ''
  child.stdout?.on('data', (chunk: Buffer) => {
    output += chunk.toString('utf8')
  })
  child.stderr?.on('data', (chunk: Buffer) => {
    complaint = (complaint + chunk.toString('utf8')).slice(-4000)
  })
  await new Promise<void>((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (code) =>
      code === 0 ? resolve() : reject(new Error(`${script} ended with ${code}: ${complaint}`)),
    )
  })
  return JSON.parse(output) as T
}
