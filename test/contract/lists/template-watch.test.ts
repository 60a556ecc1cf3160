/** Templates that can't be used are told of once. */
import { afterEach, beforeEach, expect, test } from 'vitest'
import { watchTemplates } from '#src/domain/lists/templates.ts'
import { MIHOMO_TEMPLATE } from '#test/fixtures/lists/templates.ts'
import { addSubscription, addUser, putSettings } from '#test/support/rows/records.ts'
import { HOSTILE_FAULT, HOSTILE_TEMPLATE, putTemplate } from '#test/support/rows/templates.ts'
import { toldTo } from '#test/support/rows/told-alerts.ts'
import { createWorld, type World } from '#test/support/worlds/world.ts'

let w: World
beforeEach(async () => {
  w = await createWorld()
  putSettings(w, { ADMIN_TG_IDS: '77' })
})
afterEach(() => w.close())

/** By a process that has heard of the change. */
async function watch() {
  await w.s.db.refresh()
  await watchTemplates(w.s)
}

test('one that would be written without end holds nobody up: lists are our own, and it is told', async () => {
  const token = addUser(w, 7)
  addSubscription(w, 7)
  const list = async () => {
    const headers = { 'user-agent': 'clash-verge/v2.4.2' }
    const { status, text } = await w.call(`/sub/${token}`, { host: 'sub.test', headers })
    return { status, text }
  }
  const before = await list()
  expect(before.status).toBe(200)
  const bomb = `hosts: {x: &s "${'x'.repeat(28_000)}", y: &l [${'*s,'.repeat(200)}], z: [${'*l,'.repeat(230)}]}`
  putTemplate(w, 'mihomo', `${MIHOMO_TEMPLATE}${bomb}\n`)
  expect(await list()).toEqual(before)
  await watch()
  expect(toldTo(w, 77)).toEqual([
    { about: 'templates-broken', faults: 'mihomo: the template is too large at hosts.y[8]' },
  ])
})

test('tells of one that can’t be used once, and again of the next one', async () => {
  putTemplate(w, 'mihomo', MIHOMO_TEMPLATE)
  await watch()
  expect(toldTo(w, 77)).toEqual([])
  putTemplate(w, 'mihomo', HOSTILE_TEMPLATE)
  await watch()
  await watch()
  expect(toldTo(w, 77)).toEqual([{ about: 'templates-broken', faults: HOSTILE_FAULT }])
  putTemplate(w, 'mihomo', MIHOMO_TEMPLATE)
  await watch()
  expect(toldTo(w, 77)).toHaveLength(1)
  putTemplate(w, 'mihomo', 'proxies: [')
  await watch()
  expect(toldTo(w, 77)).toHaveLength(2)
})
