/** The copies that restores make of what was there: which of them stay, so that no number of restores takes the true one away. */
import { UploadRefused } from '#db/upload.ts'
import { DAY_MS, fileStamp, later } from '#src/lib/time.ts'

const ALWAYS = 2
const KEPT = 5
const KEPT_MS = 7 * DAY_MS

const NAME = /^before-restore-(\d{8}-\d{6})(?:-(\d+))?\.db$/

/** A copy of the database, with the env file beside it. */
export interface SafetyCopy {
  name: string
  bytes: number
}

export const isSafetyCopy = (name: string): boolean => NAME.test(name)

/** The name of the copy of a moment; `number`: that of one more in the same second, from 2. */
export const safetyCopyName = (at: Date, number: number): string =>
  `before-restore-${fileStamp(at)}${number === 1 ? '' : `-${number}`}.db`

function keyOf(name: string): [stamp: string, number: number] {
  const [, stamp = '', number = '1'] = NAME.exec(name) ?? []
  return [stamp, Number(number)]
}

function newestFirst(one: SafetyCopy, other: SafetyCopy): number {
  const [stamp, number] = keyOf(one.name)
  const [otherStamp, otherNumber] = keyOf(other.name)
  if (stamp !== otherStamp) return stamp < otherStamp ? 1 : -1
  return otherNumber - number
}

/**
 * The copies that go when there is a new one: the newest five stay, and all of the last 7 days, as far as they take `maxBytes`
 * together; the newest two always. Throws UploadRefused where one of the last 7 days would have to go.
 */
export function outdatedCopies(copies: SafetyCopy[], now: Date, maxBytes: number): string[] {
  const since = fileStamp(later(now, -KEPT_MS))
  const outdated: string[] = []
  let bytes = 0
  for (const [index, { name, bytes: size }] of copies.toSorted(newestFirst).entries()) {
    const isRecent = keyOf(name)[0] > since
    const fits = index < ALWAYS || bytes + size <= maxBytes
    if (isRecent && !fits) {
      throw new UploadRefused(
        'the safety copies of the last 7 days fill SNAPSHOT_MAX_MB: on the machine, move what you can spare out of safety in DATA_DIR',
      )
    }
    if (fits && (index < KEPT || isRecent)) bytes += size
    else outdated.push(name)
  }
  return outdated
}
