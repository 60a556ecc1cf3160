/** Plans and gift codes. */
import * as v from 'valibot'
import { creation as giftCreation, listing as giftListing } from '#src/http/admin/gifts.ts'
import { creation, edition, planOrder } from '#src/http/admin/plans.ts'
import { code, ok } from '#src/http/schemas/fields.ts'
import { adminPlan, createdGifts, gift, planDeleted } from '#src/http/schemas/plan.ts'
import { adminOperations, paged } from './operation.ts'

const params = { code }

const plans = adminOperations('Plans', [
  {
    method: 'get',
    path: '/plans',
    summary: 'List the plans, archived ones too',
    ok: v.array(adminPlan),
  },
  { method: 'post', path: '/plans', summary: 'Add a plan', body: creation, ok: adminPlan },
  {
    method: 'post',
    path: '/plans/reorder',
    summary: 'Put the plans in this order; every one once, archived ones too',
    body: planOrder,
    ok,
  },
  {
    method: 'patch',
    path: '/plans/{code}',
    summary: 'Change a plan',
    params,
    body: edition,
    ok: adminPlan,
  },
  {
    method: 'delete',
    path: '/plans/{code}',
    summary: 'Delete a plan, or archive it while it is used',
    params,
    ok: planDeleted,
  },
])

const gifts = adminOperations('Gift codes', [
  {
    method: 'get',
    path: '/gift-codes',
    summary: 'List and search gift codes; revoked ones only when asked for',
    query: giftListing,
    ok: paged(gift),
  },
  {
    method: 'post',
    path: '/gift-codes',
    summary: 'Make a gift code, or many of a kind',
    body: giftCreation,
    ok: createdGifts,
  },
  {
    method: 'delete',
    path: '/gift-codes/{code}',
    summary: 'Make a gift code worthless',
    params: { code: v.string() },
    ok,
    refusals: [400],
  },
])

export const planOperations = [...plans, ...gifts]
