/**
 * The worker thread for what takes long and must not stand in the way of requests: copying the whole database, packing it, and a
 * restore (src/entry/restore-task.ts, loaded where it is needed). One task per thread, with database connections of its own.
 */
import { closeSync, fsyncSync, openSync, renameSync, writeFileSync } from 'node:fs'
import { constants, setPriority } from 'node:os'
import { dirname, join } from 'node:path'
import { type MessagePort, parentPort, workerData } from 'node:worker_threads'
import { tellingOf } from '#db/engine/failures.ts'
import { storeAt } from '#db/engine/open.ts'
import { withConnection } from '#db/engine/sqlite/snapshot.ts'
import { sqliteStore } from '#db/engine/sqlite/store.ts'
import { packArchive } from '../integrations/files/archive.ts'
import type { DataMessage, DataTask, DataWord, TaskOf } from '../integrations/files/data-files.ts'
import { presentEnv } from '../integrations/files/env-text.ts'
import { syncFolder } from '../lib/atomic-file.ts'
import { fromPending, withoutServer } from '../lib/pending-env.ts'
import { LEAVE } from '../lib/thread.ts'

const port = parentPort as MessagePort
const say = (message: DataMessage, transfer: ArrayBuffer[] = []) =>
  port.postMessage(message, transfer)

/** An archive of the database as it is now. */
async function packNow(task: TaskOf<'pack' | 'pack-into'>): Promise<Generator<Uint8Array>> {
  const database = join(task.folder, 'panel.db')
  await (await storeAt(task.store)).copyInto(database)
  const pending = await sqliteStore(database).read('pending_env')
  const { envFile, store } = task
  const env = presentEnv(envFile, fromPending({ envFile, ...store }, pending))
  return packArchive({ database, env: env && withoutServer(env) }, task.at, task.key)
}

/** Says a chunk at each `next`, until there are no more or it is to leave. */
async function pack(task: TaskOf<'pack'>): Promise<void> {
  const archive = await packNow(task)
  return new Promise((resolve, reject) => {
    const hear = (word: DataWord) => {
      const { value, done } = word === LEAVE ? archive.return(undefined) : archive.next()
      if (done) return resolve()
      const bytes = new Uint8Array(value)
      say({ type: 'chunk', bytes }, [bytes.buffer])
    }
    port.on('message', (word: DataWord) => {
      try {
        hear(word)
      } catch (error) {
        reject(error)
      }
    })
    say({ type: 'ready' })
  })
}

async function packInto(task: TaskOf<'pack-into'>): Promise<DataMessage> {
  const temporary = join(task.folder, 'archive')
  const file = openSync(temporary, 'wx', 0o600)
  try {
    for (const chunk of await packNow(task)) writeFileSync(file, chunk)
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
  renameSync(temporary, task.path)
  syncFolder(dirname(task.path))
  if (!task.check) return { type: 'done', result: null }
  // Loaded where it is needed: most tasks know nothing of the tables.
  const { findWrongValue } = await import('#db/upload.ts')
  const { GATEWAY_IDS } = await import('../integrations/payments/index.ts')
  const result = withConnection(join(task.folder, 'panel.db'), (raw) =>
    findWrongValue(raw, GATEWAY_IDS),
  )
  return { type: 'done', result }
}

/** A task's last word. */
async function perform(task: DataTask): Promise<DataMessage> {
  if (task.kind === 'pack') await pack(task)
  else if (task.kind === 'pack-into') return packInto(task)
  else {
    const { check, replace } = await import('./restore-task.ts')
    const step = (name: string) => say({ type: 'step', name })
    return task.kind === 'check' ? check(task, step) : replace(task, step)
  }
  return { type: 'done', result: null }
}

/**
 * Lets requests go first. Linux has a priority for each thread; elsewhere it would be the process's. Not while rows are replaced:
 * then others wait for this thread.
 */
function stepBack(task: DataTask): void {
  if (process.platform === 'linux' && task.kind !== 'replace')
    setPriority(0, constants.priority.PRIORITY_LOW)
}

try {
  stepBack(workerData as DataTask)
  say(await perform(workerData as DataTask))
} catch (error) {
  say({ type: 'failed', ...tellingOf(error) })
}
port.close()
