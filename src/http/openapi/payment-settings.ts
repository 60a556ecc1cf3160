/** Live settings of payments: legal texts, prices, providers. */
import * as v from 'valibot'
import {
  cryptobot,
  legalSettings as legalBody,
  planSettings as planBody,
  providerA as providerABody,
  providerB as providerBBody,
} from '#src/http/admin/payment-settings.ts'
import {
  credentialsSaved,
  legalSaved,
  legalSettings,
  planSettings,
  provider,
  providerA,
  providerB,
} from '#src/http/schemas/settings.ts'
import { adminOperations, changesOf } from './operation.ts'

const either = (...names: string[]) => ({ anyOf: names.map((name) => ({ required: [name] })) })

export const paymentSettingsOperations = adminOperations('Payment settings', [
  {
    method: 'get',
    path: '/payments/legal-settings',
    summary: 'What the offer and the privacy page say of the seller',
    ok: legalSettings,
  },
  {
    method: 'post',
    path: '/payments/legal-settings',
    summary: 'Change what the offer and the privacy page say of the seller',
    body: changesOf(legalBody),
    ok: legalSaved,
  },
  {
    method: 'get',
    path: '/payments/plan-settings',
    summary: 'Prices, and whether anything is sold',
    ok: planSettings,
  },
  {
    method: 'post',
    path: '/payments/plan-settings',
    summary: 'Change prices, or whether anything is sold; all of it or nothing',
    body: changesOf(planBody),
    ok: planSettings,
  },
  {
    method: 'get',
    path: '/payments/provider-a-settings',
    summary: 'Credentials of YooKassa, without the secret',
    ok: providerA,
  },
  {
    method: 'post',
    path: '/payments/provider-a-settings',
    summary: 'Set the credentials of YooKassa; it is asked whether they are right',
    body: providerABody,
    ok: credentialsSaved,
  },
  {
    method: 'get',
    path: '/payments/provider-b-settings',
    summary: 'Credentials of the second gateway, without the secret',
    ok: providerB,
  },
  {
    method: 'post',
    path: '/payments/provider-b-settings',
    summary: 'Set the second gateway and its credentials',
    body: v.pipe(
      providerBBody,
      v.metadata({ allOf: [either('merchant_id', 'shop_id'), either('secret', 'secret_key')] }),
    ),
    ok: credentialsSaved,
  },
  {
    method: 'get',
    path: '/payments/providers',
    summary: 'List the payment providers',
    ok: v.array(provider),
  },
  {
    method: 'post',
    path: '/payments/providers/{provider_id}',
    summary: 'Switch a provider on or off; of CryptoBot also the token',
    params: { provider_id: v.picklist(['provider_a', 'provider_b', 'stars', 'cryptobot']) },
    body: changesOf(cryptobot),
    ok: provider,
  },
])
