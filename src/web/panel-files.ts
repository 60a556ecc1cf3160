/** The built panel: what its page loads, and its files as they are served. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type BuiltFile, readBuiltFile } from './built-files.ts'

/** The languages of the panel: each has a build of its own. */
export const PANEL_LANGS = ['en', 'ru'] as const
export type PanelLang = (typeof PANEL_LANGS)[number]

/** Names below `assets/`. */
export interface PanelEntry {
  script: string
  /** All that can ever be loaded, the first one too. */
  scripts: string[]
  styles: string[]
  /** Scripts that the first one needs at once. */
  preloads: string[]
  /** The font of Latin letters, which every language needs. */
  font: string | null
}

export interface Panel {
  /** What the page of each language loads. */
  entries: Record<PanelLang, PanelEntry>
  files: ReadonlyMap<string, BuiltFile>
}

/** A chunk as Vite's manifest describes it. */
interface Chunk {
  file: string
  isEntry?: boolean
  css?: string[]
  imports?: string[]
}

type Manifest = Record<string, Chunk>

const nameOf = (path: string) => path.slice(path.lastIndexOf('/') + 1)

const scriptsOf = (manifest: Manifest): string[] => {
  const names = Object.values(manifest).map((chunk) => nameOf(chunk.file))
  return [...new Set(names.filter((name) => name.endsWith('.js')))]
}

function entryOf(manifest: Manifest, names: string[]): PanelEntry {
  const start = Object.values(manifest).find((chunk) => chunk.isEntry)
  if (!start) throw new Error('the build of the panel has no entry')
  const needed = new Set<Chunk>()
  const collect = (chunk: Chunk) => {
    for (const key of chunk.imports ?? []) {
      const next = manifest[key]
      if (!next || next === start || needed.has(next)) continue
      needed.add(next)
      collect(next)
    }
  }
  collect(start)
  const styles = [start, ...needed].flatMap((chunk) => chunk.css ?? [])
  return {
    script: nameOf(start.file),
    scripts: scriptsOf(manifest),
    styles: [...new Set(styles.map(nameOf))],
    preloads: [...needed].map((chunk) => nameOf(chunk.file)),
    font: names.find((name) => /^onest-latin.*\.woff2$/.test(name)) ?? null,
  }
}

/** Where the build in a language says what it is made of. */
export const manifestOf = (lang: PanelLang): string => `.vite/manifest.${lang}.json`

/** Reads a build; null when there is none that is whole. */
export function readPanel(folder: string): Panel | null {
  const manifests = PANEL_LANGS.map((lang) => join(folder, manifestOf(lang)))
  if (!manifests.every((path) => existsSync(path))) return null
  const assets = join(folder, 'assets')
  const names = readdirSync(assets).filter((name) => /\.(js|css|woff2)$/.test(name))
  return {
    entries: Object.fromEntries(
      PANEL_LANGS.map((lang, at) => {
        const manifest = JSON.parse(readFileSync(manifests[at] as string, 'utf8')) as Manifest
        return [lang, entryOf(manifest, names)]
      }),
    ) as Record<PanelLang, PanelEntry>,
    files: new Map(names.map((name) => [name, readBuiltFile(assets, name)])),
  }
}
