/** Subscriptions that begin with their first use, and that are switched off and on, with the real Xray. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createLab, type Lab, startTarget, type Target, until } from '#test/support/labs/lab.ts'
import {
  type Client,
  fetchThrough,
  openStream,
  type Runtime,
  type Service,
  startLinkClient,
  startService,
} from '#test/support/labs/service.ts'

const AGENT = 'v2rayNG/2.3.5'
const DAY_SECONDS = 86_400
const CUT_MS = 5000
const secondsOf = (timestamp: string) => Date.parse(`${timestamp}Z`) / 1000

describe.each<Runtime>(['node', 'bun'])('on %s with an embedded core', (runtime) => {
  let lab: Lab
  let target: Target
  let service: Service
  let uuid: string
  let client: Client
  const page = (path = '/', seconds = 3) => fetchThrough(lab, target, client, path, seconds)
  const works = () => until('the client gets the page', async () => (await page()) === 'hello')
  const change = (verb: string) =>
    service.admin(`/subscriptions/${uuid}/${verb}`, undefined, 'POST')
  const row = async () => (await service.admin('/subscriptions')).json[0]
  const list = async () => {
    const { token } = (await service.admin('/users/42')).json
    return (await service.request(`/sub/${token}`, { agent: AGENT })).text
  }

  beforeAll(async () => {
    lab = createLab()
    target = await startTarget(lab)
    service = await startService(lab, target, runtime, 'data')
    await until('the core is up', async () => {
      return (await service.admin('/nodes/de1/metrics')).json.core_up || null
    })
  })
  afterAll(() => lab?.close())

  test('a delayed start: the list is fetched, the days wait, and the first byte begins them', async () => {
    const order = { node: 'de1', plan: '1m', start: 'first_use' }
    const granted = (await service.admin('/users/42/grant', order)).json
    uuid = granted.uuid
    expect(granted).toMatchObject({ start_seconds: 30 * DAY_SECONDS, started_at: null })
    expect(secondsOf(granted.expires_at) - secondsOf(granted.created_at)).toBe(395 * DAY_SECONDS)
    client = startLinkClient(lab, await list())
    await service.admin('/sync', {})
    expect(await row()).toMatchObject({ expires_at: granted.expires_at, started_at: null })

    const before = Math.floor(Date.now() / 1000)
    await works()
    const begun = await until('the first use is counted', async () => {
      await service.admin('/sync', {})
      const one = await row()
      return one.started_at === null ? null : one
    })
    const after = Math.ceil(Date.now() / 1000)
    expect(begun).toMatchObject({ start_by: null, days_left: 29 })
    expect(secondsOf(begun.started_at)).toBeGreaterThanOrEqual(before)
    expect(secondsOf(begun.started_at)).toBeLessThanOrEqual(after)
    expect(secondsOf(begun.expires_at) - secondsOf(begun.started_at)).toBe(30 * DAY_SECONDS)
    await page('/bytes/50000', 10)
    await service.admin('/sync', {})
    expect(await row()).toMatchObject({ expires_at: begun.expires_at })
  })

  test('switched off: its stream is cut within 5 s, and nothing gets through until it is on again', async () => {
    const { expires_at } = await row()
    const stream = openStream(lab, target, client)
    await until('the stream flows', () => stream.output().length > 300)
    const begin = performance.now()
    expect((await change('disable')).json).toMatchObject({ ok: true })
    await stream.exited
    expect(performance.now() - begin).toBeLessThan(CUT_MS)
    expect([await page('/', 2), await list()]).toEqual([null, ''])
    await service.admin('/sync', {})
    expect(await page('/', 2)).toBeNull()
    expect((await change('enable')).json).toEqual({ ok: true })
    await works()
    expect((await row()).expires_at).toBe(expires_at)
  })
})
