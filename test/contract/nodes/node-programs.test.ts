/** Nodes that run the former node program (docs/nodes.md). */
import { expect } from 'vitest'
import { addNode } from '#test/support/rows/records.ts'
import { scenarios } from '#test/support/worlds/scenario.ts'

const NODES = '/admin/api/nodes'

scenarios('GET /admin/api/nodes', [
  {
    name: '200 with what a managed node lacks that runs the former node program, and of no other',
    given: async (w) => {
      const programs = { old: 1, new: 2, never: null }
      for (const [code, program] of Object.entries(programs)) {
        addNode(w, code, { kind: 'managed', program })
      }
      addNode(w, 'second', { kind: 'local', program: 1 })
    },
    request: { path: NODES },
    status: 200,
    effects: (_w, _given, { json }) => {
      const outdated = json.filter((node: object) => 'outdated' in node)
      expect(outdated).toMatchObject([
        { code: 'old', outdated: { program: 1, lacks: ['own-configuration'] } },
      ])
    },
  },
  {
    name: '200 without a word of it once a pass has found the present program',
    given: async (w) => {
      addNode(w, 'old', { kind: 'managed', private_key: 'K'.repeat(43), program: 1 })
      w.remote('old')
      await w.s.nodeSync.syncAll({ force: false, remove: true })
    },
    request: { path: NODES },
    status: 200,
    effects: (w, _given, { json }) => {
      expect(w.rows("select program from nodes where code = 'old'")).toEqual([{ program: 2 }])
      expect(json.filter((node: object) => 'outdated' in node)).toEqual([])
    },
  },
  {
    name: '200 with it once a pass has found the former one',
    given: async (w) => {
      addNode(w, 'old', { kind: 'managed', private_key: 'K'.repeat(43) })
      w.remote('old').version = 1
      await w.s.nodeSync.syncAll({ force: false, remove: true })
    },
    request: { path: NODES },
    status: 200,
    effects: (_w, _given, { json }) => {
      expect(json.at(-1)).toMatchObject({ code: 'old', last_error: null, outdated: { program: 1 } })
    },
  },
])
