/** The cabinet's shop: what the owner of a link can buy, their pay links, their Telegram account, the removal of their devices. */
import type { Hono } from 'hono'
import * as v from 'valibot'
import { listDevices } from '#db/devices.ts'
import type { User } from '#db/schema.ts'
import { findUserByToken } from '#db/users.ts'
import { deviceLimit, removeOwnDevice } from '#src/domain/customers/devices.ts'
import { canConnect, createConnectLink } from '#src/domain/customers/linking.ts'
import { createPayment } from '#src/domain/payments/create.ts'
import { readShop } from '#src/domain/payments/offer.ts'
import { ownIdOf } from '#src/domain/secret.ts'
import { findShownOfUser, listShownOfUser } from '#src/domain/subscriptions/subscriptions.ts'
import { notFound } from '#src/lib/errors.ts'
import { formatTimestamp } from '#src/lib/time.ts'
import { plainText } from '#src/lib/values.ts'
import { type AppEnv, type Context, type Http, ipOf } from './context.ts'
import { currentCatalogue } from './pages.ts'
import { ownDeviceView, ownSubscriptionView, shopPlanView } from './payment-views.ts'
import { readId, readJson } from './validate.ts'

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

/** The uuid of the own subscription with this id; any other id as it is, which is refused as unknown. */
function uuidOf(s: Http, user: User, id: string): string {
  return findShownOfUser(s, user, id, formatTimestamp(s.clock.now()))?.row.uuid ?? id
}

function shop(s: Http, user: User) {
  const now = formatTimestamp(s.clock.now())
  const catalogue = currentCatalogue(s)
  const { open, nodes, plans, providers } = readShop(catalogue, user)
  const connectable = canConnect(user, catalogue.settings)
  return {
    ...(connectable ? { connect_telegram: true as const } : undefined),
    payments_enabled: open,
    nodes,
    plans: plans.map((plan) => shopPlanView(plan, s.config.currency)),
    providers: providers.map(({ id, label }) => ({ id, label })),
    subscriptions: listShownOfUser(s.db, user, now).map(({ state, ...found }) =>
      ownSubscriptionView(found, state, ownIdOf(s, found.row.uuid)),
    ),
    devices: {
      limit: deviceLimit(user, catalogue.settings),
      list: listDevices(s.db, user.tgId).map(ownDeviceView),
    },
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
    const user = readOwner(s, c)
    const { node, plan, provider, renews } = await readJson(c, purchase)
    const actor = { admin: null, ip: ipOf(s, c) }
    const made = await createPayment(s, actor, {
      tgId: user.tgId,
      node: node ?? undefined,
      plan,
      provider,
      renews: typeof renews === 'string' ? uuidOf(s, user, renews) : undefined,
      source: 'site',
    })
    priv(c)
    return c.json({ id: made.id, pay_url: made.payUrl })
  })
  app.post(`${base}/link`, async (c) => {
    const url = await createConnectLink(s, readOwner(s, c).tgId)
    priv(c)
    return c.json({ url })
  })
  app.delete(`${base}/devices/:id`, async (c) => {
    const { tgId } = readOwner(s, c)
    await removeOwnDevice(s, { admin: null, ip: ipOf(s, c) }, tgId, readId(c.req.param('id')))
    priv(c)
    return c.json({ ok: true })
  })
}
