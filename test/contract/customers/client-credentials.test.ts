import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { LIST_FORMATS } from '#src/domain/lists/formats.ts'
import { ownIdOf } from '#src/domain/secret.ts'
import { addDevice, addSubscription, addUser, inSeconds } from '#test/support/rows/records.ts'
import { createShop, type Shop } from '#test/support/worlds/shop.ts'

/** What opens the node to an app: the list alone may give it, and that asks for a place among the devices. */
let shop: Shop
let uuids: string[]
beforeEach(async () => {
  shop = await createShop({ environment: { HWID_LIMIT_ENABLED: 'true', HWID_FALLBACK_LIMIT: '1' } })
  addDevice(shop.w, 1, 'hwid-of-user-1')
  const { w } = shop
  uuids = [
    addSubscription(w, 1),
    addSubscription(w, 1, { held_at: inSeconds(w, -60) }),
    addSubscription(w, 1, { expires_at: inSeconds(w, -60) }),
    addSubscription(w, 1, { active: 0 }),
  ]
})
afterEach(() => shop.w.close())

const AGENTS = ['Mozilla/5.0 (X11; Linux x86_64) Firefox/140.0', 'Happ/3.26.3/Android']

/** All that the owner of a link can be answered. */
async function allAnswers(): Promise<string[]> {
  const { w, token } = shop
  const sub = [`/sub/${token}`, `/sub/${token}/open/happ`]
  const lists = LIST_FORMATS.map((f) => `${sub[0]}?format=${f}`)
  const cabinet = [`/api/cabinet/${token}`, `/api/cabinet/${token}/shop`]
  const pages = ['/', '/cabinet.html', '/pay/done', '/offer', '/privacy', '/api/plans']
  const said: string[] = []
  const ask = async (path: string, host: string, agent: string) => {
    const { headers, text } = await w.call(path, { host, headers: { 'user-agent': agent } })
    said.push(text, JSON.stringify([...headers]))
  }
  for (const agent of AGENTS) {
    for (const path of [...sub, ...lists]) await ask(path, 'sub.test', agent)
    for (const path of [...cabinet, ...pages]) await ask(path, 'site.test', agent)
  }
  for (const renews of uuids) {
    const body = { plan: '1m', provider: 'provider_a', renews: ownIdOf(w.s, renews) }
    said.push((await w.call(`/api/cabinet/${token}/payments`, { body })).text)
  }
  return said
}

describe.each([
  ['the device limit full', null],
  ['a device limit of 0', 0],
])('with %s', (_what, limit) => {
  test('nothing but a list holds the uuid of a subscription', async () => {
    shop.w.change('update users set hwid_limit = ?', limit)
    const said = (await allAnswers()).join('\n')
    expect(said).toContain(ownIdOf(shop.w.s, uuids[0] as string))
    for (const uuid of uuids) {
      expect(said).not.toContain(uuid)
      expect(said).not.toContain(uuid.replaceAll('-', ''))
    }
  })
})

test('a renewal takes the id that the cabinet shows', async () => {
  const { w, token } = shop
  const { subscriptions } = (await w.call(`/api/cabinet/${token}/shop`)).json
  const active = subscriptions.find(({ state }: { state: string }) => state === 'active')
  const body = { plan: '1m', provider: 'provider_a', renews: active.uuid }
  expect((await w.call(`/api/cabinet/${token}/payments`, { body })).status).toBe(200)
  expect(w.rows('select renews_uuid from payments')).toEqual([{ renews_uuid: uuids[0] }])
})

test('the id of a revoked subscription, or of another user’s, is unknown', async () => {
  const { w, token } = shop
  addUser(w, 2)
  const others = [uuids[3] as string, addSubscription(w, 2)].map((uuid) => ownIdOf(w.s, uuid))
  for (const renews of [...others, 'A'.repeat(22)]) {
    const body = { plan: '1m', provider: 'provider_a', renews }
    const answer = await w.call(`/api/cabinet/${token}/payments`, { body })
    expect([answer.status, answer.json]).toEqual([400, { error: 'unknown subscription' }])
  }
})
