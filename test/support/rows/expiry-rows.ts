import type { Scenario } from '#test/support/worlds/scenario.ts'
import type { World } from '#test/support/worlds/world.ts'
import { addSubscription, addUser } from './records.ts'

export type More = Record<string, string | number | null>

/** A subscription of user 7; those that are active are on the node. */
export const given =
  (more: More | ((w: World) => More) = {}) =>
  (w: World) => {
    addUser(w, 7, { username: 'alice' })
    const uuid = addSubscription(w, 7, typeof more === 'function' ? more(w) : more)
    return uuid
  }

export const unknown = (request: (uuid: string) => Scenario['request']): Scenario[] =>
  ['00000000-0000-4000-8000-ffffffffffff', 'nope', '%00'].map((uuid) => ({
    name: `404 for the unknown subscription ${uuid}`,
    given: given(),
    request: request(uuid),
    status: 404,
    error: 'subscription not found',
  }))
