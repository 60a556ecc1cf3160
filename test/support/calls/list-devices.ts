/** Devices of a buyer at the list, and what the limit answers them. */
import { expect } from 'vitest'
import { addDevice, addSubscription, addUser } from '#test/support/rows/records.ts'
import type { Scenario } from '#test/support/worlds/scenario.ts'
import type { World } from '#test/support/worlds/world.ts'

export const list = (token: string, hwid?: string, more: Record<string, string> = {}) => ({
  path: `/sub/${token}`,
  host: 'sub.test',
  headers: {
    'user-agent': 'Happ/3.26.3/Android',
    ...(hwid === undefined ? {} : { 'x-hwid': hwid }),
    ...more,
  },
})

export function buyer(w: World, limit: number | null = null): string {
  const token = addUser(w, 7, { hwid_limit: limit })
  addSubscription(w, 7)
  return token
}

/** A user with devices `known-000000` and so on. */
export const withDevices =
  (count: number, limit: number | null = null) =>
  (w: World) => {
    const token = buyer(w, limit)
    for (let i = 0; i < count; i++) addDevice(w, 7, `known-00000${i}`)
    return token
  }

export const ACTIVE = { 'x-hwid-active': 'true' }
export const REFUSED = { ...ACTIVE, 'x-hwid-limit': 'true' }

export const REACHED = {
  status: 404,
  headers: { ...REFUSED, 'x-hwid-max-devices-reached': 'true', 'x-hwid-not-supported': null },
  error: 'device limit reached',
}

export const ADMITTED = { status: 200, headers: { ...ACTIVE, 'x-hwid-limit': null } }

export const devices = (w: World): string[] =>
  w.rows('select hwid from devices order by id').map((row) => row.hwid)

export const limit = (
  name: string,
  given: Scenario['given'],
  hwid: string,
  outcome: typeof ADMITTED | typeof REACHED,
  registered?: boolean,
): Scenario => ({
  name,
  given: given as NonNullable<Scenario['given']>,
  request: (token) => list(token, hwid),
  ...outcome,
  effects: (w) => {
    if (registered !== undefined) expect(devices(w).includes(hwid)).toBe(registered)
  },
})
