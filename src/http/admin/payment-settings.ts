/** Live settings around payments: legal texts, prices, the providers and their credentials. */
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
import { saveCredentials, saveProvider } from '#src/domain/payments/credentials.ts'
import { findGateway } from '#src/domain/payments/providers.ts'
import { readSettings } from '#src/domain/settings.ts'
import { savePlanSettings } from '#src/domain/subscriptions/plan-settings.ts'
import { badRequest, notFound } from '#src/lib/errors.ts'
import { omitUndefined } from '#src/lib/omit-undefined.ts'
import { flag, line } from '#src/lib/values.ts'
import { requireConfirmed } from '../auth.ts'
import type { Http } from '../context.ts'
import { adminOperations, operation } from '../operation.ts'
import { providerId } from '../schemas/payment.ts'
import {
  credentialsSaved,
  legalSaved,
  legalSettings,
  planSettings,
  provider,
  providerA,
  providerB,
} from '../schemas/settings.ts'
import {
  legalView,
  planSettingsView,
  providerAView,
  providerBView,
  providersView,
} from '../settings-views.ts'
import { readChanges } from '../validate.ts'

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

const providerABody = v.object({ shop_id: shopId, secret_key: shopSecret })

const providerBBody = v.object({
  merchant_id: v.optional(merchantId),
  shop_id: v.optional(merchantId),
  secret: v.optional(merchantSecret),
  secret_key: v.optional(merchantSecret),
  preset: v.optional(
    v.picklist(['platega', 'cispay', 'generic'], 'must be platega, cispay or generic'),
  ),
  api_url: v.optional(line(2048)),
})

const providerSwitch = v.object({ enabled: v.optional(flag) })
const cryptobotBody = v.object({ enabled: v.optional(flag), token: v.optional(cryptobotToken) })

function requireField(value: string | undefined, name: string): string {
  if (value === undefined) throw badRequest(`${name} is missing or of the wrong type`)
  return value
}

const either = (...names: string[]) => ({ anyOf: names.map((name) => ({ required: [name] })) })

const planView = (s: Http) => planSettingsView(readSettings(s), listPlans(s.db))

function providerView(s: Http, id: string) {
  const found = providersView(readSettings(s)).find((one) => one.id === id)
  if (!found) throw notFound('provider not found')
  return found
}

function requireGateway(s: Http, id: string) {
  const found = findGateway(s.config, id)
  if (!found) throw notFound('provider not found')
  return found
}

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
  operation(
    {
      method: 'get',
      path: '/payments/provider-a-settings',
      scope: 'providers:read',
      summary: 'Credentials of YooKassa, without the secret',
      ok: providerA,
    },
    ({ s }) => providerAView(readSettings(s)),
  ),
  operation(
    {
      method: 'post',
      path: '/payments/provider-a-settings',
      scope: 'providers:write',
      summary: 'Set the credentials of YooKassa; it is asked whether they are right',
      confirmed: true,
      body: providerABody,
      ok: credentialsSaved,
    },
    async ({ s, actor, body }) => {
      const { shop_id, secret_key } = await body()
      const restarted = await saveCredentials(s, actor, requireGateway(s, 'provider_a'), {
        PROVIDER_A_SHOP_ID: shop_id,
        PROVIDER_A_SECRET_KEY: secret_key,
      })
      return { ok: true, restarted_bot: restarted }
    },
  ),
  operation(
    {
      method: 'get',
      path: '/payments/provider-b-settings',
      scope: 'providers:read',
      summary: 'Credentials of the second gateway, without the secret',
      ok: providerB,
    },
    ({ s }) => providerBView(readSettings(s)),
  ),
  operation(
    {
      method: 'post',
      path: '/payments/provider-b-settings',
      scope: 'providers:write',
      summary: 'Set the second gateway and its credentials',
      confirmed: true,
      body: v.pipe(
        providerBBody,
        v.metadata({ allOf: [either('merchant_id', 'shop_id'), either('secret', 'secret_key')] }),
      ),
      ok: credentialsSaved,
    },
    async ({ s, actor, body }) => {
      const { merchant_id, shop_id, secret, secret_key, preset, api_url } = await body()
      const values = omitUndefined({
        PROVIDER_B_MERCHANT_ID: requireField(merchant_id ?? shop_id, 'merchant_id'),
        PROVIDER_B_SECRET: requireField(secret ?? secret_key, 'secret'),
        PROVIDER_B_PRESET: preset,
        PROVIDER_B_API_URL: api_url?.replace(/\/+$/, ''),
      })
      const restarted = await saveCredentials(s, actor, requireGateway(s, 'provider_b'), values)
      return { ok: true, restarted_bot: restarted }
    },
  ),
  operation(
    {
      method: 'get',
      path: '/payments/providers',
      scope: 'providers:read',
      summary: 'List the payment providers',
      ok: v.array(provider),
    },
    ({ s }) => providersView(readSettings(s)),
  ),
  operation(
    {
      method: 'post',
      path: '/payments/providers/{provider_id}',
      scope: 'providers:write',
      summary: 'Switch a provider on or off; of CryptoBot also the token',
      params: { provider_id: providerId },
      body: cryptobotBody,
      changes: true,
      ok: provider,
    },
    async ({ s, c, actor, params }) => {
      const gateway = requireGateway(s, params.provider_id)
      const { id } = gateway
      // Only of CryptoBot a token is taken.
      const schema = id === 'cryptobot' ? cryptobotBody : providerSwitch
      const { enabled, token } = await readChanges<v.InferOutput<typeof cryptobotBody>>(c, schema)
      if (token !== undefined) requireConfirmed(c)
      const values = token === undefined ? {} : { CRYPTOBOT_TOKEN: token }
      await saveProvider(s, actor, gateway, { enabled, values })
      return providerView(s, id)
    },
  ),
])
