/** Every operation of the service. */
import { giftOperations } from '#src/http/admin/gifts.ts'
import { paymentSettingsOperations } from '#src/http/admin/payment-settings.ts'
import { planOperations } from '#src/http/admin/plans.ts'
import { accountOperations } from './accounts.ts'
import { dataOperations } from './data.ts'
import { nodeOperations } from './nodes.ts'
import type { Operation } from './operation.ts'
import { paymentOperations } from './payments.ts'
import { listPublicOperations } from './public.ts'
import { settingsOperations } from './settings.ts'
import { subscriptionOperations } from './subscriptions.ts'
import { userOperations } from './users.ts'

/** All of them, where the admin page is at `/{adminPath}`. */
export const listOperations = (adminPath: string): Operation[] => [
  ...accountOperations,
  ...userOperations,
  ...subscriptionOperations,
  ...nodeOperations,
  ...planOperations,
  ...giftOperations,
  ...paymentOperations,
  ...settingsOperations,
  ...paymentSettingsOperations,
  ...dataOperations,
  ...listPublicOperations(adminPath),
]
