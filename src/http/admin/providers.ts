/** Payment providers: the switches, and the settings that their descriptors say they have. */
import * as v from 'valibot'
import { saveCredentials, saveProvider, type Values } from '#src/domain/payments/credentials.ts'
import { findGateway } from '#src/domain/payments/providers.ts'
import { readSettings } from '#src/domain/settings.ts'
import { flag } from '#src/lib/values.ts'
import type { GatewayDescriptor, GatewaySetting } from '#src/ports/payment-gateway.ts'
import { fieldRefusal, refusal } from '#src/refusals/index.ts'
import { requireConfirmed } from '../auth.ts'
import type { Http } from '../context.ts'
import { adminOperations, operation, type ServedOperation } from '../operation.ts'
import { providerId } from '../schemas/payment.ts'
import { credentialsSaved, provider, providerSettings } from '../schemas/settings.ts'
import { ownRouteView, providerSettingsView, providersView } from '../settings-views.ts'

type Body = Record<string, unknown>

const params = { provider_id: providerId }

const namesOf = ({ name, aliases = [] }: GatewaySetting): string[] => [name, ...aliases]

/** What is needed comes first, so that of several faults its own is named. */
const inOrder = ({ settings }: GatewayDescriptor): GatewaySetting[] => [
  ...settings.filter(({ optional }) => !optional),
  ...settings.filter(({ optional }) => optional),
]

const schemaOf = ({ given, value }: GatewaySetting) => given ?? value

/** A body that sets all that a gateway needs. */
function wholeBody(gateway: GatewayDescriptor): v.GenericSchema<unknown, Body> {
  const settings = inOrder(gateway)
  const entries = settings.flatMap((setting) => {
    const { optional, aliases } = setting
    const schema = optional || aliases ? v.optional(schemaOf(setting)) : schemaOf(setting)
    return namesOf(setting).map((name) => [name, schema] as const)
  })
  const oneOf = settings
    .filter(({ aliases }) => aliases)
    .map((setting) => ({ anyOf: namesOf(setting).map((name) => ({ required: [name] })) }))
  const body = v.object(Object.fromEntries(entries))
  return oneOf.length === 0 ? body : v.pipe(body, v.metadata({ allOf: oneOf }))
}

/** A body that switches a gateway, and changes settings where it has no route of its own for them. */
const switchBody = (gateway: GatewayDescriptor): v.GenericSchema<unknown, Body> =>
  v.object({
    enabled: v.optional(flag),
    ...Object.fromEntries(
      gateway.ownRoute
        ? []
        : gateway.settings.map((setting) => [setting.name, v.optional(schemaOf(setting))]),
    ),
  })

/** The values of a body by their keys. Throws 400 for one that is missing where `whole`. */
function valuesOf(gateway: GatewayDescriptor, body: Body, whole: boolean): Values {
  const values: Values = {}
  for (const setting of inOrder(gateway)) {
    const given = namesOf(setting)
      .map((name) => body[name])
      .find((value) => value !== undefined)
    if (given !== undefined) values[setting.key] = given as string
    else if (whole && !setting.optional) {
      throw fieldRefusal(setting.name, 'missing')
    }
  }
  return values
}

function requireGateway({ config }: Http, id: string): GatewayDescriptor {
  const found = findGateway(config, id)
  if (!found) throw refusal('provider-not-found')
  return found
}

function providerView(s: Http, id: string) {
  const found = providersView(readSettings(s)).find((one) => one.id === id)
  if (!found) throw refusal('provider-not-found')
  return found
}

export const providerOperations = adminOperations('Payment settings', [
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
      summary: 'Switch a provider on or off; of one without a route of its own also what it needs',
      params,
      body: v.looseObject({ enabled: v.optional(flag), token: v.optional(v.string()) }),
      changes: true,
      ok: provider,
    },
    async ({ s, c, actor, bodyAs, params: { provider_id: id } }) => {
      const gateway = requireGateway(s, id)
      const { enabled, ...body } = await bodyAs(switchBody(gateway))
      const values = valuesOf(gateway, body, false)
      if (Object.keys(values).length > 0) requireConfirmed(c)
      await saveProvider(s, actor, gateway, { enabled: enabled as boolean | undefined, values })
      return providerView(s, id)
    },
  ),
  operation(
    {
      method: 'get',
      path: '/payments/providers/{provider_id}/settings',
      scope: 'providers:read',
      summary: 'What a provider needs, and what of it is set; never a secret',
      params,
      ok: providerSettings,
    },
    ({ s, params: { provider_id: id } }) =>
      providerSettingsView(readSettings(s), requireGateway(s, id)),
  ),
  operation(
    {
      method: 'post',
      path: '/payments/providers/{provider_id}/settings',
      scope: 'providers:write',
      summary: 'Set what a provider needs, as its form has it; it is asked whether that is right',
      params,
      confirmed: true,
      body: v.record(v.string(), v.string()),
      ok: providerSettings,
    },
    async ({ s, actor, bodyAs, params: { provider_id: id } }) => {
      const gateway = requireGateway(s, id)
      const values = valuesOf(gateway, await bodyAs(wholeBody(gateway)), true)
      if (Object.keys(values).length === 0) throw refusal('nothing-to-change')
      if (gateway.ownRoute) await saveCredentials(s, actor, gateway, values)
      else await saveProvider(s, actor, gateway, { values })
      return providerSettingsView(readSettings(s), gateway)
    },
  ),
])

/** The routes that gateways have of their own. */
export const ownRoutes = (gateways: readonly GatewayDescriptor[]): ServedOperation[] =>
  gateways.flatMap((gateway) => {
    if (!gateway.ownRoute) return []
    const { name, reading, saving } = gateway.ownRoute
    const open = gateway.settings.filter(({ secret }) => !secret)
    const shown = open.map((one) => [
      one.name,
      one.options ? v.picklist(one.options.map(({ value }) => value)) : v.string(),
    ])
    return adminOperations('Payment settings', [
      operation(
        {
          method: 'get',
          path: `/payments/${name}`,
          scope: 'providers:read',
          summary: reading,
          ok: v.strictObject({
            enabled: v.boolean(),
            ...(Object.fromEntries(shown) as Record<string, v.GenericSchema<string>>),
            has_secret: v.boolean(),
          }),
        },
        ({ s }) => ownRouteView(readSettings(s), gateway),
      ),
      operation(
        {
          method: 'post',
          path: `/payments/${name}`,
          scope: 'providers:write',
          summary: saving,
          confirmed: true,
          body: wholeBody(gateway),
          ok: credentialsSaved,
        },
        async ({ s, actor, body }) => {
          const values = valuesOf(gateway, (await body()) as Body, true)
          return { ok: true, restarted_bot: await saveCredentials(s, actor, gateway, values) }
        },
      ),
    ])
  })
