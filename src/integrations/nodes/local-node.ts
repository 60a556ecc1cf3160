/** What the node program of this machine works with: the Xray binary, its folder, its settings. */
import {
  accessSync,
  constants,
  mkdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { delimiter, join } from 'node:path'
import type { Config } from '#src/config.ts'
import { sha256Hex } from '#src/lib/crypto.ts'

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return statSync(path).isFile()
  } catch {
    return false
  }
}

/** A program by its name: in CORES_DIR/<arch>, CORES_DIR or PATH. Null when there is none. */
export function findProgram(
  name: string,
  config: Pick<Config, 'coresDir' | 'searchPath'>,
): string | null {
  const arch = process.arch === 'arm64' ? 'arm64' : 'amd64'
  const folders = [
    join(config.coresDir, arch),
    config.coresDir,
    ...config.searchPath.split(delimiter),
  ]
  const candidates = folders.filter(Boolean).map((folder) => join(folder, name))
  return candidates.find(isExecutable) ?? null
}

/** The Xray binary: XRAY_BIN and nothing else when it is set. Null when there is none. */
export function findXray(
  config: Pick<Config, 'xrayBin' | 'coresDir' | 'searchPath'>,
): string | null {
  const { xrayBin } = config
  if (xrayBin === '') return findProgram('xray', config)
  return isExecutable(xrayBin) ? xrayBin : null
}

export interface LocalCorePaths {
  /** The node program's state. */
  directory: string
  /** The node program's settings: beside its state, where it writes nothing. */
  conf: string
  socket: string
  /** Holds the pid of the core that this process runs. */
  pidFile: string
}

/** Where things of this machine's core are. A socket's path is plain and fits into 107 bytes (unix(7)). */
export function localCorePaths(dataDir: string): LocalCorePaths {
  const directory = join(dataDir, 'node')
  const socket = join(directory, 'api.sock')
  return {
    directory,
    conf: join(dataDir, 'node.conf'),
    pidFile: join(directory, 'core.pid'),
    socket: /^[A-Za-z0-9._/@-]{1,100}$/.test(socket)
      ? socket
      : `/tmp/subpanel-${sha256Hex(directory).slice(0, 16)}.sock`,
  }
}

/** Writes the node program's settings for a core that this process runs and starts anew when it ends. */
export function prepareLocalNode(paths: LocalCorePaths, xray: string | null): void {
  mkdirSync(paths.directory, { recursive: true, mode: 0o700 })
  const lines = [
    `XRAY_BIN=${xray ?? 'xray'}`,
    `API_SOCK=${paths.socket}`,
    'SUPERVISOR=pidfile',
    `CORE_PID=${paths.pidFile}`,
    '',
  ]
  writeFileSync(`${paths.conf}.new`, lines.join('\n'), { mode: 0o600 })
  renameSync(`${paths.conf}.new`, paths.conf)
  // Where program 1 had them.
  rmSync(join(paths.directory, 'node.conf'), { force: true })
}
