/** Reads that may take long. */
import type { ReadInput, ReadName, ReadResult } from '#db/reads.ts'

/** Reads that may take long, one after another in a thread of their own, so that none holds requests up. */
export interface Reads {
  /**
   * What a read of db/reads.ts gives. Throws 503 when too many wait, when its turn or its answer takes too long, and when the thread
   * is gone. A fault of the database keeps its code.
   */
  ask<K extends ReadName>(name: K, ...input: ReadInput<K>): Promise<ReadResult<K>>
  /** The same for somebody who may go away: what has not had its turn when `gone` is aborted is never read. */
  for(gone: AbortSignal): Reads
  /** Ends the thread and refuses all further questions. Resolves when it is gone, which is when its statement has ended. */
  close(): Promise<void>
}
