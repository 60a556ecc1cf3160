/** A worker thread that ends when it is asked to. */
import { Worker, type WorkerOptions } from 'node:worker_threads'

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

const running = new Set<Worker>()

/**
 * Ends the process. Where a thread is still at work, of a restore or a long read, as SIGTERM ends one that does not hear it: an exit
 * would wait until SQLite has read to its end (Node).
 */
export function endProcess(code: number): never {
  if (running.size > 0) {
    process.removeAllListeners('SIGTERM')
    process.kill(process.pid, 'SIGTERM')
  }
  process.exit(code)
}

export function startThread(script: string, options: WorkerOptions): Thread {
  const worker = new Worker(script, options)
  running.add(worker)
  worker.once('exit', () => running.delete(worker))
  const ended = new Promise<void>((resolve) => {
    worker.once('exit', () => resolve())
  })
  return {
    worker,
    leave() {
      worker.postMessage(LEAVE)
      return ended
    },
  }
}
