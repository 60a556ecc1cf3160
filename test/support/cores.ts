import { execFileSync } from 'node:child_process'
import {
  accessSync,
  chmodSync,
  constants,
  mkdirSync,
  readFileSync,
  renameSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { gunzipSync } from 'node:zlib'

export type CoreName = 'xray' | 'sing-box' | 'mihomo' | 'hysteria'

const VARIABLES: Record<CoreName, string> = {
  xray: 'XRAY_BIN',
  'sing-box': 'SINGBOX_BIN',
  mihomo: 'MIHOMO_BIN',
  hysteria: 'HYSTERIA_BIN',
}

const VERSION_ARGUMENTS: Record<CoreName, string[]> = {
  xray: ['version'],
  'sing-box': ['version'],
  mihomo: ['-v'],
  hysteria: ['version'],
}

/**
 * The path of a core's program: `<NAME>_BIN`, else in CORES_DIR, else on PATH. With a version, the
 * first of them that says it is this version, or a file `<name>-<version>`, also gzipped.
 * Throws when there is none: a test that needs a core must fail without it, not pass.
 */
export function findCore(name: CoreName, version?: string): string {
  const named = process.env[VARIABLES[name]]
  const folders = (process.env.PATH ?? '').split(delimiter)
  if (process.env.CORES_DIR) folders.unshift(process.env.CORES_DIR)
  const paths = [...(named ? [named] : []), ...folders.map((folder) => join(folder, name))]
  const fits = (path: string) => !version || versionOf(name, path) === version
  const found = paths.find((path) => isProgram(path) && fits(path))
  if (found) return found
  const versioned = version && findVersioned(folders, `${name}-${version}`)
  if (versioned) return versioned
  const wanted = version ? `${name} ${version}` : name
  const where = `set ${VARIABLES[name]}, or CORES_DIR to a folder that holds it, or put it on PATH`
  throw new Error(`core not found: ${wanted} (${where})`)
}

function findVersioned(folders: string[], fileName: string): string | undefined {
  for (const folder of folders) {
    const path = join(folder, fileName)
    if (isProgram(path)) return path
    if (isFile(`${path}.gz`)) return unpacked(`${path}.gz`, fileName)
  }
  return undefined
}

/** The first x.y.z in what the program prints about itself. */
function versionOf(name: CoreName, path: string): string | undefined {
  const text = execFileSync(path, VERSION_ARGUMENTS[name], { encoding: 'utf8', timeout: 20_000 })
  return /\d+\.\d+\.\d+(?:-[0-9a-z.]+)?/.exec(text)?.[0]
}

function unpacked(archive: string, name: string): string {
  const { size, mtimeMs } = statSync(archive)
  const folder = join(tmpdir(), `subpanel-cores-${process.getuid?.() ?? 0}`)
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const path = join(folder, `${name}-${size}-${Math.floor(mtimeMs)}`)
  if (isProgram(path)) return path
  // Under another name first: a second test process must not run half a file.
  const partial = `${path}.${process.pid}`
  writeFileSync(partial, gunzipSync(readFileSync(archive)))
  chmodSync(partial, 0o755)
  renameSync(partial, path)
  return path
}

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() ?? false
}

function isProgram(path: string): boolean {
  if (!isFile(path)) return false
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}
