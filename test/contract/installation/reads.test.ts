/** What reads as much as the shop is large never runs in the thread that answers customers. */
import { describe, expect, test } from 'vitest'
import { createWorld, type World } from '#test/support/worlds/world.ts'

/** Notes which reads are asked for, and whether that ends when the client goes away. */
function watchReads(w: World): { asked: string[]; signals: AbortSignal[] } {
  const asked: string[] = []
  const signals: AbortSignal[] = []
  const { ask } = w.s.reads
  w.s.reads.ask = (name, ...input) => {
    asked.push(name)
    return ask(name, ...input)
  }
  w.s.reads.for = (gone) => {
    signals.push(gone)
    return w.s.reads
  }
  return { asked, signals }
}

describe('a list or a count of much', () => {
  test.each([
    ['users', ['users']],
    ['users?status=expired', ['users']],
    ['users?format=csv', ['usersAlone']],
    ['subscriptions', ['subscriptions']],
    ['payments', ['payments']],
    ['gift-codes', ['gifts']],
    ['events', ['events']],
    ['audit', ['audit']],
    ['traffic', ['traffic']],
    ['stats', ['counts']],
    ['stats/series', ['days']],
    ['stats/active', ['active']],
  ])('%s is read in the thread of reads, for as long as its client waits', async (path, names) => {
    const w = await createWorld()
    const { asked, signals } = watchReads(w)
    expect((await w.admin(`/admin/api/${path}`)).status).toBe(200)
    expect(asked).toEqual(names)
    // A download is ended by the end of its stream.
    expect(signals).toHaveLength(path.endsWith('csv') ? 0 : names.length)
    w.close()
  })
})
