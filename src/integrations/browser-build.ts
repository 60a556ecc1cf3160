/** Builds what browsers load, the panel and the scripts of the pages, inside the start, where it is missing or older than its sources. */
import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { errorCode } from '#src/lib/errors.ts'
import type { Log } from '#src/lib/log.ts'

const ROOT = join(import.meta.dirname, '..', '..')
const SOURCES = [join(ROOT, 'src', 'admin-ui'), join(ROOT, 'src', 'web', 'assets')]
/** What else goes into a build. */
const OTHERS = [
  ...['package-lock.json', 'vite.config.ts', 'scripts/build.ts'],
  ...['src/web/panel-files.ts', 'src/web/page-scripts.ts'],
]

const DIST = join(ROOT, 'dist')
export const PANEL_FOLDER = join(DIST, 'admin')
export const PAGES_FOLDER = join(DIST, 'pages')
/** What the build was made from: in both of its folders, each of which is put into place whole. */
export const STAMP_FILE = 'sources.sha256'

const LIMIT_MS = 60_000
const SAID_MAX = 400

/** A digest of all that a build is made from. */
export function sourcesStamp(): string {
  const names = SOURCES.flatMap((folder) =>
    readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name))
      .sort(),
  )
  const hash = createHash('sha256')
  for (const name of [...names, ...OTHERS.map((name) => join(ROOT, name))]) {
    hash.update(name.slice(ROOT.length)).update('\0')
    if (existsSync(name)) hash.update(readFileSync(name)).update('\0')
  }
  return hash.digest('hex')
}

/** The stamp of the build that is there; null when there is none that is whole, undefined when this user may not read it. */
export function builtStamp(): string | null | undefined {
  try {
    const [stamp, ...others] = [PANEL_FOLDER, PAGES_FOLDER].map((one) =>
      readFileSync(join(one, STAMP_FILE), 'utf8'),
    )
    return others.every((other) => other === stamp) ? stamp : null
  } catch (error) {
    return errorCode(error) === 'EACCES' ? undefined : null
  }
}

/** Runs the build in a process of its own, whose memory goes with it. What it said when it failed, else null. */
function runBuild(): Promise<string | null> {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, [join(ROOT, 'scripts', 'build.ts')], {
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

/**
 * Sees to it that the panel and the scripts of the pages are built. A build that fails stops nothing: the log says so, and so does
 * the panel's page; pages do without their scripts.
 */
export async function ensureBuild(log: Log): Promise<void> {
  const built = builtStamp()
  // A release without sources carries its build.
  if (!SOURCES.every((folder) => existsSync(folder)) || built === sourcesStamp()) return
  if (built === undefined) {
    log.warn(
      'panel and pages are built, but not readable by this user: run npm run build as the owner of the program',
      { folder: DIST },
    )
    return
  }
  if (!existsSync(join(ROOT, 'node_modules', 'vite'))) {
    const state = built === null ? 'not built' : 'older than their sources'
    log.warn(`panel and pages are ${state}: run npm ci && npm run build`, {})
    return
  }
  const fault = await runBuild()
  if (fault === null) log.info('panel and pages built', {})
  else log.warn('panel and pages could not be built: run npm run build', { reason: fault })
}
