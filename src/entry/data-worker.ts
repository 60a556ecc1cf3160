/** The worker thread of one task of data-task.ts. */
import { constants, setPriority } from 'node:os'
import { type MessagePort, parentPort, workerData } from 'node:worker_threads'
import type { DataTask } from '../integrations/files/data-files.ts'
import { work } from './data-task.ts'

const port = parentPort as MessagePort
const task = workerData as DataTask

/**
 * Lets requests go first. Linux has a priority for each thread; elsewhere it would be the process's. Not while rows are replaced:
 * then others wait for this thread.
 */
function stepBack(): void {
  if (process.platform === 'linux' && task.kind !== 'replace')
    setPriority(0, constants.priority.PRIORITY_LOW)
}

stepBack()
await work(task, port)
port.close()
