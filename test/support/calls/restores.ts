/** Backups and restores through the panel, for tests of what they keep. */
import { expect } from 'vitest'
import { upload } from '#test/support/archives/archives.ts'
import { createFileWorld, type FileWorld } from '#test/support/worlds/file-world.ts'
import { PASSWORD } from '#test/support/worlds/world.ts'

/** Restores an archive, waits for what follows, and gives the answer. */
export async function restoreInto(
  w: FileWorld,
  archive: Uint8Array,
  texts: Record<string, string> = {},
) {
  const answer = await w.admin('/admin/api/backup/restore', upload(archive, 'file', texts))
  expect(answer.status, answer.text).toBe(200)
  await w.s.background.idle()
  return answer.json
}

/** A backup as the panel gives it. */
export async function download(w: FileWorld): Promise<Uint8Array> {
  const answer = await w.admin('/admin/api/backup')
  expect(answer.status).toBe(200)
  return answer.bytes
}

/** The cookie of a new session: a restore ends them all. */
export async function logInTo(w: FileWorld): Promise<string> {
  const { headers } = await w.call('/admin/api/login', {
    body: { username: 'admin', password: PASSWORD },
  })
  return headers.get('set-cookie')?.split(';')[0] as string
}

/** The archive of another installation. */
export async function archiveOf(given: (other: FileWorld) => unknown): Promise<Uint8Array> {
  const other = await createFileWorld()
  try {
    await given(other)
    return (await other.admin('/admin/api/backup')).bytes
  } finally {
    other.close()
  }
}
