/** Backups with a passphrase, for tests of what becomes of them. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import Sqlite from 'better-sqlite3'
import { expect } from 'vitest'
import { unpackArchive } from '#src/integrations/files/archive.ts'
import type { FileWorld } from '#test/support/worlds/file-world.ts'

export const PASSPHRASE = 'Лес за рекой, 1908'

export async function setPassphrase(w: FileWorld, passphrase: string | null) {
  const answer = await w.admin('/admin/api/settings/backup', { body: { passphrase } })
  expect([answer.status, answer.json]).toEqual([200, { encrypted: passphrase !== null }])
}

/** The tg_ids in an archive, and all bytes of its database. */
export async function look(w: FileWorld, archive: Uint8Array, passphrase: string | null) {
  const file = join(w.dir, 'looked-at')
  const database = join(w.dir, `looked-at-${w.files('.').length}.db`)
  writeFileSync(file, archive)
  const { env } = await unpackArchive(file, database, 1e9, passphrase)
  const raw = new Sqlite(database, { readonly: true })
  const ids = raw.prepare('select tg_id from users').pluck().all()
  raw.close()
  return { ids, env, bytes: readFileSync(database) }
}

/** The passphrase as the database holds it; none where there is none. */
export const storedPassphrases = (w: FileWorld) =>
  w
    .rows('select backup_key from instance where backup_key is not null')
    .map(({ backup_key }) => backup_key as string)
