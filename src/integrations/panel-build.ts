/** Builds the panel inside the start, where it is missing or older than its sources. */
import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { errorCode } from '#src/lib/errors.ts'
import type { Log } from '#src/lib/log.ts'

const ROOT = join(import.meta.dirname, '..', '..')
const SOURCES = join(ROOT, 'src', 'admin-ui')
/** What else goes into a build. */
const OTHERS = [
  ...['package-lock.json', 'vite.config.ts', 'scripts/build-panel.ts'],
  'src/web/panel-files.ts',
]

export const PANEL_FOLDER = join(ROOT, 'dist', 'admin')
/** What the build was made from; its last file, so with it the build is whole. */
export const STAMP_FILE = 'sources.sha256'

const LIMIT_MS = 60_000
const SAID_MAX = 400

/** A digest of all that a build is made from. */
export function sourcesStamp(): string {
  const names = readdirSync(SOURCES, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort()
  const hash = createHash('sha256')
  for (const name of [...names, ...OTHERS.map((name) => join(ROOT, name))]) {
    hash.update(name.slice(ROOT.length)).update('\0')
    if (existsSync(name)) hash.update(readFileSync(name)).update('\0')
  }
  return hash.digest('hex')
}

/** The stamp of the build that is there; null when there is none, undefined when this user may not read it. */
export function builtStamp(): string | null | undefined {
  try {
    return readFileSync(join(PANEL_FOLDER, STAMP_FILE), 'utf8')
  } catch (error) {
    return errorCode(error) === 'EACCES' ? undefined : null
  }
}

/** Runs the build in a process of its own, whose memory goes with it. What it said when it failed, else null. */
function runBuild(): Promise<string | null> {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, [join(ROOT, 'scripts', 'build-panel.ts')], {
      cwd: ROOT,
      stdio: ['ignore', 'ignore', 'pipe'],
      timeout: LIMIT_MS,
    })
    let said = ''
    child.stderr.on('data', (chunk) => {
      said += String(chunk)
    })
    child.once('error', (error) => resolve(error.message))
    child.once('close', (code, signal) =>
      resolve(code === 0 ? null : said.trim().slice(-SAID_MAX) || `ended with ${code ?? signal}`),
    )
  })
}

/** Sees to it that the panel is built. A build that fails stops nothing: the log says so, and so does the panel's page. */
export async function ensurePanel(log: Log): Promise<void> {
  const built = builtStamp()
  // A release without sources carries its build.
  if (!existsSync(SOURCES) || built === sourcesStamp()) return
  if (built === undefined) {
    log.warn(
      'the panel is built, but not readable by this user: run npm run build as the owner of the program',
      { folder: PANEL_FOLDER },
    )
    return
  }
  if (!existsSync(join(ROOT, 'node_modules', 'vite'))) {
    const state = built === null ? 'not built' : 'older than its sources'
    log.warn(`the panel is ${state}: run npm ci && npm run build`, {})
    return
  }
  const fault = await runBuild()
  if (fault === null) log.info('panel built', {})
  else log.warn('the panel could not be built: run npm run build', { reason: fault })
}
