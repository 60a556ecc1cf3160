/** Several processes on one database, Node and Bun mixed: what must happen once happens once. */
import { afterEach, expect, test } from 'vitest'
import {
  type Area,
  createArea,
  inParallel,
  PLAIN,
  RUNTIMES,
  type Runtime,
} from '#test/support/drivers/process.ts'

const areas: Area[] = []
function area(defaults: Record<string, string> = PLAIN): Area {
  const made = createArea(defaults)
  areas.push(made)
  return made
}
afterEach(async () => {
  await Promise.all(areas.splice(0).map((made) => made.close()))
})

const mixed = (count: number): Runtime[] =>
  Array.from({ length: count }, (_, i) => RUNTIMES[i % 2] as Runtime)

test('processes that start at one instant on an empty folder make one installation', async () => {
  for (let round = 0; round < 5; round++) {
    const a = createArea({ LOCAL_NODE: 'off' })
    areas.push(a)
    const servers = await Promise.all(
      mixed(4 + (round % 3)).map((runtime) => a.startServer({ runtime })),
    )
    const count = (table: string) => a.query<{ n: number }>(`select count(*) n from ${table}`)[0]?.n
    const ids = await Promise.all(servers.map((server) => server.call('/healthz')))
    expect(ids.map((answer) => answer.status)).toEqual(servers.map(() => 200))
    expect({
      admins: count('admins'),
      plans: count('plans'),
      nodes: a.query('select code from nodes'),
      keys: count('management_key'),
      passwords: servers.filter((server) => server.stdout().includes('Password')).length,
    }).toEqual({ admins: 1, plans: 4, nodes: [{ code: 'de1' }], keys: 1, passwords: 1 })
    const exits = await Promise.all(servers.map((server) => server.stop()))
    expect(exits).toEqual(servers.map(() => ({ code: 0, signal: null })))
    expect(servers.map((server) => server.output()).join('')).not.toMatch(/ (error|warn) /)
    await a.close()
  }
})

test('the device limit is met exactly by racing devices at two processes', async () => {
  const USERS = 60
  const LIMIT = 3
  const RIVALS = 6
  const a = area({ ...PLAIN, HWID_LIMIT_ENABLED: 'true', HWID_FALLBACK_LIMIT: String(LIMIT) })
  const servers = await Promise.all(mixed(2).map((runtime) => a.startServer({ runtime })))
  const users = Array.from({ length: USERS }, (_, i) => i + 1)
  await inParallel(users, 8, async (tgId) => {
    const answer = await servers[tgId % 2]?.admin(`/users/${tgId}/grant`, {
      node: 'de1',
      plan: '1m',
    })
    expect(answer?.status).toBe(200)
  })
  const tokens = a.query<{ token: string }>('select token from users')
  const fetchList = (token: string, device: number) =>
    servers[device % 2]?.call(`/sub/${token}`, {
      headers: { 'user-agent': 'v2rayNG/2.3.5', 'x-hwid': `device-number-${device}` },
    })
  const statuses = await inParallel(tokens, 10, async ({ token }) => {
    const devices = Array.from({ length: RIVALS }, (_, i) => i)
    // Each device asks at both processes: of the same device only one may be counted.
    const answers = await Promise.all([...devices, ...devices].map((i) => fetchList(token, i)))
    return answers.map((answer) => answer?.status)
  })
  for (const status of statuses.flat()) expect([200, 404]).toContain(status)
  const perUser = a.query<{ n: number }>('select count(*) n from devices group by tg_id')
  expect(perUser).toHaveLength(USERS)
  expect(perUser.filter(({ n }) => n !== LIMIT)).toEqual([])
  const admitted = a.query<{ token: string; hwid: string }>(
    'select token, hwid from devices join users using (tg_id)',
  )
  const known = await inParallel(admitted, 10, ({ token, hwid }) =>
    Promise.all(
      servers.map((server) =>
        server.call(`/sub/${token}`, {
          headers: { 'user-agent': 'v2rayNG/2.3.5', 'x-hwid': hwid },
        }),
      ),
    ),
  )
  expect(known.flat().filter((answer) => answer.status !== 200)).toEqual([])
})
