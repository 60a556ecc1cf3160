/** What all connection lists share — nodes, plans, settings — kept while its revision in the database stands. */
import { listNodes } from '#db/nodes.ts'
import { listPlans } from '#db/plans.ts'
import type { Node, Plan } from '#db/schema.ts'
import { findListsRevision } from '#db/settings.ts'
import type { Services } from '#src/services.ts'
import { readSettings, type Settings } from './settings.ts'

type Deps = Pick<Services, 'db' | 'config'>

export interface Directory {
  revision: number
  nodes: Map<string, Node>
  plans: Map<string, Plan>
  settings: Settings
}

/** A reader that answers from memory while `revision` (users.ts reads it with the user) is unchanged. */
export function createDirectory(s: Deps): (revision: number) => Directory {
  let kept: Directory | null = null
  return (revision) => {
    if (kept?.revision === revision) return kept
    // The revision is read first: what follows can only be newer, and is then read again at the next call.
    const before = findListsRevision(s.db)
    kept = {
      revision: before,
      nodes: new Map(listNodes(s.db).map((node) => [node.code, node])),
      plans: new Map(listPlans(s.db).map((plan) => [plan.code, plan])),
      settings: readSettings(s),
    }
    return kept
  }
}
