/** A build of the panel with the least that one has. */
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import { manifestOf, PANEL_LANGS, type PanelLang } from '#src/web/panel-files.ts'

export const PANEL_SCRIPT = 'import("./shared-2.js")\n'

const MANIFEST = {
  'main.tsx': {
    isEntry: true,
    imports: ['_shared.js'],
    dynamicImports: ['screens/users/users.tsx'],
    css: ['assets/main-1.css'],
  },
  '_shared.js': { file: 'assets/shared-2.js', css: ['assets/shared-2.css'], imports: ['main.tsx'] },
  'screens/users/users.tsx': { file: 'assets/users-3.js', imports: ['main.tsx'] },
}

const MAIN: Record<PanelLang, string> = { en: 'assets/main-1.js', ru: 'assets/main-5.js' }

const FILES: Record<string, string> = {
  'main-1.js': PANEL_SCRIPT,
  'main-5.js': '',
  'main-1.css': ':root{}',
  'shared-2.js': '',
  'shared-2.css': '',
  'users-3.js': '',
  'onest-latin-4.woff2': 'font',
}

/** Makes it in a folder of its own, which the caller removes. */
export function makeFakePanel(): string {
  const folder = mkdtempSync(join(tmpdir(), 'subpanel-panel-'))
  mkdirSync(join(folder, '.vite'))
  mkdirSync(join(folder, 'assets'))
  for (const lang of PANEL_LANGS) {
    const manifest = { ...MANIFEST, 'main.tsx': { ...MANIFEST['main.tsx'], file: MAIN[lang] } }
    writeFileSync(join(folder, manifestOf(lang)), JSON.stringify(manifest))
  }
  for (const [name, text] of Object.entries(FILES)) {
    const path = join(folder, 'assets', name)
    writeFileSync(path, text)
    if (name.startsWith('main')) {
      writeFileSync(`${path}.br`, brotliCompressSync(text))
      writeFileSync(`${path}.gz`, gzipSync(text))
    }
  }
  return folder
}
