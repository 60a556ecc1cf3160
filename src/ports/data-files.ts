/** Database and env file as a whole. */
import type { WrongValue } from '#db/upload.ts'
import type { PassphraseKey } from '#src/lib/passphrase-key.ts'
import type { WebhookReceiver } from './event-sender.ts'

export interface RestoreRequest {
  at: Date
  admin: string | null
  ip: string
  /** The session that asks: nothing happens once it has ended. Null for the operator's script. */
  sessionId: number | null
  /** What opens the archive; null when nothing was given. */
  passphrase: string | null
  /** What those are told who were alerted before it (domain/notify/messages.ts). */
  message: { kind: string; payload: object }
}

export interface RestoreOutcome {
  restoredEnv: boolean
  /** Settings of the backup that were not taken. */
  dropped: string[]
  /** Changed settings that count from the next start. */
  restartNeeded: string[]
  /** Settings of this machine's env file that stay as they are because the backup's lacks them. */
  kept: string[]
  safetyCopies: string[]
  /** Paid payments that the backup does not know. */
  reviews: number
  /** Whether backups are encrypted from now on, to the passphrase of this one: it had one, and this machine none. */
  passphraseTaken: boolean
  /** The Telegram ids of those who were alerted before the restore: they are told of it already. */
  alerted: number[]
  /** Who was sent events of restores before this one; null where nobody was. */
  formerReceiver: WebhookReceiver | null
}

/** Database and env file as a whole: packed, and put back. The work is done in a thread of its own. */
export interface DataFiles {
  /** An archive of this moment, packed as it is read, and encrypted where there is a key. Resolves when the database is copied. */
  pack(at: Date, key: PassphraseKey | null): Promise<ReadableStream<Uint8Array>>
  /**
   * The same as the new file `path`, safe from a power cut when it is there. With `check` its rows are read as a restore would read
   * them: gives the first value that would be refused, null where there is none.
   */
  packInto(
    path: string,
    at: Date,
    key: PassphraseKey | null,
    check: boolean,
  ): Promise<WrongValue | null>
  /**
   * Runs `work` with the path of an archive that `receive` writes piece by piece, and with what `receive` gives; the file is removed
   * afterwards.
   */
  withUpload<R, T>(
    receive: (write: (bytes: Uint8Array) => Promise<void>) => Promise<R>,
    work: (archive: string, received: R) => Promise<T>,
  ): Promise<T>
  /**
   * Puts an archive's rows and settings in place of the present ones. `live` gives what the environment has of the live settings when
   * this one's turn comes. Throws 400 for a bad archive; then nothing has changed.
   */
  restore(
    archive: string,
    request: RestoreRequest,
    live: () => Readonly<Record<string, string>>,
  ): Promise<RestoreOutcome>
}
