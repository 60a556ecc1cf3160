/** The worker thread of long reads (db/reads.ts): its own connection, which can't write; one question after another. */
import { constants, setPriority } from 'node:os'
import { type MessagePort, parentPort, workerData } from 'node:worker_threads'
import type { Database } from '#db/engine/database.ts'
import { tellingOf } from '#db/engine/failures.ts'
import { openForReading } from '#db/engine/sqlite/open.ts'
import { read } from '#db/reads.ts'
import type { ReadAnswer, ReadQuestion, ReadWord } from '../integrations/read-thread.ts'
import { LEAVE } from '../lib/thread.ts'

const port = parentPort as MessagePort
let db: Database | null = null

// Lets requests go first. Linux has a priority for each thread; elsewhere it would be the process's.
if (process.platform === 'linux') setPriority(0, constants.priority.PRIORITY_BELOW_NORMAL)

async function answer({ name, input }: ReadQuestion): Promise<ReadAnswer> {
  try {
    // Here, and not before the first question: a damaged file is then told with its code.
    db ??= openForReading(workerData as string)
    return { type: 'result', result: await read(db, name, ...input) }
  } catch (error) {
    return { type: 'failed', ...tellingOf(error) }
  }
}

async function hear(word: ReadWord): Promise<void> {
  if (word !== LEAVE) port.postMessage(await answer(word))
  else {
    db?.close()
    port.close()
  }
}

// One after another: Bun delivers a word while the one before it is still being answered.
let heard = Promise.resolve()
port.on('message', (word: ReadWord) => {
  heard = heard.then(() => hear(word))
})
