/** `DATA_DIR/known_hosts`, for an operator's own `ssh -o UserKnownHostsFile=…`: the service reads the database only. */
import { readFileSync } from 'node:fs'
import { writeFileAtomic } from '#src/lib/atomic-file.ts'

/** Replaces the file, owner-only, where its text is another one. */
export function knownHostsFile(path: string): (text: string) => void {
  return (text) => {
    if (presentText(path) !== text) writeFileAtomic(path, text)
  }
}

function presentText(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return undefined
  }
}
