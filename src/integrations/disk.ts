/** The disk that a folder is on. */
import { statfsSync } from 'node:fs'

/** What is left on it for this process. */
export function freeBytes(folder: string): number {
  const { bavail, bsize } = statfsSync(folder)
  return bavail * bsize
}
