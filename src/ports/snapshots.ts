/** The folder of the hourly snapshots. */
import type { WrongValue } from '#db/upload.ts'
import type { PassphraseKey } from '#src/lib/passphrase-key.ts'

export interface SnapshotFile {
  name: string
  bytes: number
}

/** The folder of the hourly snapshots. */
export interface Snapshots {
  list(): SnapshotFile[]
  /**
   * Writes an archive of this moment into the folder, encrypted where there is a key. `check` as in `packInto`. Throws when there is
   * too little space for it.
   */
  make(
    name: string,
    at: Date,
    key: PassphraseKey | null,
    check: boolean,
  ): Promise<WrongValue | null>
  remove(name: string): void
  /** What is left on the disk. */
  freeBytes(): number
  /** Runs the operator's command for a snapshot; null when it succeeded, else the reason. Never throws. */
  copy(name: string, command: string): Promise<string | null>
}
