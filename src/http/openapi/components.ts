/** The records that the description of the API names. */
import { admin, auditEntry, session } from '#src/http/schemas/account.ts'
import { cabinet } from '#src/http/schemas/cabinet.ts'
import { event } from '#src/http/schemas/event.ts'
import { ok, refusal } from '#src/http/schemas/fields.ts'
import { node, nodeMetrics } from '#src/http/schemas/node.ts'
import { orphanPayment, payment, providerId, shop } from '#src/http/schemas/payment.ts'
import { adminPlan, gift, plan } from '#src/http/schemas/plan.ts'
import { provider } from '#src/http/schemas/settings.ts'
import { stats } from '#src/http/schemas/stats.ts'
import { subscription } from '#src/http/schemas/subscription.ts'
import { device, listedUser, userCard } from '#src/http/schemas/user.ts'
import { formOf } from '#src/http/settings-form.ts'
import { LIVE } from '#src/settings/live.ts'

export const components = {
  Error: refusal,
  Ok: ok,
  Admin: admin,
  AdminPlan: adminPlan,
  AuditEntry: auditEntry,
  Cabinet: cabinet,
  Device: device,
  Event: event,
  GiftCode: gift,
  LegalSettings: formOf(LIVE, 'legal').shown,
  ListedUser: listedUser,
  Node: node,
  NodeMetrics: nodeMetrics,
  OrphanPayment: orphanPayment,
  Payment: payment,
  Plan: plan,
  Provider: provider,
  ProviderId: providerId,
  Session: session,
  Shop: shop,
  Stats: stats,
  Subscription: subscription,
  User: userCard,
}
