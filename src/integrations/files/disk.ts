/** The disk that a folder is on. */
import { statfsSync } from 'node:fs'

/** What is left on it for this process. */
export function freeBytes(folder: string): number {
  const { bavail, bsize } = statfsSync(folder)
  return bavail * bsize
}

/** The share of it that is left for this process, 0 to 1. */
export function freeShare(folder: string): number {
  const { bavail, blocks } = statfsSync(folder)
  return blocks === 0 ? 1 : bavail / blocks
}
