/** What has come of a sync, in toasts. */
import type { Answer, api } from '#src/admin-ui/api.ts'
import { toast } from '#src/admin-ui/kit/toast.tsx'
import { loadRefusals, noteInWords } from '#src/admin-ui/refusals.ts'
import { nodeTexts } from './texts.ts'

type Synced = Answer<typeof api.sync.$post>['nodes']

/** Names each node with a fault, also where it went well but for removals that were held back; `done` says the rest. */
export async function tellSync(
  nodes: Synced,
  done: (added: number, removed: number) => string,
): Promise<void> {
  const failed = nodes.filter((node) => node.error !== null)
  if (failed.length > 0) await loadRefusals()
  for (const { code, error } of failed) {
    toast(nodeTexts().syncFailed(code, noteInWords(error ?? '')), 'bad')
  }
  if (failed.length > 0) return
  const sum = (of: 'added' | 'removed') => nodes.reduce((all, node) => all + node[of], 0)
  toast(done(sum('added'), sum('removed')))
}
