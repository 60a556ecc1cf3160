/** A restore, as the worker thread does it: unpack, check, and replace the rows; then the env file. */
import {
  existsSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { storeAt } from '#db/engine/open.ts'
import type { RestoreFacts } from '#db/restore/facts.ts'
import { prepareRows } from '#db/restore/prepare.ts'
import { type ReplaceSteps, replaceRows, SessionEnded } from '#db/restore/replace.ts'
import { rebuild, UploadRefused } from '#db/upload.ts'
import { GATEWAY_IDS, GATEWAYS } from '#src/integrations/payments/index.ts'
import {
  acceptedRows,
  isInstanceId,
  mergeEnv,
  nameKeys,
} from '../domain/installation/restored-env.ts'
import {
  isSafetyCopy,
  outdatedCopies,
  type SafetyCopy,
  safetyCopyName,
} from '../domain/installation/safety-copies.ts'
import { isFormerShop } from '../domain/installation/setting-values.ts'
import { ArchiveRefused, unpackArchive } from '../integrations/files/archive.ts'
import type { DataMessage, TaskOf } from '../integrations/files/data-files.ts'
import { presentEnv } from '../integrations/files/env-text.ts'
import { syncFile, syncFolder, writeFileAtomic } from '../lib/atomic-file.ts'
import { parseEnvFile, setEnvLine } from '../lib/env-file.ts'
import { adoptedKey } from '../lib/new-passphrase.ts'
import { fromPending, toPending } from '../lib/pending-env.ts'
import { randomHex } from '../lib/random.ts'
import { parseTgIds } from '../lib/tg-ids.ts'
import { formatTimestamp } from '../lib/time.ts'
import type { RestoreOutcome } from '../ports/data-files.ts'
import { optionalEventsIn } from '../settings/optional-events.ts'
import { settingsTable } from '../settings/table.ts'

/** What is known of settings: archives are of this version's. */
const KNOWN = { gateways: GATEWAYS, settings: settingsTable(GATEWAYS) }

type Step = (name: string) => void

/** The path of a safety copy that is not there yet. */
function safetyPath(folder: string, at: Date): string {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  for (let number = 1; ; number++) {
    const path = join(folder, safetyCopyName(at, number))
    if (!existsSync(path)) return path
  }
}

const envCopyOf = (path: string) => path.replace(/\.db$/, '.env')
const nameOf = (path: string) => path.slice(path.lastIndexOf('/') + 1)

const bytesOf = (path: string) => statSync(path, { throwIfNoEntry: false })?.size ?? 0

const copiesIn = (folder: string): SafetyCopy[] =>
  readdirSync(folder)
    .filter(isSafetyCopy)
    .map((name) => {
      const path = join(folder, name)
      return { name, bytes: bytesOf(path) + bytesOf(envCopyOf(path)) }
    })

function removeCopies(folder: string, names: string[]): void {
  for (const name of names) {
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

type AudienceKey =
  | 'ADMIN_TG_IDS'
  | 'BOT_TOKEN'
  | 'WEBHOOK_URL'
  | 'WEBHOOK_SECRET'
  | 'WEBHOOK_EVENTS'

/** `adoptable`: the key of the archive where it may be that of this machine's backups, else null. */
function factsOf(
  {
    request,
    live,
    fixed = [],
  }: Pick<TaskOf<'check'>, 'request' | 'live'> & Partial<Pick<TaskOf<'replace'>, 'fixed'>>,
  adoptable: string | null,
): RestoreFacts {
  const at = formatTimestamp(request.at)
  return {
    shops(row, env) {
      const own = env === undefined ? live : parseEnvFile(env)
      const text = (key: string) => row(key) ?? (fixed.includes(key) ? live[key] : own[key]) ?? ''
      return GATEWAYS.flatMap(({ id, shop }) => {
        const { shopId, secret, preset = null, apiUrl = null } = shop(text)
        return secret === ''
          ? []
          : [{ provider: id, shopId, secret, preset, apiUrl, replacedAt: at }]
      })
    },
    at,
    generation: randomHex(8),
    accepted: (rows) => acceptedRows(KNOWN, rows),
    isFormerShop: (shop) => isFormerShop(KNOWN, shop),
    reviewReason: `paid, but unknown to the backup restored at ${at}`,
    refundedReason: `paid and refunded, but unknown to the backup restored at ${at}`,
    audit: { admin: request.admin, ip: request.ip },
    message(passphraseTaken) {
      const { kind, payload } = request.message
      return { kind, payload: { ...payload, ...(passphraseTaken ? { passphraseTaken } : {}) } }
    },
    former(row) {
      const text = (key: AudienceKey) => row(key) ?? live[key] ?? ''
      const url = text('WEBHOOK_URL')
      const ticked = optionalEventsIn(text('WEBHOOK_EVENTS'))
      return {
        tgIds: parseTgIds(text('ADMIN_TG_IDS')),
        botToken: text('BOT_TOKEN') || null,
        receiver:
          url !== '' && ticked.includes('backup.restored')
            ? { url, secret: text('WEBHOOK_SECRET') }
            : null,
      }
    },
    sessionId: request.sessionId,
    adoptable,
  }
}

const cleanIn = (folder: string) => join(folder, 'clean.db')

/** Unpacks an upload and makes its rows ready; what is wrong with it comes up here. */
export async function check(task: TaskOf<'check'>, step: Step): Promise<DataMessage> {
  const uploaded = join(task.folder, 'uploaded.db')
  const clean = cleanIn(task.folder)
  try {
    step('begun')
    const { maxBytes, request } = task
    const { env, key } = await unpackArchive(task.archive, uploaded, maxBytes, request.passphrase)
    const adoptable = key && adoptedKey(key, request.passphrase)
    step('unpacked')
    rebuild(uploaded, clean, GATEWAY_IDS)
    rmSync(uploaded)
    step('checked')
    const prepared = prepareRows(clean, factsOf(task, adoptable))
    step('prepared')
    return { type: 'done', result: { env, adoptable, ...prepared } }
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

async function replaceLive(task: TaskOf<'replace'>, step: Step): Promise<RestoreOutcome> {
  const { folder, envFile, request, checked } = task
  const { id, doubtful } = adoptedId(checked.instanceId, checked.env)
  const unnamed = join(folder, 'safety.db')
  const { folder: safetyFolder, maxBytes } = task.safety
  const safety = safetyPath(safetyFolder, request.at)
  const store = await storeAt(task.store)
  const place = { envFile, ...task.store }
  let outcome: Omit<RestoreOutcome, keyof ReturnType<typeof replaceRows>> | undefined
  let outdated: string[] = []
  const steps: ReplaceSteps = {
    step,
    decide(pending, instanceId) {
      const present = presentEnv(envFile, fromPending(place, pending))
      const copy = { name: nameOf(safety), bytes: bytesOf(unnamed) + (present?.length ?? 0) }
      outdated = outdatedCopies([...copiesIn(safetyFolder), copy], request.at, maxBytes)
      const safetyCopies = keepSafetyCopies(unnamed, safety, present)
      const merged = mergeEnv(present ?? '', checked.env, {
        settings: KNOWN.settings,
        rows: new Set(checked.taken),
        fixed: new Set(task.fixed),
      })
      const contradicting = doubtful ? ['INSTANCE_ID'] : []
      const dropped = nameKeys([...merged.dropped, ...checked.dropped, ...contradicting])
      const { restartNeeded, kept } = merged
      outcome = { restoredEnv: checked.env !== null, dropped, restartNeeded, kept, safetyCopies }
      const adopted = id ?? instanceId
      const envText = setEnvLine(merged.text, 'INSTANCE_ID', adopted)
      return {
        instanceId: adopted,
        envText,
        pending: toPending(place, envText),
        detail: dropped.length > 0 ? `dropped ${dropped.join(' ')}` : '',
      }
    },
  }
  const change = (database: string) => {
    const files = { database, clean: cleanIn(folder), safety: unnamed }
    return replaceRows(files, factsOf(task, checked.adoptable), steps)
  }
  const { envText: _, ...done } = await store.replace(folder, change, async ({ envText }) => {
    writeFileAtomic(envFile, envText)
    step('env file written')
    await store.forget('pending_env', toPending(place, envText))
    removeCopies(safetyFolder, outdated)
  })
  step('done')
  return { ...(outcome as NonNullable<typeof outcome>), ...done }
}

/** Puts the rows that `check` made ready in place of the live ones. */
export async function replace(task: TaskOf<'replace'>, step: Step): Promise<DataMessage> {
  try {
    return { type: 'done', result: await replaceLive(task, step) }
  } catch (error) {
    if (error instanceof SessionEnded) return { type: 'session-ended' }
    if (error instanceof UploadRefused) return { type: 'refused', message: error.message }
    throw error
  }
}
