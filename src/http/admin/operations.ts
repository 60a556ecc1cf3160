/** What the panel and scripts may ask of the service, under /admin/api. */
import type { Config } from '#src/config.ts'
import type { LiveSetting } from '#src/settings/setting.ts'
import type { ServedOperation } from '../operation.ts'
import { accountOperations } from './admins.ts'
import { backupOperations } from './backup.ts'
import { customerSettingsOperations } from './customer-settings.ts'
import { descriptionOperations } from './description.ts'
import { eventOperations } from './events.ts'
import { giftOperations } from './gifts.ts'
import { listSettingsOperations } from './list-settings.ts'
import { listPreviewOperations, templateOperations } from './list-templates.ts'
import { liveOperations } from './live.ts'
import { loginOperations } from './login.ts'
import { nodeGroupOperations } from './node-groups.ts'
import { nodeHostOperations } from './node-hosts.ts'
import { nodesOperations } from './nodes.ts'
import { oneNodeOperations } from './one-node.ts'
import { oneUserOperations } from './one-user.ts'
import { operatorSettingsOperations } from './operator-settings.ts'
import { paymentSettingsOperations } from './payment-settings.ts'
import { paymentOperations } from './payments.ts'
import { planOperations } from './plans.ts'
import { ownRoutes, providerOperations } from './providers.ts'
import { provisioningOperations } from './provisioning.ts'
import { qrOperations } from './qr.ts'
import { statsOperations } from './stats.ts'
import { subscriptionOperations } from './subscriptions.ts'
import { syncOperations } from './sync.ts'
import { trafficOperations } from './traffic.ts'
import { packOperations } from './traffic-packs.ts'
import { twoFactorOperations } from './two-factor.ts'
import { usersOperations } from './users.ts'
import { webhookSettingsOperations } from './webhook-settings.ts'

/**
 * All of them; those of one tag in the order that the description has them in. `own`: the live settings that are no gateway's.
 */
export const adminOperationsOf = (own: readonly LiveSetting[]) => [
  ...loginOperations,
  ...accountOperations,
  ...twoFactorOperations,
  ...usersOperations,
  ...oneUserOperations,
  ...listPreviewOperations,
  ...subscriptionOperations,
  ...trafficOperations,
  ...nodesOperations,
  ...liveOperations,
  ...provisioningOperations,
  ...oneNodeOperations,
  ...nodeHostOperations,
  ...syncOperations,
  ...nodeGroupOperations,
  ...planOperations,
  ...packOperations,
  ...giftOperations,
  ...paymentOperations,
  ...customerSettingsOperations(own),
  ...listSettingsOperations(own),
  ...templateOperations,
  ...webhookSettingsOperations(own),
  ...operatorSettingsOperations(own),
  ...paymentSettingsOperations(own),
  ...providerOperations,
  ...statsOperations,
  ...eventOperations,
  ...backupOperations,
  ...qrOperations,
  ...descriptionOperations,
]

/** Those and what gateways have of their own. */
export const allOperations = ({
  gateways,
  settings,
}: Pick<Config, 'gateways' | 'settings'>): ServedOperation[] => [
  ...adminOperationsOf(settings.own),
  ...ownRoutes(gateways),
]
