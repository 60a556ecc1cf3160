/** A folder for what one measurement writes, removed at its end and at the end of the process. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export async function withWorkFolder<T>(work: (folder: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'subpanel-bench-'))
  const remove = () => rmSync(folder, { recursive: true, force: true })
  process.on('exit', remove)
  try {
    return await work(folder)
  } finally {
    process.off('exit', remove)
    remove()
  }
}
