/** A worker thread that ends when it is asked to. */
import { Worker, type WorkerOptions } from 'node:worker_threads'
import { within } from './pause.ts'

/** The word that ends a thread: it closes what it has open, and its port. */
export const LEAVE = 'leave'

export interface Thread {
  worker: Worker
  /**
   * Asks the thread to end, and resolves when it has. Never by force (`terminate`): where that meets better-sqlite3 while it is
   * being loaded, the whole process is aborted (13.2 on Node 24).
   */
  leave(): Promise<void>
}

/** Threads know files of SQLite alone, whatever database the process has, and whatever its env file says by now (db/engine/engine.ts). */
const OF_FILES = { DATABASE_URL: 'file:' }

/** The ends of threads that have not come yet. */
const running = new Set<Promise<void>>()

/** How long a thread that has said its last word may take to be gone. */
const GOING_MS = 1000

/**
 * Ends the process. Where a thread is still at work after `graceMs`, of a restore or a long read, as SIGTERM ends one that does not
 * hear it: Node's exit would wait until SQLite has read to its end. Bun's waits for no thread, and hears of some ends late.
 */
export async function endProcess(code: number, graceMs = GOING_MS): Promise<never> {
  if (!process.versions.bun && !(await within(graceMs, Promise.all(running)))) {
    process.removeAllListeners('SIGTERM')
    process.kill(process.pid, 'SIGTERM')
  }
  process.exit(code)
}

export function startThread(script: string, options: WorkerOptions): Thread {
  const worker = new Worker(script, { env: { ...process.env, ...OF_FILES }, ...options })
  const ended = new Promise<void>((resolve) => {
    worker.once('exit', () => resolve())
  }).finally(() => running.delete(ended))
  running.add(ended)
  return {
    worker,
    leave() {
      worker.postMessage(LEAVE)
      return ended
    },
  }
}
