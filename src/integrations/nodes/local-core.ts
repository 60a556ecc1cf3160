/** The Xray of this machine: started, watched, started again, and adopted when a former process left it running. */
import { type ChildProcess, spawn } from 'node:child_process'
import {
  closeSync,
  existsSync,
  openSync,
  readFileSync,
  renameSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import type { Config } from '#src/config.ts'
import type { Log } from '#src/lib/log.ts'
import { pause } from '#src/lib/pause.ts'
import { findXray, type LocalCorePaths, prepareLocalNode } from './local-node.ts'
import { nodeEnvironment } from './shell.ts'

const RESTART_FIRST_MS = 200
const RESTART_LONGEST_MS = 10_000
/** A core that ran this long did not fail at its start. */
const STABLE_MS = 10_000
const STOP_MS = 5000
const PRESTART_MS = 5000
/** How often a machine without Xray is looked at again. */
const LOOK_AGAIN_MS = 5000
const LOG_CHECK_MS = 60_000
const LOG_MAX_BYTES = 10 * 1024 * 1024

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

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name)
  } catch {
    // It ended by itself meanwhile.
  }
}

export interface LocalCoreOptions {
  config: Pick<Config, 'xrayBin' | 'coresDir' | 'searchPath'>
  paths: LocalCorePaths
  /** The node program, for `prestart`. */
  program: string
  log: Log
  /** Puts configuration and clients right: called before the first start, and when a core has come up. */
  prepare: () => Promise<unknown>
}

/** Ends when the child does; a child that takes longer than `timeoutMs` is killed. */
function runToEnd(
  command: string,
  args: string[],
  env: NodeJS.ProcessEnv,
  timeoutMs: number,
): Promise<void> {
  return new Promise((resolve) => {
    const child = spawn(command, args, {
      env,
      stdio: 'ignore',
      timeout: timeoutMs,
      killSignal: 'SIGKILL',
    })
    child.on('error', () => resolve())
    child.on('close', () => resolve())
  })
}

/** The last line that a core wrote, which says why it ended. */
function lastLine(file: string): string {
  try {
    return readFileSync(file, 'utf8').trimEnd().split('\n').at(-1)?.slice(0, 300) ?? ''
  } catch {
    return ''
  }
}

/** The core has this process's rights: of root there is no lesser user as whom the node program could test what it is given. */
function warnOfRoot(log: Log): void {
  if (process.getuid?.() !== 0) return
  log.warn(
    'the core runs as root, and its configurations are put in place untested: run Subpanel as a user of its own (docs/deploying.md)',
  )
}

/**
 * Runs the core until `stop`. A core that died is started again at once, one that fails at its start with growing pauses. A
 * core that answers on the socket already — left by a process that was killed — is watched instead of started twice.
 */
export function superviseCore({ config, paths, program, log, prepare }: LocalCoreOptions) {
  const { pidFile } = paths
  const configFile = join(paths.directory, 'config.json')
  let stopping = false
  let child: ChildProcess | null = null
  let adopted: number | null = null
  let wake: () => void = () => {}
  let leave: () => void = () => {}
  const leaving = new Promise<void>((resolve) => {
    leave = resolve
  })
  const logFile = join(paths.directory, 'core.log')
  const trimLog = setInterval(() => {
    if (existsSync(logFile) && statSync(logFile).size > LOG_MAX_BYTES) truncateSync(logFile)
  }, LOG_CHECK_MS)
  trimLog.unref()

  const sleep = (ms: number) =>
    new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, stopping ? 0 : ms)
      wake = () => {
        clearTimeout(timer)
        resolve()
      }
    })

  /** A failure is told by the sync itself; the files of the last success serve meanwhile. */
  const settle = () =>
    prepare().catch((error: unknown) => log.warn('sync failed', { reason: String(error) }))

  /** Puts the core right as soon as it answers, and tells the database that it is there. */
  const comeUp = async (core: ChildProcess) => {
    while (child === core && !(await answers(paths.socket))) await pause(100)
    if (child !== core) return
    log.info('the core is up', { pid: core.pid })
    await settle()
  }

  const runOnce = async (xray: string) => {
    // Removes an API socket on which nobody answers: with it there, the core can't bind and ends.
    const env = nodeEnvironment(paths, config.searchPath)
    await runToEnd('bash', [program, 'prestart'], env, PRESTART_MS)
    if (stopping) return
    if (existsSync(logFile)) renameSync(logFile, `${logFile}.1`)
    // A file and no pipe: a core that outlives this process would die of a broken one.
    const output = openSync(logFile, 'a', 0o600)
    // Not this process's environment: secrets stand there, and the core meets strangers.
    const core = spawn(xray, ['run', '-c', configFile], { env, stdio: ['ignore', output, output] })
    closeSync(output)
    child = core
    if (core.pid) writeFileSync(pidFile, `${core.pid}\n`, { mode: 0o600 })
    const over = new Promise<void>((resolve) => {
      core.on('error', (error) => {
        log.error('the core could not be started', { reason: error.message })
        resolve()
      })
      core.on('close', (code, signal) => {
        if (stopping) return resolve()
        const asked = code === 0 || signal === 'SIGTERM'
        if (asked) log.info('the core is started anew')
        else log.warn('the core ended', { code, signal, last: lastLine(logFile) })
        resolve()
      })
    })
    void comeUp(core)
    await Promise.race([over, leaving])
    child = null
  }

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
    if (!xray) {
      log.warn('no Xray found: everything but proxying works; `npm run cores` brings it', {
        looked_for: config.xrayBin || config.coresDir,
      })
    }
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
    warnOfRoot(log)
    prepareLocalNode(paths, findXray(config))
    await settle()
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
    /** Ends the watch, and the core unless another process watches it now: SIGTERM, then SIGKILL after 5 s. */
    async stop(handOver = false): Promise<void> {
      stopping = true
      if (handOver) {
        child?.unref()
        child = null
        adopted = null
        leave()
      }
      clearInterval(trimLog)
      wake()
      const pid = child?.pid ?? adopted
      if (pid) {
        signal(pid, 'SIGTERM')
        const timer = setTimeout(() => signal(pid, 'SIGKILL'), STOP_MS)
        while (isRunning(pid)) await pause(20)
        clearTimeout(timer)
      }
      await done
    },
  }
}
