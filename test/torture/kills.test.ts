/** kill -9 at random moments under load: what was answered with 200 is there, and the books agree. */
import { expect, test } from 'vitest'
import { type Answer, RUNTIMES, type Server } from '#test/support/drivers/process.ts'
import { seeded, useAreas, verdict } from '#test/support/drivers/torture.ts'

const area = useAreas()
const KILLS = 20
const WORKERS = 8
const DAY_MS = 86_400_000
const SEED = Number(process.env.SEED ?? 1)

type Verb = 'hold' | 'resume' | 'revoke'
interface Row {
  uuid: string
  expires_at: string
  created_at: string
  held_at: string | null
  active: number
}

const seconds = (timestamp: string) => Date.parse(`${timestamp}Z`) / 1000

test(`${KILLS} kills of two processes under ${WORKERS} writers lose nothing`, async () => {
  const random = seeded(SEED)
  const a = area()
  const servers: Server[] = []
  for (const runtime of RUNTIMES) servers.push(await a.startServer({ runtime }))
  await servers[0]?.admin('/nodes')
  let over = false
  let unknown = 0
  /** The last thing that was acknowledged of each subscription, and what was asked without an answer. */
  const acked = new Map<string, { verb: 'grant' | Verb; asked?: Verb }>()

  const ask = async (path: string, body: unknown): Promise<Answer | null> => {
    const server = servers[random() < 0.5 ? 0 : 1] as Server
    const answer = await server.admin(path, body).catch(() => null)
    if (!answer) unknown++
    else expect([200, 400, 503]).toContain(answer.status)
    return answer?.status === 503 ? null : answer
  }
  /** One step of a subscription's life; false when its answer was lost. */
  const step = async (uuid: string, verb: Verb): Promise<boolean> => {
    const answer = await ask(`/subscriptions/${uuid}/${verb}`, {})
    const known = acked.get(uuid)?.verb ?? 'grant'
    acked.set(uuid, answer ? { verb } : { verb: known, asked: verb })
    if (answer) expect([verb, answer.status]).toEqual([verb, 200])
    return answer !== null
  }
  const life = async (tgId: number) => {
    const granted = await ask(`/users/${tgId}/grant`, { node: 'de1', plan: '1m' })
    if (!granted) return
    const uuid: string = granted.json.uuid
    acked.set(uuid, { verb: 'grant' })
    for (const verb of ['hold', 'resume', 'hold', 'revoke'] as const) {
      if (over || random() < 0.1 || !(await step(uuid, verb))) return
    }
  }
  const worker = async (number: number) => {
    for (let i = 0; !over; i++) await life(number * 10_000 + i)
  }
  const killer = async () => {
    for (let i = 0; i < KILLS; i++) {
      await new Promise((resolve) => setTimeout(resolve, 20 + random() * 500))
      const victim = Math.floor(random() * 2)
      await servers[victim]?.kill()
      servers[victim] = await a.startServer({ runtime: RUNTIMES[victim] ?? 'node' })
    }
    over = true
  }
  await Promise.all([killer(), ...Array.from({ length: WORKERS }, (_, i) => worker(i + 1))])
  await Promise.all(servers.map((server) => server.kill()))
  for (const runtime of RUNTIMES) await (await a.startServer({ runtime })).stop()
  console.log(
    `seed ${SEED}: ${KILLS} kills, ${acked.size} subscriptions, ${unknown} requests without an answer`,
  )
  expect(acked.size).toBeGreaterThan(50)
  expect(unknown).toBeGreaterThan(0)
  expect(verdict(a.database)).toBe('ok')

  const rows = new Map(a.query<Row>('select * from subscriptions').map((row) => [row.uuid, row]))
  const stateOf = (row: Row | undefined) => {
    if (!row) return 'missing'
    if (!row.active) return 'revoke'
    return row.held_at === null ? 'active' : 'hold'
  }
  const after = (verb: string) => (verb === 'hold' || verb === 'revoke' ? verb : 'active')
  const lost = [...acked].filter(([uuid, { verb, asked }]) => {
    const allowed = [after(verb), ...(asked ? [after(asked)] : [])]
    return !allowed.includes(stateOf(rows.get(uuid)))
  })
  expect(lost).toEqual([])

  // Every change has its audit row and its event, no more and no less.
  const audit = a.query<{ object: string; action: string; at: string }>(
    "select object, action, at from audit_log where action like 'subscription.%' order by id",
  )
  const events = a.query<{ event: string; data: string }>(
    "select event, data from events where event like 'subscription.%' order by seq",
  )
  const EVENT: Record<string, string> = {
    'subscription.grant': 'subscription.granted_by_admin',
    'subscription.hold': 'subscription.held',
    'subscription.resume': 'subscription.resumed',
    'subscription.revoke': 'subscription.revoked',
  }
  expect(events.map(({ event, data }) => `${event} ${JSON.parse(data).subscription_uuid}`)).toEqual(
    audit.map(({ action, object }) => `${EVENT[action]} ${object}`),
  )
  // The expiry is 30 days from the grant and the pauses that ended, to the second.
  const paused = new Map<string, { since: number; sum: number; grants: number }>()
  for (const { object, action, at } of audit) {
    const own = paused.get(object) ?? { since: 0, sum: 0, grants: 0 }
    if (action === 'subscription.grant') own.grants++
    if (action === 'subscription.hold') own.since = seconds(at)
    if (action === 'subscription.resume') own.sum += seconds(at) - own.since
    paused.set(object, own)
  }
  const wrong = [...rows.values()].filter((row) => {
    const own = paused.get(row.uuid)
    const due = seconds(row.created_at) + (30 * DAY_MS) / 1000 + (own?.sum ?? 0)
    return own?.grants !== 1 || seconds(row.expires_at) !== due
  })
  expect(wrong).toEqual([])
})
