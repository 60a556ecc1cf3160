import { addNode } from '#test/support/rows/records.ts'
import { scenarios } from '#test/support/worlds/scenario.ts'
import type { World } from '#test/support/worlds/world.ts'

const NODES = '/admin/api/nodes'
const metrics = (code: string) => ({ path: `${NODES}/${code}/metrics` })

const NOTHING = {
  ok: false,
  mem_total_mb: null,
  mem_used_mb: null,
  uptime_s: null,
  mem_fmt: '—',
  uptime_fmt: '—',
}

const MEASURED = {
  ok: true,
  mem_total_mb: 4000,
  mem_used_mb: 1000,
  uptime_s: 90_061,
  mem_fmt: '1000 / 4000 MB',
  uptime_fmt: '1д 1ч',
  core_version: '26.7.28',
  core_up: true,
  clients: 0,
  load1: 0.5,
  cpu_count: 2,
}

scenarios('GET /admin/api/nodes/{code}/metrics', [
  {
    name: '200 with the state of this machine for the local node',
    request: metrics('de1'),
    status: 200,
    body: MEASURED,
  },
  ...[
    [86_399, '23ч 59м'],
    [86_400, '1д 0ч'],
    [3600, '1ч 0м'],
    [3599, '59м'],
    [0, '0м'],
  ].map(([seconds, text]) => ({
    name: `200 with "${text}" for ${seconds} s`,
    given: (w: World) => {
      const { metrics: measure } = w.node.program
      w.node.program.metrics = async (ms) => ({
        ...(await measure(ms)),
        uptimeS: seconds as number,
      })
    },
    request: metrics('de1'),
    status: 200,
    body: { ...MEASURED, uptime_s: seconds, uptime_fmt: text },
  })),
  {
    name: '200 not ok, with nulls and dashes, for an external node',
    given: (w) => addNode(w, 'ext'),
    request: metrics('ext'),
    status: 200,
    body: NOTHING,
  },
  {
    name: '200 not ok, saying why, for a managed node without a program',
    given: (w) => addNode(w, 'far', { kind: 'managed' }),
    request: metrics('far'),
    status: 200,
    body: { ...NOTHING, error: 'the node has not been set up yet' },
  },
  {
    name: '200 with the machine and the fault when no core is installed',
    given: (w) => {
      w.node.up = false
    },
    request: metrics('de1'),
    status: 200,
    body: {
      ...MEASURED,
      core_version: null,
      core_up: false,
      error: 'no proxy core is installed: run `npm run cores`',
    },
  },
  {
    name: '200 with what helps there when a managed node has no core',
    given: (w) => {
      addNode(w, 'far', { kind: 'managed' })
      w.remote('far').up = false
    },
    request: metrics('far'),
    status: 200,
    body: {
      ...MEASURED,
      core_version: null,
      core_up: false,
      error:
        'no proxy core answers on its server: where none is installed, have a new install command given out and run it there',
    },
  },
  {
    name: '200 with the machine and the fault when the core is down',
    given: (w) => {
      const { metrics: measure } = w.node.program
      w.node.program.metrics = async (ms) => ({ ...(await measure(ms)), coreUp: false })
    },
    request: metrics('de1'),
    status: 200,
    body: { ...MEASURED, core_up: false, error: 'the proxy core is not running' },
  },
  ...(['unreachable', 'timeout', 'garbage'] as const).map((failure) => ({
    name: `200 not ok, with the error, when the node program is ${failure}`,
    given: (w: World) => {
      w.node.failure = failure
    },
    request: metrics('de1'),
    status: 200,
    body: { ...NOTHING, error: `fake ${failure}` },
  })),
  {
    name: '404 for an unknown node',
    request: metrics('nope'),
    status: 404,
    error: 'node not found',
  },
])
