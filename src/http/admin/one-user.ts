/** One user: the card, note and ban, deletion, another link, a grant, devices and their limit. */

import * as v from 'valibot'
import { listDevices } from '#db/devices.ts'
import { listOfUser } from '#db/subscriptions.ts'
import { findListedUser } from '#db/user-listing.ts'
import { readUser } from '#db/users.ts'
import { rowId as id, MAX_HWID_LIMIT, tgId } from '#db/values.ts'
import { removeDevice, setHwidLimit, userDevices } from '#src/domain/customers/devices.ts'
import { rotateToken } from '#src/domain/customers/links.ts'
import { editUser, removeUser } from '#src/domain/customers/users.ts'
import { groupLabels } from '#src/domain/labels.ts'
import { readSettings } from '#src/domain/settings.ts'
import { grant } from '#src/domain/subscriptions/subscriptions.ts'
import { omitUndefined } from '#src/lib/omit-undefined.ts'
import { subLink } from '#src/lib/sub-link.ts'
import { formatTimestamp } from '#src/lib/time.ts'
import { flag } from '#src/lib/values.ts'
import { fieldRefusal, refusal } from '#src/refusals/index.ts'
import type { Http } from '../context.ts'
import { adminOperations, operation } from '../operation.ts'
import { ok } from '../schemas/fields.ts'
import { startOrder } from '../schemas/place.ts'
import { subscription } from '../schemas/subscription.ts'
import { userDevices as devices, listedUser, rotatedToken, userCard } from '../schemas/user.ts'
import { readId, readTgId } from '../validate.ts'
import { deviceView, listedUserView, profileView, subscriptionView } from '../views.ts'
import { order, profile, profileOf } from './users.ts'

const edition = v.object({ ...profile.entries, banned: v.optional(flag) })

/** `keep_imported`: links that came from another panel go on. */
const rotation = v.object({ keep_imported: v.optional(flag, false) })

/** Read by `parseHwidLimit`, which takes what these words say. */
const hwidLimit = v.object({
  limit: v.optional(
    v.pipe(
      v.unknown(),
      v.metadata({
        anyOf: [
          { type: 'integer', minimum: 0, maximum: MAX_HWID_LIMIT },
          { type: 'string', pattern: '^\\d{0,7}$' },
          { enum: [null, false] },
        ],
      }),
    ),
  ),
})

/** A falsy limit means the fallback limit; else an integer or a string of digits. Throws 400. */
function parseHwidLimit(limit: unknown): number | null {
  if (limit === undefined || limit === null || limit === false || limit === '') return null
  const text = typeof limit === 'number' || typeof limit === 'string' ? String(limit) : ''
  if (!/^\d{1,7}$/.test(text) || Number(text) > MAX_HWID_LIMIT) {
    throw fieldRefusal('limit', 'above-most', { most: MAX_HWID_LIMIT })
  }
  return Number(text) === 0 ? null : Number(text)
}

const params = { tg_id: tgId }
/** A tg_id that is none. */
const refusals = [400] as const

/** The user of a path. Throws 404, and 400 where it has no number. */
async function userOf(s: Http, params: { tg_id: string }) {
  const tgId = readTgId(params.tg_id)
  const user = await s.db.read((q) => readUser(q, tgId))
  if (!user) throw refusal('user-not-found')
  return user
}

export const oneUserOperations = adminOperations('Users', [
  operation(
    {
      method: 'get',
      path: '/users/{tg_id}',
      scope: 'users:read',
      summary: 'The card of a user: link token, subscriptions, devices',
      params,
      ok: userCard,
      refusals,
    },
    async ({ s, params }) => {
      const user = await userOf(s, params)
      const now = s.clock.now()
      const groupOf = groupLabels(s)
      const { subscriptions, devices } = await s.db.read(function* (q) {
        return {
          subscriptions: yield* listOfUser(q, user.tgId),
          devices: yield* listDevices(q, user.tgId),
        }
      })
      return {
        tg_id: user.tgId,
        username: user.username,
        created_at: user.createdAt,
        token: user.token,
        subscriptions: subscriptions.map((found) =>
          subscriptionView(found, now, groupOf(found.row)),
        ),
        devices: devices.map(deviceView),
        hwid_limit: user.hwidLimit,
        hwid_fallback_limit: readSettings(s).int('HWID_FALLBACK_LIMIT'),
        ...profileView(user),
      }
    },
  ),
  operation(
    {
      method: 'patch',
      path: '/users/{tg_id}',
      scope: 'users:write',
      summary: 'Change the note, name, e-mail address, tags or Telegram id of a user, or ban them',
      params,
      body: edition,
      ok: listedUser,
    },
    async ({ s, actor, params, body }) => {
      const user = await userOf(s, params)
      const { banned, ...changes } = await body()
      const edits = { ...profileOf(changes), ...omitUndefined({ banned }) }
      await editUser(s, actor, user.tgId, edits)
      const edited = await s.db.read((q) =>
        findListedUser(q, user.tgId, formatTimestamp(s.clock.now())),
      )
      if (!edited) throw refusal('user-not-found')
      return listedUserView(edited)
    },
  ),
  operation(
    {
      method: 'delete',
      path: '/users/{tg_id}',
      scope: 'users:write',
      summary: 'Delete a user with all that is theirs',
      params,
      ok,
      refusals,
    },
    async ({ s, actor, params }) => {
      await removeUser(s, actor, readTgId(params.tg_id))
      return { ok: true }
    },
  ),
  operation(
    {
      method: 'post',
      path: '/users/{tg_id}/rotate-token',
      scope: 'users:write',
      summary: 'Give a user another link; the old one and its clients stop',
      params,
      body: rotation,
      bodyOptional: true,
      ok: rotatedToken,
    },
    async ({ s, actor, params, body }) => {
      const tgId = readTgId(params.tg_id)
      const { keep_imported: keepImported } = await body()
      const token = await rotateToken(s, actor, tgId, keepImported)
      return { ok: true, token, sub_link: subLink(s.config, token) }
    },
  ),
  operation(
    {
      method: 'post',
      path: '/users/{tg_id}/grant',
      scope: 'subscriptions:write',
      summary: 'Give a user a plan on a node; creates the user if need be',
      params,
      body: order,
      ok: subscription,
    },
    async ({ s, actor, params, body }) => {
      const tgId = readTgId(params.tg_id)
      const granted = await grant(s, actor, tgId, startOrder(await body()))
      return subscriptionView(granted, s.clock.now(), groupLabels(s)(granted.row))
    },
  ),
  operation(
    {
      method: 'get',
      path: '/users/{tg_id}/devices',
      scope: 'users:read',
      summary: 'The devices of a user, and how many they may have',
      params,
      ok: devices,
      refusals,
    },
    async ({ s, params }) => {
      const { devices, limit, fallbackLimit } = await userDevices(s, readTgId(params.tg_id))
      return { devices: devices.map(deviceView), limit, fallback_limit: fallbackLimit }
    },
  ),
  operation(
    {
      method: 'delete',
      path: '/users/{tg_id}/devices/{device_id}',
      scope: 'users:write',
      summary: 'Forget a device; an unknown one is forgotten already',
      params: { ...params, device_id: id },
      ok,
      refusals,
    },
    async ({ s, actor, params }) => {
      await removeDevice(s, actor, readTgId(params.tg_id), readId(params.device_id))
      return { ok: true }
    },
  ),
  operation(
    {
      method: 'post',
      path: '/users/{tg_id}/hwid-limit',
      scope: 'users:write',
      summary: 'Set how many devices a user may have; null: as many as others',
      params,
      body: hwidLimit,
      ok,
    },
    async ({ s, actor, params, body }) => {
      const tgId = readTgId(params.tg_id)
      const { limit } = await body()
      await setHwidLimit(s, actor, tgId, parseHwidLimit(limit))
      return { ok: true }
    },
  ),
])
