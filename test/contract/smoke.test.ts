import { expect, test } from 'vitest'
import { createWorld, grantUser } from '#test/support/world.ts'

test('grant, fetch, hold, resume, revoke', async () => {
  const w = await createWorld()
  const { token, subscription } = await grantUser(w, 42)
  expect(w.node.clients.get(subscription.uuid)).toBe('de1')
  const list = await w.call(`/sub/${token}`, {
    host: 'sub.test',
    headers: { 'user-agent': 'v2rayNG/2.3.5' },
  })
  expect([list.status, atob(list.text)]).toEqual([200, expect.stringContaining(subscription.uuid)])
  for (const verb of ['hold', 'resume', 'revoke']) {
    const r = await w.admin(`/admin/api/subscriptions/${subscription.uuid}/${verb}`, {
      method: 'POST',
    })
    expect(r.status, r.text).toBe(200)
    expect(w.node.clients.has(subscription.uuid)).toBe(verb === 'resume')
  }
  const page = await w.call(`/sub/${token}`, {
    headers: { 'user-agent': 'Mozilla/5.0', accept: 'text/html' },
  })
  expect(page.headers.get('content-type')).toContain('text/html')
  console.log(w.log.join('\n'))
})
