/** A world whose database and env file are real files: what copies the installation needs them. */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createWorld, INSTANCE_ID, type World, type WorldOptions } from './world.ts'

export interface FileWorld extends World {
  dir: string
  envFile: string
  /** The env file's text. */
  env(): string
  /** Names of the files in a folder of the data folder; none when there is no such folder. */
  files(folder: string): string[]
}

/** `env`: further lines of the env file. */
export async function createFileWorld(
  options: WorldOptions & { env?: string } = {},
): Promise<FileWorld> {
  const dir = mkdtempSync(join(tmpdir(), 'subpanel-world-'))
  const envFile = join(dir, '.env')
  writeFileSync(envFile, `INSTANCE_ID=${INSTANCE_ID}\n${options.env ?? ''}`, { mode: 0o600 })
  const environment = { DATA_DIR: dir, ENV_FILE: envFile, ...options.environment }
  const world = await createWorld({ ...options, environment, path: join(dir, 'panel.db') })
  return {
    ...world,
    dir,
    envFile,
    env: () => readFileSync(envFile, 'utf8'),
    files(folder) {
      try {
        return readdirSync(join(dir, folder)).sort()
      } catch {
        return []
      }
    },
    close() {
      world.close()
      rmSync(dir, { recursive: true, force: true })
    },
  }
}
