/** Long reads over connections of a server, which holds nobody up in this process. */
import type { Database } from '#db/engine/database.ts'
import { read } from '#db/reads.ts'
import type { Reads } from '#src/ports/reads.ts'

/** The Reads of a process whose database is on a server: how long one may take is said with its connections. */
export function readsOver(db: Pick<Database, 'scan'>): Reads {
  const reads: Reads = {
    ask: (name, ...input) => read({ read: db.scan }, name, ...input),
    for: () => reads,
    close: async () => {},
  }
  return reads
}
