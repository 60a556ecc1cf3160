/** The built scripts of the pages (src/web/assets), named by their content so that browsers may keep them for ever. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { sha256Hex } from '#src/lib/crypto.ts'
import { type BuiltFile, readBuiltFile } from './built-files.ts'

export const PAGE_SCRIPTS = ['cabinet', 'link', 'paid'] as const
export type PageScript = (typeof PAGE_SCRIPTS)[number]

/** Paths on every host, such as `/assets/cabinet.0a1b2c3d.js`. */
export type ScriptUrls = Record<PageScript, string>

export interface PageScripts {
  urls: ScriptUrls
  /** By their paths. */
  files: ReadonlyMap<string, BuiltFile>
}

/** Reads a build; null when there is none that is whole. */
export function readPageScripts(folder: string): PageScripts | null {
  if (!PAGE_SCRIPTS.every((name) => existsSync(join(folder, `${name}.js`)))) return null
  const found = PAGE_SCRIPTS.map((name) => {
    const file = readBuiltFile(folder, `${name}.js`)
    return {
      name,
      file,
      path: `/assets/${name}.${sha256Hex(Buffer.from(file.body).toString()).slice(0, 8)}.js`,
    }
  })
  return {
    urls: Object.fromEntries(found.map(({ name, path }) => [name, path])) as ScriptUrls,
    files: new Map(found.map(({ path, file }) => [path, file])),
  }
}
