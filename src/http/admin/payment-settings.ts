/** Live settings around payments: legal texts, prices, the providers and their credentials. */
import * as v from 'valibot'
import { listPlans } from '#db/plans.ts'
import { MAX_PRICE } from '#db/values.ts'
import { saveLegalSettings } from '#src/domain/installation/legal.ts'
import { legalText } from '#src/domain/installation/setting-values.ts'
import { readSettings } from '#src/domain/settings.ts'
import { savePlanSettings } from '#src/domain/subscriptions/plan-settings.ts'
import { omitUndefined } from '#src/lib/omit-undefined.ts'
import { flag } from '#src/lib/values.ts'
import type { Http } from '../context.ts'
import { adminOperations, operation } from '../operation.ts'
import { legalSaved, legalSettings, planSettings } from '../schemas/settings.ts'
import { legalView, planSettingsView } from '../settings-views.ts'

const legalBody = v.object({
  LEGAL_NAME: v.optional(legalText),
  LEGAL_INN: v.optional(legalText),
  REFUND_HOURS: v.optional(legalText),
  SUPPORT_CONTACT: v.optional(legalText),
  SUPPORT_EMAIL: v.optional(legalText),
})

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

const planBody = v.strictObject({
  payments_enabled: v.optional(flag),
  prices: v.optional(prices),
})

const planView = (s: Http) => planSettingsView(readSettings(s), listPlans(s.db))

export const paymentSettingsOperations = adminOperations('Payment settings', [
  operation(
    {
      method: 'get',
      path: '/payments/legal-settings',
      scope: 'settings:read',
      summary: 'What the offer and the privacy page say of the seller',
      ok: legalSettings,
    },
    ({ s }) => legalView(readSettings(s)),
  ),
  operation(
    {
      method: 'post',
      path: '/payments/legal-settings',
      scope: 'settings:write',
      summary: 'Change what the offer and the privacy page say of the seller',
      confirmed: true,
      body: legalBody,
      changes: true,
      ok: legalSaved,
    },
    async ({ s, actor, body }) => {
      await saveLegalSettings(s, actor, omitUndefined(await body()))
      return { ok: true, settings: legalView(readSettings(s)) }
    },
  ),
  operation(
    {
      method: 'get',
      path: '/payments/plan-settings',
      scope: 'settings:read',
      summary: 'Prices, and whether anything is sold',
      ok: planSettings,
    },
    ({ s }) => planView(s),
  ),
  operation(
    {
      method: 'post',
      path: '/payments/plan-settings',
      scope: 'settings:write',
      summary: 'Change prices, or whether anything is sold; all of it or nothing',
      body: planBody,
      changes: true,
      ok: planSettings,
    },
    async ({ s, actor, body }) => {
      const { payments_enabled, prices } = await body()
      const changes = omitUndefined({ paymentsEnabled: payments_enabled, prices })
      await savePlanSettings(s, actor, changes)
      return planView(s)
    },
  ),
])
