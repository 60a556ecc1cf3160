/** The job runner: single-runner roles held by leases, jobs that never overlap, an end that waits for the job under way. */

import { acquireLease, leaseOwner, releaseLease } from '#db/leases.ts'
import { cleanUp } from '#src/domain/installation/cleanup.ts'
import { keepSnapshots } from '#src/domain/installation/snapshots.ts'
import { watchRules } from '#src/domain/lists/rule-watch.ts'
import { watchTemplates } from '#src/domain/lists/templates.ts'
import { readNodesNearLimit } from '#src/domain/nodes/near-limit.ts'
import { cleanRetiredNodes } from '#src/domain/nodes/retired.ts'
import { watchDisk } from '#src/domain/notify/disk-alert.ts'
import { createSweep } from '#src/domain/notify/sending.ts'
import { auditPayments } from '#src/domain/payments/audit.ts'
import { type ReconcilerDeps, reconcilePayments } from '#src/domain/payments/reconcile.ts'
import { remindOwners } from '#src/domain/subscriptions/reminders.ts'
import { resetTrafficPeriods } from '#src/domain/subscriptions/resets.ts'
import { noteFault } from '#src/lib/note-fault.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '#src/lib/time.ts'
import type { Services } from './services.ts'

type Deps = Pick<Services, 'db' | 'clock' | 'log' | 'fatal'>

/** A dead owner is followed at most TTL + RENEW later: within 13 s (docs/scaling.md). */
const LEASE_TTL_MS = 10_000
const LEASE_RENEW_MS = 3000
/** Wall and monotonic clock may differ by this much between two looks before it counts as a jump. */
const CLOCK_JUMP_MS = 30_000

interface Instant {
  wallMs: number
  monotonicMs: number
}

const instant = (s: Pick<Deps, 'clock'>): Instant => ({
  wallMs: s.clock.now().getTime(),
  monotonicMs: s.clock.monotonicMs(),
})

/** How far the wall clock was set between two instants. */
const setBetween = (from: Instant, to: Instant) =>
  to.wallMs - from.wallMs - (to.monotonicMs - from.monotonicMs)

/** What a run may ask. */
interface RunContext {
  clockJumped: boolean
  /** False once the role is lost or the process ends: a run of many portions leaves the rest to the next one. */
  goesOn(): boolean
}

export interface Job {
  name: string
  intervalMs: number
  /** What is left out of the run after the clock was set, for the log. */
  spared?: string
  /** `clockJumped`: the wall clock was set since the job's last run, or before its first one since the process started. */
  run(context: RunContext): Promise<unknown>
}

/** A role that this process holds. */
export interface Hold {
  fence: number
  /** False as soon as the lease may have passed to another process: one that slept past it, or whose clock was set. */
  isValid(): boolean
  /** When the process began to ask for the role. */
  since: Instant
}

export interface Runner {
  /** `handOver`: another process has the role already; what it can go on with is left running. */
  stop(handOver?: boolean): Promise<void>
}

/**
 * Runs a job at once and then `intervalMs` after each end, until `stop`. A failure is logged and the next run comes; while
 * `hold` is not valid, runs are left out.
 */
function runJob(s: Deps, job: Job, hold?: Hold): Runner {
  let stopped = false
  let timer: ReturnType<typeof setTimeout> | undefined
  let under: Promise<void> = Promise.resolve()
  let last = hold?.since ?? instant(s)
  const run = async () => {
    if (hold && !hold.isValid()) return
    const now = instant(s)
    const setMs = setBetween(last, now)
    const clockJumped = Math.abs(setMs) > CLOCK_JUMP_MS
    last = now
    if (clockJumped && job.spared) {
      const by = `${Math.round(setMs / 1000)}s`
      s.log.warn('the clock was set', { job: job.name, by, spared: job.spared })
    }
    if (hold) s.log.debug('job begins', { job: job.name, fence: hold.fence })
    await job.run({ clockJumped, goesOn: () => !stopped && hold?.isValid() !== false })
    if (hold) s.log.debug('job ended', { job: job.name, fence: hold.fence })
  }
  const tick = async () => {
    try {
      await run()
    } catch (error) {
      noteFault(s, 'error', 'job failed', error, { job: job.name })
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
 * Holds the role `role` for this process: `begin` runs when the lease is won, what it returns is stopped when another process
 * has it or it is given up. A lease that can't be renewed for a while — a full disk, a long writer — stops the jobs, which ask
 * `isValid`, but not what serves customers.
 */
export function holdRole(
  s: Deps,
  role: string,
  owner: string,
  begin: (hold: Hold) => Promise<Runner>,
): Runner {
  let running: Runner | null = null
  let held = 0
  let standsBy = false
  const since = instant(s)
  let renewed = since
  const isValid = () => {
    const now = instant(s)
    return (
      now.monotonicMs - renewed.monotonicMs < LEASE_TTL_MS &&
      Math.abs(now.wallMs - renewed.wallMs) < LEASE_TTL_MS
    )
  }
  const end = async (handOver = false) => {
    const ended = running
    running = null
    await ended?.stop(handOver)
  }
  const lease = runJob(s, {
    name: `lease ${role}`,
    intervalMs: LEASE_RENEW_MS,
    async run() {
      const asked = instant(s)
      const fence = await acquireLease(s.db, role, owner, asked.wallMs, LEASE_TTL_MS)
      if (running && fence !== held) {
        s.log.warn('another process took the role over', { role, fence: held })
        await end(true)
      }
      if (fence === null) {
        if (standsBy) return
        standsBy = true
        s.log.info('standing by', { role, owner: await leaseOwner(s.db, role) })
        return
      }
      renewed = asked
      held = fence
      if (running) return
      s.log[standsBy ? 'info' : 'debug']('role taken', { role, fence })
      standsBy = false
      running = await begin({ fence, isValid, since })
    },
  })
  return {
    async stop() {
      await lease.stop()
      await end()
      try {
        await releaseLease(s.db, role, owner)
      } catch (error) {
        noteFault(s, 'warn', 'the role is free only when its lease runs out', error, { role })
      }
    },
  }
}

/** How often is looked whether a snapshot is due; one that failed is tried again then. */
const SNAPSHOT_LOOK_MS = 5 * MINUTE_MS

/** How long an event or a message waits whose process ended before it sent it, and one that is to be tried again. */
const SENDING_LOOK_MS = 5 * SECOND_MS
const DISK_LOOK_MS = 5 * MINUTE_MS
const REMINDER_LOOK_MS = 5 * MINUTE_MS
const RULES_LOOK_MS = MINUTE_MS

/** Counters of nodes are read so often while a client there has little traffic left. */
const QUOTA_LOOK_MS = 15 * SECOND_MS

const BEHIND_LOOK_MS = SECOND_MS
const RETIRED_LOOK_MS = 5 * SECOND_MS

/** Tries nodes that are behind again. For two passes after the clock was set nothing is removed, as these spare it too. */
function createRetries(s: Pick<Services, 'clock' | 'config' | 'nodeSync'>): Job['run'] {
  let sparedUntilMs = Number.NEGATIVE_INFINITY
  return async ({ clockJumped }) => {
    const now = s.clock.monotonicMs()
    if (clockJumped) sparedUntilMs = now + 2 * s.config.syncIntervalMs
    s.nodeSync.retryBehind({ remove: now >= sparedUntilMs })
  }
}

/** Once a day of what is asked for oftener; until `work` gives true it is done each time. */
function daily(s: Pick<Deps, 'clock'>, work: () => Promise<boolean>): () => Promise<void> {
  let doneMs = Number.NEGATIVE_INFINITY
  return async () => {
    const startedMs = s.clock.monotonicMs()
    if (startedMs - doneMs >= DAY_MS && (await work())) doneMs = startedMs
  }
}

/** The scheduler's jobs: the node sync and the cleanup, every `syncIntervalMs`; nodes behind or retired, periods of traffic, nodes with somebody near their quota, snapshots, what waits to be sent, reminders, the disk, payments. */
export function startJobs(
  s: Deps &
    Pick<
      Services,
      | 'config'
      | 'nodeSync'
      | 'cores'
      | 'instanceId'
      | 'snapshots'
      | 'nudge'
      | 'freeDiskShare'
      | 'ruleFiles'
    > &
    ReconcilerDeps,
  hold: Hold,
): Runner {
  const { syncIntervalMs: intervalMs } = s.config
  const jobs: Job[] = [
    {
      name: 'sync',
      intervalMs,
      spared: 'removing clients',
      // Not waited for: a node that is slow would put off the next look at all others.
      run: async ({ clockJumped }) => {
        const pass = { force: false, remove: !clockJumped }
        s.background.run('sync', () => s.nodeSync.syncAll(pass))
      },
    },
    {
      name: 'nodes behind',
      intervalMs: Math.min(BEHIND_LOOK_MS, intervalMs),
      run: createRetries(s),
    },
    { name: 'retired nodes', intervalMs: RETIRED_LOOK_MS, run: () => cleanRetiredNodes(s) },
    {
      name: 'cleanup',
      intervalMs,
      spared: 'deleting what is old',
      run: async ({ clockJumped }) => {
        if (!clockJumped) await cleanUp(s)
      },
    },
    {
      name: 'snapshots',
      intervalMs: SNAPSHOT_LOOK_MS,
      run: ({ clockJumped }) => {
        const runningMs = s.clock.monotonicMs() - hold.since.monotonicMs
        return keepSnapshots(s, { clockJumped, runningMs })
      },
    },
    { name: 'sending', intervalMs: SENDING_LOOK_MS, run: createSweep(s) },
    {
      name: 'reminders',
      intervalMs: REMINDER_LOOK_MS,
      spared: 'reminding of what ends',
      run: async ({ clockJumped }) => {
        if (!clockJumped) await remindOwners(s)
      },
    },
    {
      name: 'traffic periods',
      intervalMs: MINUTE_MS,
      spared: 'beginning new periods of traffic',
      run: async ({ clockJumped, goesOn }) => {
        if (!clockJumped) await resetTrafficPeriods(s, goesOn)
      },
    },
    { name: 'quotas', intervalMs: QUOTA_LOOK_MS, run: () => readNodesNearLimit(s) },
    { name: 'disk', intervalMs: DISK_LOOK_MS, run: () => watchDisk(s) },
    { name: 'rule files', intervalMs: RULES_LOOK_MS, run: () => watchRules(s) },
    { name: 'list templates', intervalMs: RULES_LOOK_MS, run: () => watchTemplates(s) },
    { name: 'payments', intervalMs: MINUTE_MS, run: () => reconcilePayments(s) },
    { name: 'payment audit', intervalMs: HOUR_MS, run: daily(s, () => auditPayments(s)) },
  ]
  const runners = jobs.map((job) => runJob(s, job, hold))
  return {
    async stop() {
      await Promise.all(runners.map((runner) => runner.stop()))
    },
  }
}
