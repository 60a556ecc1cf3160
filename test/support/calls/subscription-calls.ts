import { addSubscription, addUser } from '#test/support/rows/records.ts'
import type { Scenario } from '#test/support/worlds/scenario.ts'
import type { World } from '#test/support/worlds/world.ts'

export const SUBSCRIPTIONS = '/admin/api/subscriptions'
export type Verb = 'hold' | 'resume' | 'disable' | 'enable' | 'revoke' | 'reset-traffic'

export const post = (verb: Verb) => (uuid: string) => ({
  path: `${SUBSCRIPTIONS}/${uuid}/${verb}`,
  method: 'POST',
})

/** A subscription whose client is on the node. */
export const given =
  (more: Record<string, string | number | null> | ((w: World) => typeof more) = {}) =>
  (w: World): string => {
    addUser(w, 7, { username: 'alice' })
    const uuid = addSubscription(w, 7, typeof more === 'function' ? (more(w) as never) : more)
    w.node.clients.set(uuid, 'de1')
    return uuid
  }

export const UNKNOWN = '00000000-0000-4000-8000-ffffffffffff'

export const unknown = (verb: Verb): Scenario[] =>
  [UNKNOWN, 'nope', '%00', '%F0%9F%92%A9', 'x'.repeat(10_000)].map((uuid) => ({
    name: `404 for the unknown subscription ${uuid.slice(0, 40)}`,
    given: given(),
    request: () => post(verb)(uuid),
    status: 404,
    error: 'subscription not found',
  }))
