/** The NodeSync of a process that reaches no node: it notes what is to be done, and the scheduler, which looks each second, does it. */
import { listNodes, noteBehind } from '#db/nodes.ts'
import type { NodeSync } from '#src/ports/node-sync.ts'
import type { Services } from '#src/services.ts'

type Deps = Pick<Services, 'db'>

const LEFT = 'left to the scheduler, which this machine is not'

export function deferNodeSync(s: Deps): NodeSync {
  /** Those that have a core, here or elsewhere; `only` these. */
  const note = async (only?: string[]): Promise<string[]> => {
    const nodes = (await s.db.read(listNodes)).filter((node) => node.kind !== 'external')
    const codes = nodes.map(({ code }) => code).filter((code) => !only || only.includes(code))
    if (codes.length > 0) await noteBehind(s.db, codes)
    return codes
  }
  return {
    async touch(subscriptions) {
      const noted = await note(subscriptions.map(({ node }) => node))
      return noted.length === 0
    },
    async syncAll({ only }) {
      const noted = await note(only)
      return noted.map((code) => ({ code, ok: false, added: 0, removed: 0, error: LEFT }))
    },
    retryBehind() {},
    async readTraffic() {},
    readNode: async () => false,
  }
}
