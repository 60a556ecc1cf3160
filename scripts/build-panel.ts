/**
 * `npm run build`: builds the panel into dist/admin, compressed; the build that is there stays until the new one is whole. Each
 * language has a build of its own, so that a page loads the texts of one; what knows no texts is the same file in all.
 */
import {
  chmodSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'
import { build, type Plugin } from 'vite'
import { PANEL_FOLDER, STAMP_FILE, sourcesStamp } from '#src/integrations/panel-build.ts'
import { manifestOf, PANEL_LANGS, type PanelLang } from '#src/web/panel-files.ts'

const ROOT = join(import.meta.dirname, '..')
const fresh = `${PANEL_FOLDER}.${process.pid}`
const old = `${fresh}.old`

/** Leaves the texts of other languages out: `i18n/users.ru.ts` exports nothing but its names to an English build. */
const only = (language: PanelLang): Plugin => ({
  name: 'one-language',
  load(id) {
    const other = /\/admin-ui\/i18n\/.+\.([a-z]+)\.ts$/.exec(id)?.[1]
    if (other === undefined || other === language) return null
    const names = readFileSync(id, 'utf8').matchAll(/^export (?:const|function) (\w+)/gm)
    return Array.from(names, ([, name]) => `export const ${name} = null`).join('\n')
  },
})

/** Texts beside themselves as `.br` and `.gz`: nothing is compressed while serving. */
function compress(folder: string): void {
  for (const name of readdirSync(folder).filter((one) => /\.(js|css)$/.test(one))) {
    const path = join(folder, name)
    const body = readFileSync(path)
    const size = { [constants.BROTLI_PARAM_SIZE_HINT]: body.length }
    writeFileSync(`${path}.br`, brotliCompressSync(body, { params: size }))
    writeFileSync(`${path}.gz`, gzipSync(body, { level: 9 }))
  }
}

/** Makes the folder of the build, which a user reads who may be another one than ours: the service's. */
function makeFolder(folder: string): void {
  mkdirSync(folder, { recursive: true })
  try {
    chmodSync(folder, 0o755)
  } catch {
    // It is another user's.
  }
}

/** How many files a browser may ask for, and how large they are together. */
function measure(folder: string): string {
  const sizes = readdirSync(folder)
    .filter((name) => !/\.(?:br|gz)$/.test(name))
    .map((name) => statSync(join(folder, name)).size)
  const bytes = sizes.reduce((sum, size) => sum + size, 0)
  return `${sizes.length} files, ${Math.round(bytes / 1024)} KB`
}

/** The fault as a line, where the user who builds is the wrong one. */
function refuse(error: unknown): void {
  const { code, path = fresh } = error as NodeJS.ErrnoException
  if (!/^(?:EACCES|EPERM|EROFS)$/.test(code ?? '')) throw error
  process.stderr.write(
    `this user may not write to ${dirname(path)}: run npm run build as the owner of the program\n`,
  )
  process.exitCode = 1
}

/** Renames the fresh build into place. Of two builds at once, which are the same, one stays. */
function place(): void {
  try {
    renameSync(PANEL_FOLDER, old)
  } catch {
    // The first build.
  }
  try {
    renameSync(fresh, PANEL_FOLDER)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOTEMPTY') throw error
  }
}

async function buildPanel(): Promise<void> {
  const stamp = sourcesStamp()
  for (const language of PANEL_LANGS) {
    await build({
      configFile: join(ROOT, 'vite.config.ts'),
      configLoader: 'native',
      logLevel: 'warn',
      plugins: [only(language)],
      build: { outDir: fresh, manifest: manifestOf(language), emptyOutDir: false },
    })
  }
  compress(join(fresh, 'assets'))
  writeFileSync(join(fresh, STAMP_FILE), stamp)
  const measured = measure(join(fresh, 'assets'))
  place()
  process.stdout.write(`panel built: ${measured}\n`)
}

// Of another value in the environment Vite makes a development build, a tenth heavier.
process.env.NODE_ENV = 'production'
// A start, which may build too, keeps what it writes to its owner; this is for whoever runs the service.
process.umask(0o022)
try {
  makeFolder(dirname(fresh))
  mkdirSync(fresh, { recursive: true })
  try {
    await buildPanel()
  } finally {
    rmSync(fresh, { recursive: true, force: true })
    rmSync(old, { recursive: true, force: true })
  }
} catch (error) {
  refuse(error)
}
