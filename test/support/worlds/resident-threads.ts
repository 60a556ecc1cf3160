/**
 * Threads of data files that stay, for worlds that say nothing else: hundreds of tests restore, and a thread's start with all that it loads takes
 * three times as long as what it does then. Real ones of a task each are those of unit/installation/data-files, contract/installation/backup and
 * of every process of e2e.
 */
import { EventEmitter } from 'node:events'
import { join } from 'node:path'
import type { DataMessage, DataTask, DataThread } from '#src/integrations/files/data-files.ts'
import { LEAVE, startThread, type Thread } from '#src/lib/thread.ts'

/** Said behind the last word of a task. */
export const FREE = 'free'

const DRIVER = join(import.meta.dirname, '..', 'drivers', 'resident-data.ts')

const free: Thread[] = []

/** Gives a task to a thread that has none. */
export function residentThread(task: DataTask): DataThread {
  const thread = free.pop() ?? startThread(DRIVER, {})
  const { worker } = thread
  const heard = new EventEmitter()
  let isOver = false
  const ended = new Promise<void>((resolve) => {
    const end = () => {
      isOver = true
      worker.off('message', hear).off('error', fail).off('exit', end)
      heard.emit('exit')
      resolve()
    }
    const hear = (message: DataMessage | typeof FREE) => {
      if (message !== FREE) return heard.emit('message', message)
      end()
      worker.unref()
      free.push(thread)
    }
    const fail = (error: unknown) => heard.emit('error', error)
    worker.on('message', hear).on('error', fail).on('exit', end)
  })
  // Behind its end it may have another task.
  const postMessage = (word: unknown) => {
    if (!isOver) worker.postMessage(word)
  }
  worker.ref()
  worker.postMessage(task)
  return {
    worker: Object.assign(heard, { postMessage }) as unknown as DataThread['worker'],
    leave() {
      postMessage(LEAVE)
      return ended
    },
  }
}
