/** A traffic quota on real cores: who has used it up is cut off where traffic counts, goes on where it does not, and comes back. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  createLab,
  type Lab,
  type LabProcess,
  startTarget,
  type Target,
  until,
} from '#test/support/labs/lab.ts'
import { startListClient } from '#test/support/labs/list-clients.ts'
import { type ManagedPanel, startPanel } from '#test/support/labs/managed-panel.ts'
import { addServer } from '#test/support/labs/node-lab.ts'
import { type Client, fetchThrough, openStream, type Runtime } from '#test/support/labs/service.ts'

/** What is fixed in the full form, on a quiet machine; elsewhere only what is far off is a fault. */
const SLACK = process.env.FULL === '1' ? 1 : 3
/** From the answer of the reading that uses it up. */
const CUT_OFF_MS = 2000 * SLACK
const BACK_MS = 5000 * SLACK
const GB = 1024 ** 3

describe.each<Runtime>(['node', 'bun'])(
  'on %s, with a node that counts and one that does not',
  (runtime) => {
    let lab: Lab
    let target: Target
    let panel: ManagedPanel
    let uuid: string
    let clients: Record<'local' | 'metered' | 'free', Client>

    const post = (path: string, body: object = {}) => panel.service.admin(path, body, 'POST')
    const page = (client: Client, path = '/', seconds = 5) =>
      fetchThrough(lab, target, client, path, seconds)
    const works = (client: Client) =>
      until(
        `${client.name} gets the page\n${client.process.output()}`,
        async () => (await page(client)) === 'hello',
        15_000,
      )
    const row = () =>
      panel.query<{ used: number; limited: string | null; down: number }>(
        'select used_bytes as used, limited_at as limited, down_bytes as down from subscriptions',
      )[0] as { used: number; limited: string | null; down: number }
    /** Has all cores read and counted. */
    const read = () => panel.service.admin('/traffic')
    const flows = async (stream: LabProcess) => {
      const length = stream.output().length
      await until('the stream flows on', () => stream.output().length > length + 300)
    }
    const served = async () => {
      await works(clients.local)
      await works(clients.metered)
      await works(clients.free)
    }

    beforeAll(async () => {
      lab = createLab()
      target = await startTarget(lab)
      const environment = { LOCAL_NODE: 'on', SYNC_INTERVAL_MS: '3600000' }
      panel = await startPanel(lab, target, runtime, 'data', environment)
      const servers = [1, 2].map((n) => addServer(lab, n, { sni: target.serverName }))
      for (const server of servers) {
        await panel.adopt(server)
        await server.boot()
      }
      const free = await panel.service.admin('/nodes/n2', { traffic_ratio: 0 }, 'PATCH')
      expect(free.json.traffic_ratio).toBe(0)
      const nodes = ['de1', 'n1', 'n2']
      await post('/node-groups', { code: 'all', label: 'All places', nodes })
      await post('/plans', {
        ...{ code: 'all', label: 'Everywhere', days: 30, price: 500, node_group: 'all' },
        ...{ quota_gb: 1, quota_period: 'rolling' },
      })
      const inStep = async () => (await post('/sync')).json?.ok === true
      await until('all are in step', inStep, 60_000)
      const granted = await post('/users/42/grant', { plan: 'all' })
      expect(granted.json).toMatchObject({ quota_bytes: GB, nodes })
      uuid = granted.json.uuid
      const { token } = (await panel.service.admin('/users/42')).json
      const start = (label: string) =>
        startListClient(lab, panel.service, token, label, ['xray', 'reality'])
      clients = {
        local: await start('Local'),
        metered: await start('Server n1'),
        free: await start('Server n2'),
      }
      await served()
    })
    afterAll(() => lab?.close())

    test('a stream is cut within a reading and 2 s where it counts, and lives where it does not', async () => {
      await read()
      const before = row()
      expect((await page(clients.free, '/bytes/300000', 10))?.length).toBe(300_000)
      await read()
      expect([row().used - before.used < 10_000, row().down - before.down > 300_000]).toEqual([
        true,
        true,
      ])
      // A hundred thousand bytes are left.
      panel.write('update subscriptions set used_bytes = ?', GB - 100_000)
      const cut = [openStream(lab, target, clients.local), openStream(lab, target, clients.metered)]
      const free = openStream(lab, target, clients.free)
      await until('streams flow', () => [...cut, free].every((one) => one.output().length > 300))
      expect((await page(clients.metered, '/bytes/150000', 10))?.length).toBe(150_000)
      await read()
      const begin = performance.now()
      expect(row().limited).not.toBeNull()
      const ends = cut.map((stream) => stream.exited.then(() => performance.now() - begin))
      const never = new Promise<number>((done) =>
        setTimeout(done, 20_000, Number.POSITIVE_INFINITY),
      )
      const last = Math.max(...(await Promise.all(ends.map((end) => Promise.race([end, never])))))
      console.log(
        `${runtime}: streams were cut ${Math.round(last)} ms after the reading was answered`,
      )
      expect(last).toBeLessThan(CUT_OFF_MS)
      await flows(free)
      expect([await page(clients.local, '/', 2), await page(clients.metered, '/', 2)]).toEqual([
        null,
        null,
      ])
      expect(await page(clients.free)).toBe('hello')
      free.signal('SIGTERM')
    })

    test('a pass leaves it so', async () => {
      expect((await post('/sync')).json?.ok).toBe(true)
      expect(await page(clients.metered, '/', 2)).toBeNull()
      expect(await page(clients.free)).toBe('hello')
    })

    test('what an admin adds serves everywhere within 5 s', async () => {
      const begin = performance.now()
      const edited = await panel.service.admin(`/subscriptions/${uuid}`, { extra_gb: 1 }, 'PATCH')
      expect(edited.json.limited_at).toBeNull()
      await served()
      expect(performance.now() - begin).toBeLessThan(BACK_MS)
    })

    test('a period that is over serves again by itself', async () => {
      panel.write('update subscriptions set used_bytes = quota_bytes + extra_bytes - 1')
      expect((await page(clients.metered, '/bytes/5000', 10))?.length).toBe(5000)
      await read()
      await until('cut off', async () => (await page(clients.metered, '/', 2)) === null, 15_000)
      panel.write("update subscriptions set resets_at = '2020-01-01T00:00:00'")
      // The job looks every minute.
      await until('the new period begins', () => row().used === 0, 90_000)
      await served()
    })
  },
)
