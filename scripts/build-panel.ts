/** `npm run build`: builds the panel into dist/admin, compressed; the build that is there stays until the new one is whole. */
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'
import { build } from 'vite'
import { PANEL_FOLDER, STAMP_FILE, sourcesStamp } from '#src/integrations/panel-build.ts'

const ROOT = join(import.meta.dirname, '..')
const fresh = `${PANEL_FOLDER}.${process.pid}`
const old = `${fresh}.old`

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

const stamp = sourcesStamp()
try {
  mkdirSync(dirname(fresh), { recursive: true })
  await build({
    configFile: join(ROOT, 'vite.config.ts'),
    configLoader: 'native',
    logLevel: 'warn',
    build: { outDir: fresh, emptyOutDir: true },
  })
  compress(join(fresh, 'assets'))
  writeFileSync(join(fresh, STAMP_FILE), stamp)
  place()
} finally {
  rmSync(fresh, { recursive: true, force: true })
  rmSync(old, { recursive: true, force: true })
}
