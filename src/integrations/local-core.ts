/** The Xray of this machine: found, started, watched, started again, and adopted when a former process left it running. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import {
  accessSync,
  constants,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  writeFileSync,
} from 'node:fs'
import { connect } from 'node:net'
import { delimiter, join } from 'node:path'
import type { Config } from '#src/config.ts'
import { sha256Hex } from '#src/lib/crypto.ts'
import type { Log } from '#src/lib/log.ts'

const RESTART_FIRST_MS = 200
const RESTART_LONGEST_MS = 10_000
/** A core that ran this long did not fail at its start. */
const STABLE_MS = 10_000
const STOP_MS = 5000

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}

/** The Xray binary: XRAY_BIN, then CORES_DIR/<arch>, then CORES_DIR itself, then PATH. Null when there is none. */
export function findXray(
  config: Pick<Config, 'xrayBin' | 'coresDir'>,
  path = process.env.PATH ?? '',
): string | null {
  const arch = process.arch === 'arm64' ? 'arm64' : 'amd64'
  const candidates = [
    config.xrayBin,
    join(config.coresDir, arch, 'xray'),
    join(config.coresDir, 'xray'),
    ...path.split(delimiter).map((directory) => join(directory, 'xray')),
  ]
  return candidates.find((candidate) => candidate !== '' && isExecutable(candidate)) ?? null
}

export interface LocalCorePaths {
  directory: string
  socket: string
}

/** Where the node program of this machine keeps its state; the socket's path must fit into 107 bytes (unix(7)). */
export function localCorePaths(dataDir: string): LocalCorePaths {
  const directory = join(dataDir, 'node')
  const socket = join(directory, 'api.sock')
  return {
    directory,
    socket:
      Buffer.byteLength(socket) <= 100
        ? socket
        : `/tmp/subpanel-${sha256Hex(directory).slice(0, 16)}.sock`,
  }
}

/** Writes the node program's settings for a core that this process runs. */
export function prepareLocalNode(paths: LocalCorePaths, xray: string | null): void {
  mkdirSync(paths.directory, { recursive: true, mode: 0o700 })
  const pidFile = join(paths.directory, 'core.pid')
  const lines = [
    `XRAY_BIN=${xray ?? 'xray'}`,
    `API_SOCK=${paths.socket}`,
    `CORE_RESTART=kill -TERM "$(cat '${pidFile.replaceAll("'", `'\\''`)}')"`,
    '',
  ]
  const file = join(paths.directory, 'node.conf')
  writeFileSync(`${file}.new`, lines.join('\n'), { mode: 0o600 })
  renameSync(`${file}.new`, file)
}

function answers(socket: string): Promise<boolean> {
  return new Promise((resolve) => {
    const client = connect({ path: socket })
    client.on('connect', () => {
      client.destroy()
      resolve(true)
    })
    client.on('error', () => resolve(false))
  })
}

/** Whether a process lives; one that ended and waits to be reaped does not. */
function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))
  } catch (error) {
    // Without /proc the signal's word counts.
    return (error as NodeJS.ErrnoException).code === 'ENOENT' && !existsSync('/proc/self')
  }
}

const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms))

export interface LocalCoreOptions {
  config: Pick<Config, 'xrayBin' | 'coresDir'>
  paths: LocalCorePaths
  /** The node program, for `prestart`. */
  program: string
  log: Log
  /** Writes the core's configuration; called once, before the first start. */
  prepare: () => Promise<unknown>
}

/** How often a machine without Xray is looked at again. */
const LOOK_AGAIN_MS = 5000

/**
 * Runs the core until `stop`. A core that died is started again at once, one that fails at its start with growing pauses. A
 * core that answers on the socket already — left by a process that was killed — is watched instead of started twice.
 */
export function superviseCore({ config, paths, program, log, prepare }: LocalCoreOptions) {
  const pidFile = join(paths.directory, 'core.pid')
  const configFile = join(paths.directory, 'config.json')
  let stopping = false
  let child: ChildProcess | null = null
  let adopted: number | null = null
  let wake: () => void = () => {}

  const sleep = (ms: number) =>
    new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, stopping ? 0 : ms)
      wake = () => {
        clearTimeout(timer)
        resolve()
      }
    })

  const runOnce = (xray: string) =>
    new Promise<void>((resolve) => {
      // Removes an API socket on which nobody answers: with it there, the core can't bind and ends.
      spawnSync('bash', [program, 'prestart'], {
        env: { PATH: process.env.PATH, SUBPANEL_NODE_DIR: paths.directory },
        timeout: 5000,
      })
      const core = spawn(xray, ['run', '-c', configFile], { stdio: ['ignore', 'pipe', 'pipe'] })
      child = core
      if (core.pid) writeFileSync(pidFile, `${core.pid}\n`, { mode: 0o600 })
      const onLine = (chunk: Buffer) => {
        for (const line of chunk.toString('utf8').split('\n')) {
          if (/error|fail/i.test(line)) log.warn('core', { line: line.trim().slice(0, 300) })
        }
      }
      core.stdout?.on('data', onLine)
      core.stderr?.on('data', onLine)
      core.on('error', (error) =>
        log.error('the core could not be started', { reason: error.message }),
      )
      core.on('close', (code, signal) => {
        child = null
        if (!stopping) log.info('the core ended', { code, signal })
        resolve()
      })
    })

  const watchAdopted = async (pid: number) => {
    adopted = pid
    log.info('watching the core that is running already', { pid })
    while (!stopping && isRunning(pid)) await pause(500)
    adopted = null
  }

  /** The pid of a core that a former process started with this configuration, 0 when there is none. */
  const readPid = () => {
    try {
      const pid = Number(readFileSync(pidFile, 'utf8'))
      return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(configFile) ? pid : 0
    } catch {
      return 0
    }
  }

  const waitForXray = async (): Promise<string | null> => {
    let xray = findXray(config)
    if (!xray) log.warn('no Xray found: everything but proxying works; `npm run cores` brings it')
    while (!xray && !stopping) {
      await sleep(LOOK_AGAIN_MS)
      xray = findXray(config)
    }
    return xray
  }

  /** One life of the core, adopted or started here; resolves when it is over. */
  const live = async (xray: string) => {
    const pid = readPid()
    if (pid > 0 && (await answers(paths.socket))) await watchAdopted(pid)
    else if (existsSync(configFile)) await runOnce(xray)
  }

  const loop = async () => {
    prepareLocalNode(paths, findXray(config))
    await prepare()
    const xray = await waitForXray()
    if (!xray) return
    prepareLocalNode(paths, xray)
    let delay = 0
    while (!stopping) {
      const started = performance.now()
      await live(xray)
      const stable = performance.now() - started > STABLE_MS
      if (!stopping) await sleep(stable ? 0 : delay)
      delay = stable ? 0 : Math.min(Math.max(delay * 2, RESTART_FIRST_MS), RESTART_LONGEST_MS)
    }
  }
  const done = loop().catch((error: unknown) =>
    log.error('the local core is not watched', { reason: String(error) }),
  )

  return {
    /** Ends the core and the watch: SIGTERM, then SIGKILL after 5 s. */
    async stop(): Promise<void> {
      stopping = true
      wake()
      const pid = child?.pid ?? adopted
      if (pid) {
        process.kill(pid, 'SIGTERM')
        const timer = setTimeout(() => isRunning(pid) && process.kill(pid, 'SIGKILL'), STOP_MS)
        while (isRunning(pid)) await pause(20)
        clearTimeout(timer)
      }
      await done
    },
  }
}
