/** What must hold of the whole installation: of its database (db/engine/sqlite/verify.ts), and of the clients on its nodes. */
import { listNodes } from '#db/nodes.ts'
import type { Node } from '#db/schema/index.ts'
import { soundNode } from '#src/domain/nodes/sound.ts'
import { PRESENT_PROGRAM } from '#src/domain/nodes/sync/programs.ts'
import { wantedClients } from '#src/domain/nodes/sync/wanted.ts'
import { NodeError } from '#src/lib/errors.ts'
import { formatTimestamp } from '#src/lib/time.ts'
import type { Core } from '#src/ports/cores.ts'
import type { Services } from '#src/services.ts'

type Deps = Pick<Services, 'db' | 'clock' | 'cores'>

const MAX_CLIENTS = 20

function compare(core: Core, present: Set<string>, wanted: Set<string>): string[] {
  const missing = [...wanted].filter((uuid) => !present.has(uuid))
  const extra = [...present].filter((uuid) => !wanted.has(uuid))
  const tell = (uuids: string[], fault: string) => [
    ...uuids.slice(0, MAX_CLIENTS).map((uuid) => `I4 ${core.name} ${fault}: ${uuid}`),
    ...(uuids.length > MAX_CLIENTS
      ? [`I4 ${core.name} ${fault}: and ${uuids.length - MAX_CLIENTS} more`]
      : []),
  ]
  return [
    ...tell(missing, 'lacks a client'),
    ...tell(extra, 'has a client without an active subscription'),
  ]
}

/** I4: a line for every client that a core lacks or has too much, and for every core that gives no answer. */
export async function compareNodes(s: Deps): Promise<string[]> {
  const groups = new Map<Core, Node[]>()
  for (const node of await s.db.read(listNodes)) {
    const core = s.cores.of(node)
    if (core) groups.set(core, [...(groups.get(core) ?? []), node])
  }
  const lines = await Promise.all(
    Array.from(groups, async ([core, nodes]) => {
      try {
        const present = new Set((await core.program.list()).lines.map(([uuid]) => uuid))
        const now = formatTimestamp(s.clock.now())
        const wanted = new Set<string>()
        const all = wantedClients(s, nodes.map(soundNode), PRESENT_PROGRAM, now)
        for await (const { clients } of all.pieces()) {
          for (const [uuid] of clients) wanted.add(uuid)
        }
        return compare(core, present, wanted)
      } catch (error) {
        if (!(error instanceof NodeError)) throw error
        return [`I4 ${core.name} gives no answer: ${error.message}`]
      }
    }),
  )
  return lines.flat()
}
