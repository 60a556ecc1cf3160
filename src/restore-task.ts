/** A restore, as the worker thread does it: unpack, check, and replace the rows; then the env file. */
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import {
  deletePendingEnv,
  prepareRows,
  type RestoreFacts,
  replaceRows,
  SessionEnded,
  withRestoreLock,
} from '#db/restore.ts'
import { withConnection } from '#db/snapshot.ts'
import { rebuild, UploadRefused } from '#db/upload.ts'
import { acceptsRow, isInstanceId, mergeEnv, nameKeys } from './domain/restored-env.ts'
import { ArchiveRefused, unpackArchive } from './integrations/archive.ts'
import type { DataMessage, TaskOf } from './integrations/data-files.ts'
import { presentEnv } from './integrations/env-text.ts'
import { syncFile, syncFolder, writeFileAtomic } from './lib/atomic-file.ts'
import { parseEnvFile, setEnvLine } from './lib/env-file.ts'
import { randomHex } from './lib/random.ts'
import { fileStamp, formatTimestamp } from './lib/time.ts'
import type { RestoreOutcome, RestoreRequest } from './services.ts'

type Step = (name: string) => void

const SAFETY_COPIES = 5
const SAFETY_NAME = /^before-restore-\d{8}-\d{6}(?:-\d+)?\.db$/

/** The path of a safety copy that is not there yet. */
function safetyPath(folder: string, at: Date): string {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  for (let number = 1; ; number++) {
    const path = join(
      folder,
      `before-restore-${fileStamp(at)}${number === 1 ? '' : `-${number}`}.db`,
    )
    if (!existsSync(path)) return path
  }
}

const envCopyOf = (path: string) => path.replace(/\.db$/, '.env')
const nameOf = (path: string) => path.slice(path.lastIndexOf('/') + 1)

/** Keeps the newest five. */
function removeOldSafetyCopies(folder: string): void {
  const names = readdirSync(folder).filter((name) => SAFETY_NAME.test(name))
  for (const name of names.sort().slice(0, -SAFETY_COPIES)) {
    rmSync(join(folder, name))
    rmSync(join(folder, envCopyOf(name)), { force: true })
  }
}

/** Whose clients the nodes hold after the restore, and whether the archive contradicts itself. */
function adoptedId(
  inDatabase: string | null,
  env: string | null,
): { id: string | null; doubtful: boolean } {
  const inEnv = env === null ? undefined : parseEnvFile(env).INSTANCE_ID
  const id = [inDatabase, inEnv].find((one) => typeof one === 'string' && isInstanceId(one)) ?? null
  return { id, doubtful: inEnv !== undefined && inEnv !== id }
}

function factsOf(request: RestoreRequest): RestoreFacts {
  const at = formatTimestamp(request.at)
  return {
    at,
    generation: randomHex(8),
    accepts: acceptsRow,
    reviewReason: `paid, but unknown to the backup restored at ${at}`,
    refundedReason: `paid and refunded, but unknown to the backup restored at ${at}`,
    audit: { admin: request.admin, ip: request.ip },
    sessionId: request.sessionId,
  }
}

const cleanIn = (folder: string) => join(folder, 'clean.db')

/** Unpacks an upload and makes its rows ready; what is wrong with it comes up here. */
export async function check(task: TaskOf<'check'>, step: Step): Promise<DataMessage> {
  const uploaded = join(task.folder, 'uploaded.db')
  const clean = cleanIn(task.folder)
  try {
    step('begun')
    const { env } = await unpackArchive(task.archive, uploaded, task.maxBytes)
    step('unpacked')
    rebuild(uploaded, clean)
    rmSync(uploaded)
    step('checked')
    const prepared = prepareRows(clean, factsOf(task.request))
    step('prepared')
    return { type: 'done', result: { env, ...prepared } }
  } catch (error) {
    if (error instanceof UploadRefused || error instanceof ArchiveRefused) {
      return { type: 'refused', message: error.message }
    }
    throw error
  }
}

/** The safety copies of database and env file: by their names only when they are whole. */
function keepSafetyCopies(unnamed: string, safety: string, env: string | null): string[] {
  syncFile(unnamed)
  renameSync(unnamed, safety)
  const names = [nameOf(safety)]
  if (env !== null) {
    writeFileSync(envCopyOf(safety), env, { mode: 0o600, flush: true })
    names.push(nameOf(envCopyOf(safety)))
  }
  syncFolder(dirname(safety))
  return names
}

async function replaceUnderLock(task: TaskOf<'replace'>, step: Step): Promise<RestoreOutcome> {
  const { folder, databasePath, envFile, request, checked, safetyFolder } = task
  const { id, doubtful } = adoptedId(checked.instanceId, checked.env)
  const unnamed = join(folder, 'safety.db')
  const safety = safetyPath(safetyFolder, request.at)
  const files = { database: databasePath, clean: cleanIn(folder), safety: unnamed }
  let outcome: Omit<RestoreOutcome, 'reviews'> | undefined
  const { reviews, envText } = replaceRows(files, factsOf(request), {
    step,
    decide(pending, instanceId) {
      const present = presentEnv(envFile, pending)
      const safetyCopies = keepSafetyCopies(unnamed, safety, present)
      const merged = mergeEnv(present ?? '', checked.env)
      const contradicting = doubtful ? ['INSTANCE_ID'] : []
      const dropped = nameKeys([...merged.dropped, ...checked.dropped, ...contradicting])
      const { restartNeeded, kept } = merged
      outcome = { restoredEnv: checked.env !== null, dropped, restartNeeded, kept, safetyCopies }
      const adopted = id ?? instanceId
      return {
        instanceId: adopted,
        envText: setEnvLine(merged.text, 'INSTANCE_ID', adopted),
        detail: dropped.length > 0 ? `dropped ${dropped.join(' ')}` : '',
      }
    },
  })
  writeFileAtomic(envFile, envText)
  step('env file written')
  withConnection(databasePath, (raw) => deletePendingEnv(raw, envText))
  removeOldSafetyCopies(safetyFolder)
  step('done')
  return { ...(outcome as Omit<RestoreOutcome, 'reviews'>), reviews }
}

/** Puts the rows that `check` made ready in place of the live ones. */
export async function replace(task: TaskOf<'replace'>, step: Step): Promise<DataMessage> {
  try {
    const work = () => replaceUnderLock(task, step)
    return { type: 'done', result: await withRestoreLock(task.databasePath, work) }
  } catch (error) {
    if (error instanceof SessionEnded) return { type: 'session-ended' }
    throw error
  }
}
