/** The connection to a server breaks after every step of what the two say to each other: nothing stays half done. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { seeded } from '#test/support/drivers/torture.ts'
import type { ProxyOrder } from '#test/support/fakes/cut-proxy.ts'
import { createLab, type Lab, startTarget, until } from '#test/support/labs/lab.ts'
import { type ManagedPanel, startPanel, startProxy } from '#test/support/labs/managed-panel.ts'
import { addServer, type NodeServer } from '#test/support/labs/node-lab.ts'
import type { Runtime } from '#test/support/labs/service.ts'

const FULL = process.env.FULL === '1'
const TICK_MS = 1000
/** A failed attempt to connect is not repeated for up to 4 s, a pass takes some seconds on a busy machine; in production a tick is 90 s. */
const HEALED_MS = TICK_MS + 4000 + 9000
const SEED = Number(process.env.SEED ?? 6)
const TIMEOUT_MS = FULL ? 3_600_000 : 180_000
/** Cuts of each kind of exchange; the full form makes one after every step. */
const SAMPLE = 4
const LONGEST_ANSWER_MS = 6000

let lab: Lab
let panel: ManagedPanel
let server: NodeServer
let order: (order: ProxyOrder) => Promise<number>
/** The longest that an admin's request took, in ms. */
let slowest = 0

const inStep = () => until('the server is in step', () => panel.inStep(server), HEALED_MS)

/** Sends an admin's request, which is answered in time whatever becomes of the connection. */
const admin: ManagedPanel['service']['admin'] = async (path, ...rest) => {
  const begin = performance.now()
  const answer = await panel.service.admin(path, ...rest)
  const ms = performance.now() - begin
  slowest = Math.max(slowest, ms)
  expect([path, answer.status, ms < LONGEST_ANSWER_MS]).toEqual([path, 200, true])
  return answer
}

/** What the panel tells the server: it begins with a new connection. */
const exchanges: Record<string, () => Promise<unknown>> = {
  'a client goes and one comes': async () => {
    const [uuid] = panel.wanted('n1')
    await Promise.all([
      admin(`/subscriptions/${uuid}/revoke`, undefined, 'POST'),
      admin(`/users/${Math.floor(Math.random() * 1e9) + 1e6}/grant`, { node: 'n1', plan: '1m' }),
    ])
  },
  'the configuration changes': async () => {
    const short_id = Math.floor(Math.random() * 0xffffffff)
      .toString(16)
      .padStart(8, '0')
    await admin('/nodes/n1', { short_id }, 'PATCH')
    await admin('/sync', {})
  },
  // Last, because they stay.
  'many come at once': async () => {
    panel.fill('n1', 300)
    await admin('/sync', {})
  },
}

/** Ends what connections there are, and lets new ones through until the given step. */
async function breakAfter(step: number | null): Promise<void> {
  await order({ broken: true })
  await order({ broken: false, cutAfter: step })
}

describe.each<Runtime>(FULL ? ['node', 'bun'] : ['node'])('on %s', (runtime) => {
  beforeAll(async () => {
    lab = createLab()
    const target = await startTarget(lab)
    const env = { SYNC_INTERVAL_MS: String(TICK_MS) }
    panel = await startPanel(lab, target, runtime, 'data', env)
    server = addServer(lab, 1, { sni: target.serverName, hysteria: true })
    order = await startProxy(lab, server)
    await panel.adopt(server, { transports: true, hysteria: true, sshPort: 2222 })
    panel.fill('n1', FULL ? 400 : 60)
    await server.boot()
    await until('the server is in step', () => panel.inStep(server), 60_000)
  })
  afterAll(() => lab?.close())

  const title = '%s, and the way there breaks after every step'
  test.each(Object.keys(exchanges))(title, { timeout: TIMEOUT_MS }, async (name) => {
    const exchange = exchanges[name] as () => Promise<unknown>
    await breakAfter(null)
    await exchange()
    await inStep()
    const steps = await order({ broken: false })
    expect(steps).toBeGreaterThan(10)
    const random = seeded(SEED)
    const all = Array.from({ length: steps }, (_, index) => index + 1)
    const chosen = FULL ? all : Array.from({ length: SAMPLE }, () => Math.ceil(random() * steps))
    const times: number[] = []
    slowest = 0
    for (const step of chosen) {
      await breakAfter(step)
      await exchange()
      await order({ broken: false, cutAfter: null })
      const mended = performance.now()
      await inStep().catch((error: Error) => {
        throw new Error(`${error.message} after a cut at step ${step} of ${steps}`)
      })
      times.push(performance.now() - mended)
    }
    const worst = Math.round(Math.max(...times))
    const told = `${name}: ${chosen.length} cuts of ${steps} steps`
    const answers = `requests answered within ${Math.round(slowest)} ms`
    console.log(`${runtime}: ${told}, healed within ${worst} ms, ${answers}`)
  })

  test('afterwards the core runs what the panel wants', async () => {
    const status = JSON.parse((await server.run('status')).stdout)
    expect(status).toMatchObject({ ok: true, live: true, count: panel.wanted('n1').length })
  })
})
