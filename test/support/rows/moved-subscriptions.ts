import type { World } from '#test/support/worlds/world.ts'
import { addNode, addSubscription, addUser } from './records.ts'

export const node = (w: World, code: string) => {
  addNode(w, code, { kind: 'managed', private_key: 'K'.repeat(43) })
  return w.remote(code)
}

/** User 7 with a subscription on the managed node `a`; `b` is another one, `x` is external. */
export const given = async (w: World, more: Record<string, string | number | null> = {}) => {
  addUser(w, 7, { username: 'alice' })
  node(w, 'a')
  node(w, 'b')
  addNode(w, 'x')
  const uuid = addSubscription(w, 7, { node: 'a', ...more })
  await w.s.nodeSync.syncAll({ force: false, remove: true })
  return uuid
}
