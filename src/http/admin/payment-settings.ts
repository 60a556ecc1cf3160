/** Live settings around payments: legal texts, prices, the providers and their credentials. */
import * as v from 'valibot'
import { listPlans } from '#db/plans.ts'
import { count, MAX_PRICE } from '#db/values.ts'
import { saveLegalSettings } from '#src/domain/installation/legal.ts'
import { readSettings } from '#src/domain/settings.ts'
import { savePlanSettings } from '#src/domain/subscriptions/plan-settings.ts'
import { omitUndefined } from '#src/lib/omit-undefined.ts'
import type { LiveSetting } from '#src/settings/setting.ts'
import type { Http } from '../context.ts'
import { adminOperations, operation } from '../operation.ts'
import { formOf } from '../settings-form.ts'

const isPrice = (value: unknown) =>
  Number.isSafeInteger(value) && Number(value) >= 0 && Number(value) <= MAX_PRICE

/** Keys that valibot's record passes over without a word. */
const PASSED_OVER = ['__proto__', 'prototype', 'constructor']

// Checked before the record, whose own faults would name the keys that were sent.
const prices = v.pipe(
  v.unknown(),
  v.check(
    (input) => typeof input === 'object' && input !== null && !Array.isArray(input),
    'must be an object of prices by plan code',
  ),
  v.check(
    (input) => !PASSED_OVER.some((key) => Object.hasOwn(Object(input), key)),
    'has an unknown plan',
  ),
  v.check(
    (input) => Object.values(Object(input)).every(isPrice),
    `must be whole numbers from 0 to ${MAX_PRICE}`,
  ),
  v.metadata({
    type: 'object',
    additionalProperties: { type: 'integer', minimum: 0, maximum: MAX_PRICE },
  }),
  v.record(v.string(), v.number()),
)

/** The prices of all plans. */
const pricesOf = (s: Http) =>
  Object.fromEntries(listPlans(s.db).map(({ code, price }) => [code, price]))

export function paymentSettingsOperations(own: readonly LiveSetting[]) {
  const legal = formOf(own, 'legal')
  const plans = formOf(own, 'plans')
  const plansView = (s: Http) => ({ ...plans.view(readSettings(s)), prices: pricesOf(s) })
  const shownPlans = v.strictObject({
    ...plans.shown.entries,
    prices: v.record(v.string(), count),
  })
  return adminOperations('Payment settings', [
    operation(
      {
        method: 'get',
        path: '/payments/legal-settings',
        scope: 'settings:read',
        summary: 'What the offer and the privacy page say of the seller',
        ok: legal.shown,
      },
      ({ s }) => legal.view(readSettings(s)),
    ),
    operation(
      {
        method: 'post',
        path: '/payments/legal-settings',
        scope: 'settings:write',
        summary: 'Change what the offer and the privacy page say of the seller',
        confirmed: true,
        body: v.object(legal.given),
        changes: true,
        ok: v.strictObject({ ok: v.literal(true), settings: legal.shown }),
      },
      async ({ s, actor, body }) => {
        await saveLegalSettings(s, actor, omitUndefined(await body()))
        return { ok: true, settings: legal.view(readSettings(s)) }
      },
    ),
    operation(
      {
        method: 'get',
        path: '/payments/plan-settings',
        scope: 'settings:read',
        summary: 'Prices, and whether anything is sold',
        ok: shownPlans,
      },
      ({ s }) => plansView(s),
    ),
    operation(
      {
        method: 'post',
        path: '/payments/plan-settings',
        scope: 'settings:write',
        summary: 'Change prices, or whether anything is sold; all of it or nothing',
        body: v.strictObject({ ...plans.given, prices: v.optional(prices) }),
        changes: true,
        ok: shownPlans,
      },
      async ({ s, actor, body }) => {
        const { payments_enabled, prices } = await body()
        const changes = omitUndefined({ paymentsEnabled: payments_enabled, prices })
        await savePlanSettings(s, actor, changes)
        return plansView(s)
      },
    ),
  ])
}
