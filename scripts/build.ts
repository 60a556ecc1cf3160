/**
 * `npm run build`: builds the panel into dist/admin and the scripts of the pages into dist/pages, compressed; the builds that are there
 * stay until the new ones are whole. Each language of the panel has a build of its own, so that a page loads the texts of one; what
 * knows no texts is the same file in all.
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
import {
  PAGES_FOLDER,
  PANEL_FOLDER,
  STAMP_FILE,
  sourcesStamp,
} from '#src/integrations/browser-build.ts'
import { PAGE_SCRIPTS } from '#src/web/page-scripts.ts'
import { manifestOf, PANEL_LANGS, type PanelLang } from '#src/web/panel-files.ts'

const ROOT = join(import.meta.dirname, '..')
const FOLDERS = [PANEL_FOLDER, PAGES_FOLDER]
const freshOf = (folder: string) => `${folder}.${process.pid}`
const oldOf = (folder: string) => `${freshOf(folder)}.old`

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

/** How many files browsers may ask for, and how large they are together. */
function measure(folders: string[]): string {
  const sizes = folders
    .flatMap((folder) => readdirSync(folder).map((name) => join(folder, name)))
    .filter((path) => /\.(?:js|css|woff2)$/.test(path))
    .map((path) => statSync(path).size)
  const bytes = sizes.reduce((sum, size) => sum + size, 0)
  return `${sizes.length} files, ${Math.round(bytes / 1024)} KB`
}

/** The fault as a line, where the user who builds is the wrong one. */
function refuse(error: unknown): void {
  const { code, path = freshOf(PANEL_FOLDER) } = error as NodeJS.ErrnoException
  if (!/^(?:EACCES|EPERM|EROFS)$/.test(code ?? '')) throw error
  process.stderr.write(
    `this user may not write to ${dirname(path)}: run npm run build as the owner of the program\n`,
  )
  process.exitCode = 1
}

/** Renames a fresh build into place. Of two builds at once, which are the same, one stays. */
function place(folder: string): void {
  try {
    renameSync(folder, oldOf(folder))
  } catch {
    // The first build.
  }
  try {
    renameSync(freshOf(folder), folder)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOTEMPTY') throw error
  }
}

async function buildPanel(outDir: string): Promise<void> {
  for (const language of PANEL_LANGS) {
    await build({
      configFile: join(ROOT, 'vite.config.ts'),
      configLoader: 'native',
      logLevel: 'warn',
      plugins: [only(language)],
      build: { outDir, manifest: manifestOf(language), emptyOutDir: false },
    })
  }
}

/** Each script of the pages is one file that needs no other. */
async function buildPageScripts(outDir: string): Promise<void> {
  for (const name of PAGE_SCRIPTS) {
    await build({
      configFile: false,
      root: ROOT,
      publicDir: false,
      logLevel: 'warn',
      build: {
        outDir,
        emptyOutDir: false,
        target: 'es2022',
        reportCompressedSize: false,
        modulePreload: { polyfill: false },
        rolldownOptions: {
          input: join(ROOT, 'src/web/assets', `${name}.ts`),
          output: { format: 'iife', entryFileNames: '[name].js' },
        },
      },
    })
  }
}

async function buildAll(): Promise<void> {
  const stamp = sourcesStamp()
  const [panel, pages] = [freshOf(PANEL_FOLDER), freshOf(PAGES_FOLDER)]
  await buildPanel(panel)
  await buildPageScripts(pages)
  const served = [join(panel, 'assets'), pages]
  for (const folder of served) compress(folder)
  for (const folder of FOLDERS.map(freshOf)) writeFileSync(join(folder, STAMP_FILE), stamp)
  const measured = measure(served)
  for (const folder of FOLDERS) place(folder)
  process.stdout.write(`panel and pages built: ${measured}\n`)
}

// Of another value in the environment Vite makes a development build, a tenth heavier.
process.env.NODE_ENV = 'production'
// A start, which may build too, keeps what it writes to its owner; this is for whoever runs the service.
process.umask(0o022)
try {
  makeFolder(dirname(PANEL_FOLDER))
  for (const folder of FOLDERS) mkdirSync(freshOf(folder), { recursive: true })
  try {
    await buildAll()
  } finally {
    for (const left of FOLDERS.flatMap((folder) => [freshOf(folder), oldOf(folder)]))
      rmSync(left, { recursive: true, force: true })
  }
} catch (error) {
  refuse(error)
}
