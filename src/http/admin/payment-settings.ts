/** Live settings around payments: legal texts, prices, the providers and their credentials. */
import { Hono } from 'hono'
import * as v from 'valibot'
import { listPlans } from '#db/plans.ts'
import { MAX_PRICE } from '#db/values.ts'
import { saveLegalSettings } from '#src/domain/installation/legal.ts'
import {
  cryptobotToken,
  legalText,
  merchantId,
  merchantSecret,
  shopId,
  shopSecret,
} from '#src/domain/installation/setting-values.ts'
import { saveProvider, saveProviderA, saveProviderB } from '#src/domain/payments/credentials.ts'
import { PRESET_IDS, PROVIDER_IDS } from '#src/domain/payments/providers.ts'
import { readSettings } from '#src/domain/settings.ts'
import { savePlanSettings } from '#src/domain/subscriptions/plan-settings.ts'
import { badRequest, notFound } from '#src/lib/errors.ts'
import { omitUndefined } from '#src/lib/omit-undefined.ts'
import { flag, line } from '#src/lib/values.ts'
import { requireConfirmed } from '../auth.ts'
import type { AppEnv, Http } from '../context.ts'
import {
  legalView,
  planSettingsView,
  providerAView,
  providerBView,
  providersView,
} from '../settings-views.ts'
import { readChanges, readJson } from '../validate.ts'

export const legalSettings = v.object({
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

export const planSettings = v.strictObject({
  payments_enabled: v.optional(flag),
  prices: v.optional(prices),
})

export const providerA = v.object({ shop_id: shopId, secret_key: shopSecret })

export const providerB = v.object({
  merchant_id: v.optional(merchantId),
  shop_id: v.optional(merchantId),
  secret: v.optional(merchantSecret),
  secret_key: v.optional(merchantSecret),
  preset: v.optional(v.picklist(PRESET_IDS, 'must be platega, cispay or generic')),
  api_url: v.optional(line(2048)),
})

const providerSwitch = v.object({ enabled: v.optional(flag) })
export const cryptobot = v.object({ enabled: v.optional(flag), token: v.optional(cryptobotToken) })

function requireField(value: string | undefined, name: string): string {
  if (value === undefined) throw badRequest(`${name} is missing or of the wrong type`)
  return value
}

export function paymentSettingsRoutes(s: Http) {
  const planView = () => planSettingsView(readSettings(s), listPlans(s.db))
  return new Hono<AppEnv>()
    .get('/legal-settings', (c) => c.json(legalView(readSettings(s))))
    .post('/legal-settings', async (c) => {
      requireConfirmed(c)
      await saveLegalSettings(s, c.get('actor'), omitUndefined(await readChanges(c, legalSettings)))
      return c.json({ ok: true, settings: legalView(readSettings(s)) })
    })
    .get('/plan-settings', (c) => c.json(planView()))
    .post('/plan-settings', async (c) => {
      const { payments_enabled, prices } = await readChanges(c, planSettings)
      const changes = omitUndefined({ paymentsEnabled: payments_enabled, prices })
      await savePlanSettings(s, c.get('actor'), changes)
      return c.json(planView())
    })
    .get('/provider-a-settings', (c) => c.json(providerAView(readSettings(s))))
    .post('/provider-a-settings', async (c) => {
      requireConfirmed(c)
      const { shop_id, secret_key } = await readJson(c, providerA)
      const restarted = await saveProviderA(s, c.get('actor'), shop_id, secret_key)
      return c.json({ ok: true, restarted_bot: restarted })
    })
    .get('/provider-b-settings', (c) => c.json(providerBView(readSettings(s))))
    .post('/provider-b-settings', async (c) => {
      requireConfirmed(c)
      const body = await readJson(c, providerB)
      const restarted = await saveProviderB(s, c.get('actor'), {
        merchantId: requireField(body.merchant_id ?? body.shop_id, 'merchant_id'),
        secret: requireField(body.secret ?? body.secret_key, 'secret'),
        preset: body.preset,
        apiUrl: body.api_url?.replace(/\/+$/, ''),
      })
      return c.json({ ok: true, restarted_bot: restarted })
    })
    .get('/providers', (c) => c.json(providersView(readSettings(s))))
    .post('/providers/:id', async (c) => {
      const id = PROVIDER_IDS.find((known) => known === c.req.param('id'))
      if (!id) throw notFound('provider not found')
      const schema = id === 'cryptobot' ? cryptobot : providerSwitch
      const changes = await readChanges(c, schema)
      if ('token' in changes) requireConfirmed(c)
      await saveProvider(s, c.get('actor'), id, omitUndefined(changes))
      return c.json(providersView(readSettings(s)).find((provider) => provider.id === id))
    })
}
