/** The folder of the snapshots, and the operator's command that copies them elsewhere. */

import { spawn } from 'node:child_process'
import { mkdirSync, readdirSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { storeAt } from '#db/engine/open.ts'
import type { StorePlace } from '#db/engine/store.ts'
import type { Config } from '#src/config.ts'
import { MINUTE_MS } from '#src/lib/time.ts'
import type { DataFiles } from '#src/ports/data-files.ts'
import type { Snapshots } from '#src/ports/snapshots.ts'
import { refusal } from '#src/refusals/index.ts'
import { freeBytes } from './disk.ts'

const COPY_MS = 30 * MINUTE_MS
/** A copy of the database, and an archive that at worst is as large. */
const ROOM = 2.2

/** Words of a command line, split at spaces; `{}` is the file, which else comes last. No shell has a part in it. */
export function commandWords(command: string, file: string): string[] {
  const words = command.split(/\s+/).filter(Boolean)
  return words.includes('{}')
    ? words.map((word) => (word === '{}' ? file : word))
    : [...words, file]
}

/** Runs a command in a group of its own; null when it ended with 0 in time, else what went wrong. */
function runCommand([program = '', ...args]: string[], timeoutMs: number): Promise<string | null> {
  return new Promise((resolve) => {
    const child = spawn(program, args, { detached: true, stdio: 'ignore' })
    const kill = () => {
      try {
        if (child.pid) process.kill(-child.pid, 'SIGKILL')
      } catch {
        // It ended meanwhile.
      }
      resolve(`it took longer than ${timeoutMs / MINUTE_MS} minutes`)
    }
    const timer = setTimeout(kill, timeoutMs)
    const end = (outcome: string | null) => {
      clearTimeout(timer)
      resolve(outcome)
    }
    child.on('error', (error) => end(`it could not be started: ${error.message}`))
    child.on('close', (code, signal) => end(code === 0 ? null : `it ended with ${code ?? signal}`))
  })
}

/** The Snapshots of an installation, in DATA_DIR/snapshots. */
export function createSnapshots(
  config: StorePlace & Pick<Config, 'dataDir'>,
  dataFiles: Pick<DataFiles, 'packInto'>,
  copyTimeoutMs = COPY_MS,
): Snapshots {
  const folder = join(config.dataDir, 'snapshots')
  return {
    list() {
      mkdirSync(folder, { recursive: true, mode: 0o700 })
      return readdirSync(folder).map((name) => ({ name, bytes: statSync(join(folder, name)).size }))
    },
    async make(name, at, key, check) {
      const store = await storeAt(config)
      if (freeBytes(config.dataDir) < (await store.bytes()) * ROOM) {
        throw refusal('disk-space-low')
      }
      return dataFiles.packInto(join(folder, name), at, key, check)
    },
    remove: (name) => rmSync(join(folder, name), { force: true }),
    freeBytes: () => freeBytes(config.dataDir),
    copy: (name, command) => runCommand(commandWords(command, join(folder, name)), copyTimeoutMs),
  }
}
