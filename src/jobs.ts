/** The job runner: single-runner roles held by leases, jobs that never overlap, an end that waits for the job under way. */
import { acquireLease, releaseLease } from '#db/leases.ts'
import { cleanUp } from '#src/domain/cleanup.ts'
import type { Services } from './services.ts'

type Deps = Pick<Services, 'db' | 'clock' | 'log' | 'fatal'>

const LEASE_TTL_MS = 10_000
const LEASE_RENEW_MS = 3000
/** Wall and monotonic clock may differ by this much between two looks before it counts as a jump. */
const CLOCK_JUMP_MS = 30_000

export interface Job {
  name: string
  intervalMs: number
  /** `clockJumped`: the wall clock was set since the job's last run. */
  run(context: { clockJumped: boolean }): Promise<unknown>
}

export interface Runner {
  stop(): Promise<void>
}

/** Runs a job at once and then `intervalMs` after each end, until `stop`. A failure is logged and the next run comes. */
function runJob(s: Deps, job: Job): Runner {
  let stopped = false
  let timer: ReturnType<typeof setTimeout> | undefined
  let under: Promise<void> = Promise.resolve()
  let lastOffset: number | null = null
  const tick = async () => {
    const offset = s.clock.now().getTime() - s.clock.monotonicMs()
    const clockJumped = lastOffset !== null && Math.abs(offset - lastOffset) > CLOCK_JUMP_MS
    lastOffset = offset
    if (clockJumped) s.log.warn('the clock was set', { job: job.name })
    try {
      await job.run({ clockJumped })
    } catch (error) {
      s.fatal(error)
      s.log.error('job failed', { job: job.name, reason: String(error).slice(0, 300) })
    }
    if (!stopped) timer = setTimeout(start, job.intervalMs)
  }
  const start = () => {
    under = tick()
  }
  start()
  return {
    async stop() {
      stopped = true
      clearTimeout(timer)
      await under
    },
  }
}

/**
 * Holds the role `name` for this process: `begin` runs when the lease is won, what it returns is stopped when the lease is
 * lost or given up. Takes over at most 10 s after the death of another owner.
 */
export function holdRole(
  s: Deps,
  name: string,
  owner: string,
  begin: () => Promise<Runner>,
): Runner {
  let running: Runner | null = null
  let renewedAt = 0
  const end = async () => {
    const ended = running
    running = null
    await ended?.stop()
  }
  const lease = runJob(s, {
    name: `lease ${name}`,
    intervalMs: LEASE_RENEW_MS,
    async run() {
      const asked = s.clock.monotonicMs()
      // A process that slept past its lease (SIGSTOP, a suspended machine) must not act on it.
      if (running && asked - renewedAt > LEASE_TTL_MS) await end()
      const fence = await acquireLease(s.db, name, owner, s.clock.now().getTime(), LEASE_TTL_MS)
      if (fence === null) return end()
      renewedAt = asked
      if (running) return
      s.log.debug('role taken', { role: name, fence })
      running = await begin()
    },
  })
  return {
    async stop() {
      await lease.stop()
      await end()
      await releaseLease(s.db, name, owner)
    },
  }
}

/** The scheduler's jobs: the node sync and the cleanup, every `syncIntervalMs`. */
export function startJobs(s: Deps & Pick<Services, 'config' | 'nodeSync'>): Runner {
  const { syncIntervalMs: intervalMs } = s.config
  const runners = [
    runJob(s, {
      name: 'sync',
      intervalMs,
      run: ({ clockJumped }) => s.nodeSync.syncAll({ force: false, remove: !clockJumped }),
    }),
    runJob(s, { name: 'cleanup', intervalMs, run: () => cleanUp(s) }),
  ]
  return {
    async stop() {
      await Promise.all(runners.map((runner) => runner.stop()))
    },
  }
}
