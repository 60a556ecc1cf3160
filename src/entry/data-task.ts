/**
 * What takes long and must not stand in the way of requests, as a thread does it: copying the whole database, packing it, and a
 * restore (restore-task.ts, loaded where it is needed), with database connections of its own.
 */
import { closeSync, fsyncSync, openSync, renameSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { MessagePort } from 'node:worker_threads'
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

/** What whoever gave the task hears and says. */
type Port = Pick<MessagePort, 'postMessage' | 'on' | 'off'>

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
async function pack(task: TaskOf<'pack'>, port: Port): Promise<void> {
  const archive = await packNow(task)
  const say = (message: DataMessage, transfer: ArrayBuffer[] = []) =>
    port.postMessage(message, transfer)
  let hear = (_word: DataWord) => {}
  try {
    await new Promise<void>((resolve, reject) => {
      hear = (word) => {
        try {
          const { value, done } = word === LEAVE ? archive.return(undefined) : archive.next()
          if (done) return resolve()
          const bytes = new Uint8Array(value)
          say({ type: 'chunk', bytes }, [bytes.buffer])
        } catch (error) {
          reject(error)
        }
      }
      port.on('message', hear)
      say({ type: 'ready' })
    })
  } finally {
    port.off('message', hear)
  }
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
async function perform(task: DataTask, port: Port): Promise<DataMessage> {
  if (task.kind === 'pack') await pack(task, port)
  else if (task.kind === 'pack-into') return packInto(task)
  else {
    const { check, replace } = await import('./restore-task.ts')
    const step = (name: string) => port.postMessage({ type: 'step', name } satisfies DataMessage)
    return task.kind === 'check' ? check(task, step) : replace(task, step)
  }
  return { type: 'done', result: null }
}

/** Does a task, and says what came of it as the last word. */
export async function work(task: DataTask, port: Port): Promise<void> {
  try {
    port.postMessage(await perform(task, port))
  } catch (error) {
    port.postMessage({ type: 'failed', ...tellingOf(error) } satisfies DataMessage)
  }
}
