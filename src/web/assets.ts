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

/** The panel's own: under the secret path only, since a public name would reveal that there is a panel. */
const ADMIN_NAMES = new Set(['admin.js'])

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

const assetMap = (admin: boolean): ReadonlyMap<string, Asset> =>
  new Map(
    files
      .filter(({ name }) => ADMIN_NAMES.has(name) === admin)
      .map(({ path, body, type }) => [path, { body, type }]),
  )

/** Path on every host -> what is there; `immutable`. */
export const assets = assetMap(false)

/** Path below `/{ADMIN_PATH}` -> what is there; `immutable`. */
export const adminAssets = assetMap(true)

/** The path of a public asset, such as `/assets/cabinet.0a1b2c3d.js`. Throws for an unknown name. */
export function assetUrl(name: string): string {
  const path = pathByName.get(name)
  if (!path || ADMIN_NAMES.has(name)) throw new Error(`no such asset: ${name}`)
  return path
}

/** The path of an asset of the panel, below its base path. Throws for an unknown name. */
export function adminAssetUrl(basePath: string, name: string): string {
  const path = pathByName.get(name)
  if (!path || !ADMIN_NAMES.has(name)) throw new Error(`no such asset: ${name}`)
  return basePath + path
}
