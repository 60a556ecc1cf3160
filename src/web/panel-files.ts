/** The built panel: what its page loads, and its files as they are served. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

export interface PanelFile {
  type: string
  body: Uint8Array<ArrayBuffer>
  br: Uint8Array<ArrayBuffer> | null
  gzip: Uint8Array<ArrayBuffer> | null
}

/** Names below `assets/`. */
export interface PanelEntry {
  script: string
  styles: string[]
  /** Scripts that the first one needs at once. */
  preloads: string[]
  /** The font of Latin letters, which every language needs. */
  font: string | null
}

export interface Panel {
  entry: PanelEntry
  files: ReadonlyMap<string, PanelFile>
}

const TYPES: Record<string, string> = {
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  woff2: 'font/woff2',
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
    styles: [...new Set(styles.map(nameOf))],
    preloads: [...needed].map((chunk) => nameOf(chunk.file)),
    font: names.find((name) => /^onest-latin.*\.woff2$/.test(name)) ?? null,
  }
}

function readFile(folder: string, name: string): PanelFile {
  const path = join(folder, name)
  const read = (suffix: string) =>
    existsSync(path + suffix) ? new Uint8Array(readFileSync(path + suffix)) : null
  return {
    type: TYPES[name.slice(name.lastIndexOf('.') + 1)] ?? 'application/octet-stream',
    body: new Uint8Array(readFileSync(path)),
    br: read('.br'),
    gzip: read('.gz'),
  }
}

/** Reads a build; null when there is none that is whole. */
export function readPanel(folder: string): Panel | null {
  const manifestFile = join(folder, '.vite', 'manifest.json')
  if (!existsSync(manifestFile)) return null
  const manifest = JSON.parse(readFileSync(manifestFile, 'utf8')) as Manifest
  const assets = join(folder, 'assets')
  const names = readdirSync(assets).filter((name) => /\.(js|css|woff2)$/.test(name))
  return {
    entry: entryOf(manifest, names),
    files: new Map(names.map((name) => [name, readFile(assets, name)])),
  }
}
