/** The installation as a whole: archives of it, and restores from them. A worker thread does the work (src/entry/data-worker.ts). */
import { randomUUID } from 'node:crypto'
import { mkdirSync } from 'node:fs'
import { mkdir, open, readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { isFull, type Telling, toldError } from '#db/engine/failures.ts'
import type { StorePlace } from '#db/engine/store.ts'
import type { WrongValue } from '#db/upload.ts'
import type { Config } from '#src/config.ts'
import { errorCode } from '#src/lib/errors.ts'
import { createLimiter } from '#src/lib/limiter.ts'
import type { Log } from '#src/lib/log.ts'
import type { PassphraseKey } from '#src/lib/passphrase-key.ts'
import { type LEAVE, startThread, type Thread } from '#src/lib/thread.ts'
import { HOUR_MS } from '#src/lib/time.ts'
import type { DataFiles, RestoreOutcome, RestoreRequest } from '#src/ports/data-files.ts'
import { refusal, refusalOfText } from '#src/refusals/index.ts'
import { freeBytes } from './disk.ts'

interface Place {
  store: StorePlace
  envFile: string
  /** A folder for what is only needed meanwhile. */
  folder: string
}

interface Asked {
  request: RestoreRequest
  /** What the environment says before the restore. */
  live: Config['live']
  /** Live keys that no env file changes. */
  fixed: Config['fixedKeys']
}

/** What a worker is started for. */
export type DataTask =
  | (Place & { kind: 'pack'; at: Date; key: PassphraseKey | null })
  | (Place & {
      kind: 'pack-into'
      at: Date
      key: PassphraseKey | null
      path: string
      check: boolean
    })
  | (Place & Asked & { kind: 'check'; archive: string; maxBytes: number })
  | (Place &
      Asked & { kind: 'replace'; checked: Checked; safety: { folder: string; maxBytes: number } })

/** What is known of an upload that may be restored; its rows lie ready in the work folder. */
export interface Checked {
  env: string | null
  instanceId: string | null
  /** Settings in its database that are taken. */
  taken: string[]
  /** Those that are not. */
  dropped: string[]
  /** The key that it was opened with, in its text, where it may encrypt this machine's backups (lib/new-passphrase.ts); else null. */
  adoptable: string | null
}

/** What a task gives. */
export type TaskResult = RestoreOutcome | Checked | WrongValue | null

export type TaskOf<K extends DataTask['kind']> = Extract<DataTask, { kind: K }>

/** What a worker that packs hears: before each chunk, and that nobody wants more. */
export type DataWord = 'next' | typeof LEAVE

/** What a worker says. */
export type DataMessage =
  | { type: 'step'; name: string }
  | { type: 'ready' }
  | { type: 'chunk'; bytes: Uint8Array<ArrayBuffer> }
  | { type: 'done'; result: TaskResult }
  | { type: 'refused'; message: string }
  | { type: 'session-ended' }
  | ({ type: 'failed' } & Telling)

/** A thread that has a task. */
export interface DataThread extends Pick<Thread, 'leave'> {
  worker: Pick<Thread['worker'], 'on' | 'postMessage'>
}

const WORKER = join(import.meta.dirname, '..', '..', 'entry', 'data-worker.ts')
const MAX_INFLATED_BYTES = 4 * 1024 ** 3
const MAX_STREAMS = 3
/** Restores run one at a time: the first one that comes in ends the sessions of those behind it. */
const MAX_WAITING_RESTORES = 2
/** What a worker does needs little; V8 would let its garbage pile up (Node; Bun has no such limits). */
const MEMORY = { maxYoungGenerationSizeMb: 4, maxOldGenerationSizeMb: 128 }
/** A download that takes nothing for so long is given up. */
const STALL_MS = 5 * 60_000

/** What a worker's last word means to the caller. */
function faultOf(message: DataMessage): Error {
  if (message.type === 'refused') return refusalOfText(message.message)
  if (message.type === 'session-ended') return refusal('unauthorized')
  if (message.type !== 'failed') return new Error('the worker ended too early')
  const error = toldError(message)
  const noSpace = message.code === 'ENOSPC' || isFull(error)
  return noSpace ? refusal('disk-full') : error
}

/** The thread of a task (src/entry/data-worker.ts). */
const startWorker = (task: DataTask): DataThread =>
  startThread(WORKER, { workerData: task, resourceLimits: MEMORY })

/** Runs a task in a thread of its own; `hear` gets what it says before its end. */
function startTask(
  start: typeof startWorker,
  task: DataTask,
  hear: (message: DataMessage) => void,
) {
  const { worker, leave } = start(task)
  const finished = new Promise<TaskResult>((resolve, reject) => {
    worker.on('message', (message: DataMessage) => {
      if (message.type === 'done') resolve(message.result)
      else if (message.type === 'step' || message.type === 'ready' || message.type === 'chunk') {
        hear(message)
      } else reject(faultOf(message))
    })
    worker.on('error', reject)
    worker.on('exit', () => reject(new Error('the worker ended too early')))
  })
  // Whoever waits for it sees it; a download that was given up does not.
  finished.catch(() => {})
  return { worker, leave, finished }
}

/** The bytes that a worker packs, each piece when it is asked for. `close` runs once, however it ends. */
function streamOf(
  task: ReturnType<typeof startTask>,
  take: { chunk: (bytes: Uint8Array<ArrayBuffer>) => void },
  close: () => Promise<void>,
): ReadableStream<Uint8Array> {
  let timer: ReturnType<typeof setTimeout> | undefined
  let isOver = false
  const end = () => {
    isOver = true
    clearTimeout(timer)
    return close()
  }
  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        const giveUp = () => {
          controller.error(new Error('the download stands still'))
          void end()
        }
        const watch = () => {
          clearTimeout(timer)
          timer = setTimeout(giveUp, STALL_MS)
          timer.unref()
        }
        take.chunk = (bytes) => {
          // What was on its way when the download ended: the stream takes nothing any more, and would throw.
          if (isOver) return
          watch()
          controller.enqueue(bytes)
        }
        watch()
        task.finished
          .finally(end)
          .then(
            () => controller.close(),
            (error: unknown) => controller.error(error),
          )
          // It was cancelled, or given up.
          .catch(() => {})
      },
      async pull() {
        const come = new Promise<void>((resolve) => {
          const { chunk } = take
          take.chunk = (bytes) => {
            take.chunk = chunk
            chunk(bytes)
            resolve()
          }
        })
        task.worker.postMessage('next')
        await Promise.race([come, task.finished.catch(() => {})])
      },
      cancel: end,
    },
    { highWaterMark: 0 },
  )
}

type Deps = {
  config: StorePlace & Pick<Config, 'envFile' | 'dataDir' | 'snapshotMaxBytes' | 'fixedKeys'>
  log: Log
}

/** Removes folders whose process was killed in the middle of its work. Others' may go meanwhile: their tasks have ended. */
async function sweep(parent: string, at: Date): Promise<void> {
  const modified = async (path: string) => (await stat(path).catch(() => null))?.mtimeMs ?? 0
  for (const name of await readdir(parent)) {
    const folder = join(parent, name)
    const files = await readdir(folder).catch(() => [])
    const paths = [folder, ...files.map((file) => join(folder, file))]
    const newest = Math.max(...(await Promise.all(paths.map(modified))))
    if (at.getTime() - newest > HOUR_MS) await removeFolder(folder)
  }
}

// Not in this thread: unlinking a file of 100 MB takes 30 ms.
const removeFolder = (folder: string) => rm(folder, { recursive: true, force: true })

/** The DataFiles of a process, each of whose tasks has a thread that `start` gives. */
export function createDataFiles({ config, log }: Deps, start = startWorker): DataFiles {
  const { databasePath, databaseUrl, envFile, dataDir } = config
  const workFolder = join(dataDir, 'work')
  let streams = 0
  const restoreTurn = createLimiter(1, MAX_WAITING_RESTORES)

  const makeFolder = () => {
    const folder = join(workFolder, randomUUID())
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    return folder
  }
  const prepare = async (at: Date): Promise<Place> => {
    await mkdir(workFolder, { recursive: true, mode: 0o700 })
    await sweep(workFolder, at)
    return { store: { databasePath, databaseUrl }, envFile, folder: makeFolder() }
  }
  const inFolder = async <T>(at: Date, work: (place: Place) => Promise<T>): Promise<T> => {
    const place = await prepare(at)
    try {
      return await work(place)
    } finally {
      await removeFolder(place.folder)
    }
  }
  const hearSteps = (message: DataMessage) => {
    if (message.type === 'step') log.debug('restore', { step: message.name })
  }

  return {
    async pack(at, key) {
      if (streams >= MAX_STREAMS) throw refusal('backups-under-way')
      streams++
      const place = await prepare(at).catch((error) => {
        streams--
        throw error
      })
      const take = { chunk: (_bytes: Uint8Array<ArrayBuffer>) => {} }
      let isReady = () => {}
      const ready = new Promise<void>((resolve) => {
        isReady = resolve
      })
      const task = startTask(start, { ...place, kind: 'pack', at, key }, (message) => {
        if (message.type === 'ready') isReady()
        if (message.type === 'chunk') take.chunk(message.bytes)
      })
      let open = true
      const close = async () => {
        if (!open) return
        open = false
        await task.leave()
        await removeFolder(place.folder)
        streams--
      }
      try {
        await Promise.race([ready, task.finished])
        return streamOf(task, take, close)
      } catch (error) {
        await close()
        throw error
      }
    },
    packInto: (path, at, key, check) =>
      inFolder(at, async (place) => {
        const task = { ...place, kind: 'pack-into', at, key, path, check } as const
        return (await startTask(start, task, () => {}).finished) as WrongValue | null
      }),
    async withUpload(receive, work) {
      const folder = makeFolder()
      const archive = join(folder, 'upload.tar.gz')
      try {
        const file = await open(archive, 'wx', 0o600)
        let received: Awaited<ReturnType<typeof receive>>
        try {
          received = await receive(async (bytes) => {
            for (let at = 0; at < bytes.length; ) at += (await file.write(bytes, at)).bytesWritten
          })
        } finally {
          await file.close()
        }
        return await work(archive, received)
      } catch (error) {
        if (errorCode(error) === 'ENOSPC') throw refusal('disk-full')
        throw error
      } finally {
        await removeFolder(folder)
      }
    },
    restore: (archive, request, live) =>
      restoreTurn(() =>
        inFolder(request.at, async (place) => {
          const maxBytes = Math.min(MAX_INFLATED_BYTES, Math.floor(freeBytes(dataDir) / 3))
          const asked = { request, live: live(), fixed: config.fixedKeys }
          const check = { ...place, ...asked, kind: 'check', archive, maxBytes } as const
          const checked = (await startTask(start, check, hearSteps).finished) as Checked
          const safety = { folder: join(dataDir, 'safety'), maxBytes: config.snapshotMaxBytes }
          const replace = { ...place, ...asked, kind: 'replace', checked, safety } as const
          return (await startTask(start, replace, hearSteps).finished) as RestoreOutcome
        }),
      ),
  }
}
