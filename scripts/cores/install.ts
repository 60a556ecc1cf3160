/** Checks a core's program and puts it into CORES_DIR/<arch>/, whole or not at all. */
import { execFileSync } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { type Arch, archOf } from '#src/lib/elf.ts'

export const CORES = ['xray', 'hysteria'] as const
export type CoreName = (typeof CORES)[number]
export type Progress = (line: string) => void

export const MAX_CORE_BYTES = 256 * 1024 * 1024
const SUMS = 'SHA256SUMS'
const WORK = '.incoming-'
const STALE_MS = 3_600_000

/** A core's program before it is installed. `version` is the pinned one, as its release names it. */
export interface Binary {
  core: CoreName
  arch: Arch
  version: string
  content: Uint8Array
}

/** This machine's own architecture, where cores run; undefined on anything but Linux on amd64 and arm64. */
export function ownArch(): Arch | undefined {
  if (process.platform !== 'linux') return undefined
  return process.arch === 'x64' ? 'amd64' : process.arch === 'arm64' ? 'arm64' : undefined
}

/** `26.7.28` of `v26.7.28`, `2.12.1` of `app/v2.12.1`. */
export function plainVersion(version: string): string {
  return version.replace(/^.*\//, '').replace(/^v/, '')
}

/** Asks a program for its version, as the node program does. Throws when it does not run or does not say. */
function askVersion(core: CoreName, path: string): string {
  let text: string
  try {
    text = execFileSync(path, ['version'], {
      encoding: 'utf8',
      timeout: 20_000,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { PATH: '/usr/bin:/bin', HOME: '/nonexistent', HYSTERIA_DISABLE_UPDATE_CHECK: '1' },
    })
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    const why = code === 'EACCES' ? 'is CORES_DIR on a file system mounted noexec?' : message
    throw new Error(`${core} does not run here: ${why.split('\n')[0]}`)
  }
  const pattern =
    core === 'xray' ? /^Xray (\d+\.\d+\.\d+\S*)/m : /^Version:\s+v?(\d+\.\d+\.\d+\S*)/m
  const version = pattern.exec(text)?.[1]
  if (!version) throw new Error(`${core} does not say its version`)
  return version
}

export interface InstallOptions {
  coresDir: string
  /** Mode of the folders that are made: 0700 inside DATA_DIR. */
  folderMode: number
  force: boolean
  progress: Progress
}

/** A folder inside CORES_DIR for files that are not finished; its `clean` may be called twice. */
export function openWorkFolder(coresDir: string, folderMode: number) {
  mkdirSync(coresDir, { recursive: true, mode: folderMode })
  for (const name of readdirSync(coresDir)) {
    const path = join(coresDir, name)
    const own = name.startsWith(WORK) && Date.now() - statSync(path).mtimeMs > STALE_MS
    if (own) rmSync(path, { recursive: true, force: true })
  }
  const folder = mkdtempSync(join(coresDir, WORK))
  return { folder, clean: () => rmSync(folder, { recursive: true, force: true }) }
}

/** Checks architecture and version, then moves the program to its place. Throws and leaves what was there. */
export function installCore(binary: Binary, workFolder: string, options: InstallOptions): void {
  const { core, arch, content } = binary
  const { progress } = options
  const found = archOf(content)
  if (found !== arch) throw new Error(`${core} is a program for ${found}, not for ${arch}`)
  const pinned = plainVersion(binary.version)
  const temporary = join(workFolder, `${core}-${arch}-${randomBytes(6).toString('hex')}`)
  writeFileSync(temporary, content, { mode: 0o755, flush: true })
  chmodSync(temporary, 0o755)
  const digest = createHash('sha256').update(content).digest('hex')
  progress(`    SHA-256 of ${core} (${arch})  ${digest}`)
  if (arch === ownArch()) {
    const version = askVersion(core, temporary)
    if (version !== pinned && !options.force) {
      throw new Error(
        `${core} says it is ${version}, but ${pinned} is pinned: not installed. Bring the pinned ` +
          `version, set ${core.toUpperCase()}_VERSION, or repeat with --force.`,
      )
    }
    progress(`    version ${version}${version === pinned ? '' : ` (not the pinned ${pinned})`}`)
  } else {
    progress('    not for this machine: its node asks it for its version')
  }
  const folder = join(options.coresDir, arch)
  mkdirSync(folder, { recursive: true, mode: options.folderMode })
  renameSync(temporary, join(folder, core))
  writeSums(folder, workFolder)
  progress(`  installed ${join(folder, core)}`)
}

/** Writes SHA256SUMS anew from what the folder holds, for `sha256sum -c`. */
function writeSums(folder: string, workFolder: string): void {
  const lines = [...CORES].sort().flatMap((core) => {
    const path = join(folder, core)
    if (!existsSync(path)) return []
    return [`${createHash('sha256').update(readFileSync(path)).digest('hex')}  ${core}\n`]
  })
  const temporary = join(workFolder, SUMS)
  writeFileSync(temporary, lines.join(''), { mode: 0o644, flush: true })
  renameSync(temporary, join(folder, SUMS))
}
