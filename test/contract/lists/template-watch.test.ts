/** Templates that can't be used are told of once. */
import { afterEach, beforeEach, expect, test } from 'vitest'
import { watchTemplates } from '#src/domain/lists/templates.ts'
import { MIHOMO_TEMPLATE } from '#test/fixtures/lists/templates.ts'
import { putSettings } from '#test/support/rows/records.ts'
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
