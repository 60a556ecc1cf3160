/** Does one task of data files after another, in a thread whose modules are loaded once. */
import { type MessagePort, parentPort } from 'node:worker_threads'
import { work } from '#src/entry/data-task.ts'
import type { DataTask, DataWord } from '#src/integrations/files/data-files.ts'
import { FREE } from '#test/support/worlds/resident-threads.ts'

const port = parentPort as MessagePort
port.on('message', async (word: DataTask | DataWord) => {
  // What is said to a task it hears by itself, as long as there is one.
  if (typeof word === 'string') return
  await work(word, port)
  port.postMessage(FREE)
})
