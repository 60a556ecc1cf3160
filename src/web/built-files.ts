/** Files of a build as they are served: `npm run build` leaves each text beside its compressed forms. */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

export interface BuiltFile {
  type: string
  body: Uint8Array<ArrayBuffer>
  br: Uint8Array<ArrayBuffer> | null
  gzip: Uint8Array<ArrayBuffer> | null
}

const TYPES: Record<string, string> = {
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  woff2: 'font/woff2',
}

export function readBuiltFile(folder: string, name: string): BuiltFile {
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
