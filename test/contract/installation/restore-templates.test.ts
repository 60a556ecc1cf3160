/** Templates of lists in backups: they come back, and what a stranger's brings is looked at anew. */
import { afterEach, beforeEach, expect, test } from 'vitest'
import { watchTemplates } from '#src/domain/lists/templates.ts'
import { MIHOMO_TEMPLATE } from '#test/fixtures/lists/templates.ts'
import { download, restoreInto } from '#test/support/calls/restores.ts'
import { addSubscription, addUser, putSettings } from '#test/support/rows/records.ts'
import { HOSTILE_FAULT, HOSTILE_TEMPLATE, putTemplate } from '#test/support/rows/templates.ts'
import { toldTo } from '#test/support/rows/told-alerts.ts'
import { createFileWorld, type FileWorld } from '#test/support/worlds/file-world.ts'

let w: FileWorld
let token: string
beforeEach(async () => {
  w = await createFileWorld()
  token = addUser(w, 1)
  addSubscription(w, 1)
})
afterEach(() => {
  expect(w.fatal).toEqual([])
  w.close()
})

const list = async () =>
  (await w.call(`/sub/${token}`, { headers: { 'user-agent': 'clash-verge/v2.4.2' } })).text

test('brings templates back, and lists with them at once', async () => {
  const own = await list()
  putTemplate(w, 'mihomo', MIHOMO_TEMPLATE)
  const before = await list()
  expect(before).not.toBe(own)
  const archive = await download(w)
  w.change('delete from list_templates')
  expect(await list()).toBe(own)
  await restoreInto(w, archive)
  expect(await list()).toBe(before)
})

test('with a stranger’s brings lists of our own, and admins are told', async () => {
  putSettings(w, { ADMIN_TG_IDS: '77' })
  const own = await list()
  putTemplate(w, 'mihomo', HOSTILE_TEMPLATE)
  await restoreInto(w, await download(w))
  expect(await list()).toBe(own)
  await watchTemplates(w.s)
  expect(toldTo(w, 77)).toContainEqual({ about: 'templates-broken', faults: HOSTILE_FAULT })
})
