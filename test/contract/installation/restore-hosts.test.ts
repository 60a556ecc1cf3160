/** Hosts of nodes in backups. */
import { afterEach, beforeEach, expect, test } from 'vitest'
import { gnuTar } from '#test/support/archives/archives.ts'
import { formerDatabase } from '#test/support/archives/hostile-schemas.ts'
import { download, restoreInto } from '#test/support/calls/restores.ts'
import { addHosts } from '#test/support/rows/hosts.ts'
import { addSubscription, addUser } from '#test/support/rows/records.ts'
import { createFileWorld, type FileWorld } from '#test/support/worlds/file-world.ts'

let w: FileWorld
beforeEach(async () => {
  w = await createFileWorld()
})
afterEach(() => {
  expect(w.fatal).toEqual([])
  w.close()
})

const hosts = () => w.rows('select * from node_hosts order by id')

test('come back as they were, and lists with them at once', async () => {
  addHosts(w)
  const token = addUser(w, 1)
  addSubscription(w, 1, { node: 'nl1' })
  const listOf = async () => (await w.call(`/sub/${token}?format=links`)).text
  const [before, rows] = [await listOf(), hosts()]
  expect(before).toContain('#CDN')
  const archive = await download(w)
  w.change('delete from node_hosts')
  expect(await listOf()).not.toContain('#CDN')
  await restoreInto(w, archive)
  expect(hosts()).toEqual(rows)
  expect(await listOf()).toBe(before)
})

test('are none after a backup of a version that had none', async () => {
  addHosts(w)
  // Up to the groups of nodes.
  await restoreInto(w, gnuTar({ 'panel.db': formerDatabase('', 21) }))
  expect(hosts()).toEqual([])
})
