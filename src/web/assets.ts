/** Scripts of the pages, named by their content so that browsers may keep them for ever. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { sha256Hex } from '#src/lib/crypto.ts'

export interface Asset {
  body: string
  type: string
}

const TYPES: Record<string, string> = {
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
}

const FOLDER = join(import.meta.dirname, 'assets')

const files = readdirSync(FOLDER)
  .map((name) => ({ name, type: TYPES[name.split('.').at(-1) ?? ''] }))
  .filter((file): file is { name: string; type: string } => file.type !== undefined)
  .map(({ name, type }) => {
    const body = readFileSync(join(FOLDER, name), 'utf8')
    const dot = name.lastIndexOf('.')
    const hash = sha256Hex(body).slice(0, 8)
    return { name, path: `/assets/${name.slice(0, dot)}.${hash}${name.slice(dot)}`, body, type }
  })

const pathByName = new Map(files.map(({ name, path }) => [name, path]))

/** Path on every host -> what is there; `immutable`. */
export const assets: ReadonlyMap<string, Asset> = new Map(
  files.map(({ path, body, type }) => [path, { body, type }]),
)

/** The path of a public asset, such as `/assets/cabinet.0a1b2c3d.js`. Throws for an unknown name. */
export function assetUrl(name: string): string {
  const path = pathByName.get(name)
  if (!path) throw new Error(`no such asset: ${name}`)
  return path
}
