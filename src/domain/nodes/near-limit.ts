/** Nodes whose clients have little traffic left are read oftener, so that nobody gets far beyond their quota. */
import { listNodesNearLimit } from '#db/quotas.ts'
import { formatTimestamp } from '#src/lib/time.ts'
import type { Services } from '#src/services.ts'

const READING_MS = 10_000

/** Reads the counters of nodes with a client who has used nine tenths. */
export async function readNodesNearLimit(
  s: Pick<Services, 'db' | 'clock' | 'nodeSync'>,
): Promise<void> {
  const now = formatTimestamp(s.clock.now())
  const codes = await s.db.read((q) => listNodesNearLimit(q, now))
  await Promise.all(codes.map((code) => s.nodeSync.readNode(code, READING_MS)))
}
