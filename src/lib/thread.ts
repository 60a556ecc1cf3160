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

export function startThread(script: string, options: WorkerOptions): Thread {
  const worker = new Worker(script, options)
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
