/** A worker thread that says when it is about to load the driver of the database, loads it, and leaves when it is asked to. */
import { createRequire } from 'node:module'
import { type MessagePort, parentPort } from 'node:worker_threads'
import { LEAVE } from '#src/lib/thread.ts'

const port = parentPort as MessagePort
port.on('message', (word) => {
  if (word === LEAVE) port.close()
})
port.postMessage('loading')
const Sqlite = createRequire(import.meta.url)('better-sqlite3')
new Sqlite(':memory:').close()
