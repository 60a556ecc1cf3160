import { rowId as id, tgId } from '#db/values.ts'
/** Users, their devices and limits. */
import {
  bulk,
  edition,
  hwidLimit,
  listing,
  order,
  profile,
  rotation,
} from '#src/http/admin/users.ts'
import { ok } from '#src/http/schemas/fields.ts'
import { subscription } from '#src/http/schemas/subscription.ts'
import {
  bulkOutcomes,
  createdUser,
  listedUser,
  rotatedToken,
  userCard,
  userDevices,
} from '#src/http/schemas/user.ts'
import { adminOperations, paged } from './operation.ts'

const params = { tg_id: tgId }
/** A tg_id that is none. */
const refusals = [400] as const

export const userOperations = adminOperations('Users', [
  {
    method: 'get',
    path: '/users',
    summary: 'List and search users, as JSON or as a table (CSV)',
    query: listing,
    ok: paged(listedUser, { 'text/csv': 'text' }),
  },
  {
    method: 'post',
    path: '/users',
    summary: 'Create a customer, who need not be on Telegram',
    body: profile,
    ok: createdUser,
  },
  {
    method: 'post',
    path: '/users/bulk',
    summary: 'Grant, extend, ban or unban many users at once',
    body: bulk,
    ok: bulkOutcomes,
  },
  {
    method: 'get',
    path: '/users/{tg_id}',
    summary: 'The card of a user: link token, subscriptions, devices',
    params,
    ok: userCard,
    refusals,
  },
  {
    method: 'patch',
    path: '/users/{tg_id}',
    summary: 'Change the note, name, e-mail address, tags or Telegram id of a user, or ban them',
    params,
    body: edition,
    ok: listedUser,
  },
  {
    method: 'delete',
    path: '/users/{tg_id}',
    summary: 'Delete a user with all that is theirs',
    params,
    ok,
    refusals,
  },
  {
    method: 'post',
    path: '/users/{tg_id}/rotate-token',
    summary: 'Give a user another link; the old one and its clients stop',
    params,
    body: rotation,
    bodyOptional: true,
    ok: rotatedToken,
  },
  {
    method: 'post',
    path: '/users/{tg_id}/grant',
    summary: 'Give a user a plan on a node; creates the user if need be',
    params,
    body: order,
    ok: subscription,
  },
  {
    method: 'get',
    path: '/users/{tg_id}/devices',
    summary: 'The devices of a user, and how many they may have',
    params,
    ok: userDevices,
    refusals,
  },
  {
    method: 'delete',
    path: '/users/{tg_id}/devices/{device_id}',
    summary: 'Forget a device; an unknown one is forgotten already',
    params: { ...params, device_id: id },
    ok,
    refusals,
  },
  {
    method: 'post',
    path: '/users/{tg_id}/hwid-limit',
    summary: 'Set how many devices a user may have; null: as many as others',
    params,
    body: hwidLimit,
    ok,
  },
])
