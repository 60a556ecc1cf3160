/** A build of the panel with the least that one has. */
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { brotliCompressSync, gzipSync } from 'node:zlib'

export const PANEL_SCRIPT = 'import("./shared-2.js")\n'

const MANIFEST = {
  'main.tsx': {
    file: 'assets/main-1.js',
    isEntry: true,
    imports: ['_shared.js'],
    dynamicImports: ['screens/users.tsx'],
    css: ['assets/main-1.css'],
  },
  '_shared.js': { file: 'assets/shared-2.js', css: ['assets/shared-2.css'], imports: ['main.tsx'] },
  'screens/users.tsx': { file: 'assets/users-3.js', imports: ['main.tsx'] },
}

const FILES: Record<string, string> = {
  'main-1.js': PANEL_SCRIPT,
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
  writeFileSync(join(folder, '.vite', 'manifest.json'), JSON.stringify(MANIFEST))
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
