/** The cabinet's shop: what the owner of a link can buy, his pay links, the removal of his devices. */
import type { Hono } from 'hono'
import * as v from 'valibot'
import { listDevices } from '#db/devices.ts'
import type { User } from '#db/schema.ts'
import { listOfUser } from '#db/subscriptions.ts'
import { findUserByToken } from '#db/users.ts'
import { removeOwnDevice } from '#src/domain/devices.ts'
import { createPayment } from '#src/domain/payment-creation.ts'
import { listProviders } from '#src/domain/providers.ts'
import type { Settings } from '#src/domain/settings.ts'
import { subscriptionState } from '#src/domain/subscriptions.ts'
import { notFound } from '#src/lib/errors.ts'
import { formatTimestamp } from '#src/lib/time.ts'
import { type AppEnv, type Context, type Http, ipOf } from './context.ts'
import { currentDirectory } from './pages.ts'
import { ownDeviceView, ownSubscriptionView, shopPlanView } from './payment-views.ts'
import { plainText, readId, readJson } from './validate.ts'

export const purchase = v.object({
  node: v.optional(v.nullable(plainText(64))),
  plan: plainText(64),
  provider: plainText(64),
  renews: v.optional(v.nullable(plainText(64))),
})

/** The owner of the link token of a path. Throws 404. */
function readOwner(s: Http, c: Context): User {
  const user = findUserByToken(s.db, c.req.param('token') ?? '')
  if (!user) throw notFound()
  return user
}

/** His devices, and how many he may have; null while nobody counts them. */
function ownDevices(s: Http, user: User, settings: Settings) {
  const counted = settings.flag('HWID_LIMIT_ENABLED')
  return {
    limit: counted ? (user.hwidLimit ?? settings.int('HWID_FALLBACK_LIMIT')) : null,
    list: listDevices(s.db, user.tgId).map(ownDeviceView),
  }
}

function shop(s: Http, user: User) {
  const now = formatTimestamp(s.clock.now())
  const { nodes, plans, settings } = currentDirectory(s)
  const banned = user.bannedAt !== null
  const subscriptions = banned ? [] : listOfUser(s.db, user.tgId)
  return {
    payments_enabled: settings.flag('PAYMENTS_ENABLED') && !banned,
    nodes: [...nodes.values()].flatMap(({ enabled, code, label }) =>
      enabled ? [{ code, label }] : [],
    ),
    plans: [...plans.values()]
      .filter((plan) => !plan.archived && (plan.price > 0 || (plan.priceStars ?? 0) > 0))
      .map((plan) => shopPlanView(plan, s.config.currency)),
    providers: listProviders(settings).flatMap(({ id, label, enabled, configured }) =>
      enabled && configured ? [{ id, label }] : [],
    ),
    subscriptions: subscriptions.flatMap((found) => {
      const state = subscriptionState(found.row, now)
      return state === 'revoked' ? [] : [ownSubscriptionView(found, state)]
    }),
    devices: ownDevices(s, user, settings),
  }
}

/** Adds the shop's routes. */
export function mountShop(app: Hono<AppEnv>, s: Http): void {
  const base = '/api/cabinet/:token'
  const priv = (c: Context) => c.header('Cache-Control', 'private, no-store')
  app.get(`${base}/shop`, (c) => {
    const user = readOwner(s, c)
    priv(c)
    return c.json(shop(s, user))
  })
  app.post(`${base}/payments`, async (c) => {
    const { tgId } = readOwner(s, c)
    const { node, plan, provider, renews } = await readJson(c, purchase)
    const actor = { admin: null, ip: ipOf(s, c) }
    const made = await createPayment(s, actor, {
      tgId,
      node: node ?? undefined,
      plan,
      provider,
      renews: renews ?? undefined,
      source: 'site',
    })
    priv(c)
    return c.json({ id: made.id, pay_url: made.payUrl })
  })
  app.delete(`${base}/devices/:id`, async (c) => {
    const { tgId } = readOwner(s, c)
    await removeOwnDevice(s, { admin: null, ip: ipOf(s, c) }, tgId, readId(c, 'id'))
    priv(c)
    return c.json({ ok: true })
  })
}
