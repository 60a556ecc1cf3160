/** The cabinet's shop: what the owner of a link can buy, their pay links, their Telegram account, the removal of their devices. */

import * as v from 'valibot'
import { listDevices } from '#db/devices.ts'
import type { User } from '#db/schema/index.ts'
import { readUserByToken } from '#db/users.ts'
import { rowId as id, token } from '#db/values.ts'
import type { Actor } from '#src/domain/audit.ts'
import { deviceLimit, limitOfPlans, removeOwnDevice } from '#src/domain/customers/devices.ts'
import { canConnect, createConnectLink } from '#src/domain/customers/linking.ts'
import { groupLabels } from '#src/domain/labels.ts'
import { createPayment } from '#src/domain/payments/create.ts'
import { createGuest, sellsToGuests } from '#src/domain/payments/guests.ts'
import { readShop } from '#src/domain/payments/offer.ts'
import { readReturn } from '#src/domain/payments/return.ts'
import { ownIdOf } from '#src/domain/secret.ts'
import {
  changeServer,
  changeToPlan,
  type Prospect,
  previewPlan,
  previewServer,
  prospectOf,
  readChoices,
} from '#src/domain/subscriptions/change.ts'
import {
  findShownOfUser,
  listShownOfUser,
  RUNNING,
} from '#src/domain/subscriptions/subscriptions.ts'
import { takesTraffic } from '#src/domain/traffic-packs.ts'
import { qrShape } from '#src/lib/qr-code.ts'
import { subLink } from '#src/lib/sub-link.ts'
import { formatTimestamp } from '#src/lib/time.ts'
import { flag, plainText, wantedDays } from '#src/lib/values.ts'
import { refusal } from '#src/refusals/index.ts'
import { LANGS } from '#src/web/lang.ts'
import { isCrossSite } from './auth.ts'
import { type Context, type Http, ipOf } from './context.ts'
import { openOperations, operation } from './operation.ts'
import { currentCatalogue } from './pages.ts'
import {
  choicesView,
  ownDeviceView,
  ownSubscriptionView,
  placeView,
  shopPlanView,
} from './payment-views.ts'
import { ok } from './schemas/fields.ts'
import { choices, connectLink, guest, payLink, payState, shop } from './schemas/payment.ts'
import { prospect } from './schemas/subscription.ts'
import { readId } from './validate.ts'
import { prospectView, shopPackView } from './views.ts'

const purchase = v.variant('kind', [
  v.object({
    kind: v.optional(v.literal('access')),
    node: v.optional(v.nullable(plainText(64))),
    plan: plainText(64),
    provider: plainText(64),
    renews: v.optional(v.nullable(plainText(64))),
  }),
  v.object({
    kind: v.literal('traffic'),
    pack: plainText(64),
    provider: plainText(64),
    renews: plainText(64),
  }),
])

/** The owner of the link token of a path. Throws 404. */
async function readOwner(s: Http, params: { token: string }): Promise<User> {
  const user = await s.db.read((q) => readUserByToken(q, params.token))
  if (!user) throw refusal('not-found')
  return user
}

/** The uuid of the own subscription with this id; any other id as it is, which is refused as unknown. */
async function uuidOf(s: Http, user: User, id: string): Promise<string> {
  const found = await findShownOfUser(s, user, id, formatTimestamp(s.clock.now()))
  return found?.row.uuid ?? id
}

/** The uuid of the own subscription with this id. Throws 404. */
async function requireOwn(s: Http, user: User, id: string): Promise<string> {
  const found = await findShownOfUser(s, user, id, formatTimestamp(s.clock.now()))
  if (!found) throw refusal('subscription-not-found')
  return found.row.uuid
}

/** What a subscription is to be changed to. */
const change = v.object({
  node: v.optional(plainText(64)),
  plan: v.optional(plainText(64)),
  days: v.optional(wantedDays),
  preview: v.optional(flag),
})

/** Changes an own subscription, or says what that would lead to. */
async function changeOwn(
  s: Http,
  actor: Actor,
  owner: User,
  uuid: string,
  { node, plan, days, preview }: v.InferOutput<typeof change>,
): Promise<Prospect> {
  if (node !== undefined && plan === undefined) {
    return preview ? previewServer(s, owner, uuid, node) : changeServer(s, actor, owner, uuid, node)
  }
  if (plan === undefined || node !== undefined) throw refusal('node-or-plan')
  if (preview) return previewPlan(s, owner, uuid, { plan, days })
  const changed = await changeToPlan(s, actor, owner, uuid, { plan, days })
  return prospectOf(changed, changed.days)
}

/** What is asked for, of or for the subscription with this uuid. */
const requestOf = (wanted: v.InferOutput<typeof purchase>, renews: string | undefined) =>
  wanted.kind === 'traffic'
    ? { ...wanted, renews: renews ?? wanted.renews }
    : { ...wanted, node: wanted.node ?? undefined, renews }

async function shopView(s: Http, user: User) {
  const now = formatTimestamp(s.clock.now())
  const { shown, devices } = await s.db.read(function* (q) {
    return {
      shown: yield* listShownOfUser(q, user, now),
      devices: yield* listDevices(q, user.tgId),
    }
  })
  const catalogue = currentCatalogue(s)
  const { open, nodes, places, plans, packs, providers } = readShop(catalogue, user)
  const groupOf = groupLabels(s)
  const running = shown.flatMap(({ row, state }) => (RUNNING.has(state) ? [row] : []))
  const connectable = canConnect(user, catalogue.settings)
  const offersPacks = packs.length > 0 && shown.some(({ row, state }) => takesTraffic(row, state))
  return {
    ...(connectable ? { connect_telegram: true as const } : undefined),
    ...(user.guestAt !== null && user.telegramId === null ? { guest: true as const } : undefined),
    payments_enabled: open,
    nodes,
    ...(places.some(({ nodeGroup }) => nodeGroup !== null)
      ? { places: places.map(placeView) }
      : undefined),
    plans: plans.map((plan) => shopPlanView(plan, s.config.currency)),
    ...(offersPacks
      ? { packs: packs.map((pack) => shopPackView(pack, s.config.currency)) }
      : undefined),
    providers: providers.map(({ id, label }) => ({ id, label })),
    subscriptions: shown.map(({ state, ...found }) =>
      ownSubscriptionView(found, state, ownIdOf(s, found.row.uuid), groupOf(found.row), now),
    ),
    devices: {
      limit: deviceLimit(user, catalogue.settings, limitOfPlans(catalogue.plans, running)),
      list: devices.map(ownDeviceView),
    },
  }
}

/** The answer is the owner's alone: no cache keeps it. */
const keepPrivate = (c: Context) => c.header('Cache-Control', 'private, no-store')

const ownPath = '/api/cabinet/{token}'

/** Throws 404 before anything of a request is looked at where guests are not sold to. */
function requireGuestSales(s: Http): void {
  if (!sellsToGuests(currentCatalogue(s).settings)) throw refusal('not-found')
}

/** Who comes to buy, and comes back from it, without a link. */
export const guestOperations = openOperations('Shop', [
  operation(
    {
      method: 'post',
      path: '/api/guest',
      summary: 'Make a customer of somebody who buys on the site; 5 an hour from an address',
      open: 'public',
      body: v.object({ lang: v.optional(v.picklist(LANGS)) }),
      bodyOptional: true,
      ok: guest,
      refusals: [403, 404, 429],
    },
    async ({ s, c, body }) => {
      requireGuestSales(s)
      // Another site, or another name of this one, shall not use up what an address has.
      if (isCrossSite(c, s.own)) throw refusal('cross-site-request')
      const { lang } = await body()
      const made = await createGuest(s, ipOf(s, c), lang ?? null)
      keepPrivate(c)
      return { token: made }
    },
  ),
  operation(
    {
      method: 'post',
      path: '/api/pay/status',
      summary:
        'How the payment stands from which somebody comes back, with their link for 24 hours',
      open: 'public',
      body: v.object({ key: plainText(128) }),
      ok: payState,
      refusals: [404],
    },
    async ({ s, c, body }) => {
      requireGuestSales(s)
      const { status, token: own, buyer } = await readReturn(s, (await body()).key)
      keepPrivate(c)
      if (own === null) return { status }
      const connectable = buyer && canConnect(buyer, currentCatalogue(s).settings)
      const link = subLink(s.config, own)
      return {
        status,
        sub_link: link,
        qr: qrShape(link),
        ...(connectable ? { connect_telegram: true as const } : undefined),
      }
    },
  ),
])

export const shopOperations = openOperations('Shop', [
  operation(
    {
      method: 'get',
      path: `${ownPath}/shop`,
      summary: 'What the owner of a link can buy, with their subscriptions and devices',
      open: 'token in path',
      params: { token },
      ok: shop,
    },
    async ({ s, c, params }) => {
      const user = await readOwner(s, params)
      keepPrivate(c)
      return shopView(s, user)
    },
  ),
  operation(
    {
      method: 'post',
      path: `${ownPath}/payments`,
      summary: 'Make a pay link; the same order again gets the same one',
      open: 'token in path',
      params: { token },
      body: purchase,
      ok: payLink,
      refusals: [429],
    },
    async ({ s, c, params, body }) => {
      const user = await readOwner(s, params)
      const wanted = await body()
      const actor = { admin: null, ip: ipOf(s, c) }
      const { renews } = wanted
      const uuid = typeof renews === 'string' ? await uuidOf(s, user, renews) : undefined
      const from = { tgId: user.tgId, source: 'site' } as const
      const made = await createPayment(s, actor, { ...from, ...requestOf(wanted, uuid) })
      keepPrivate(c)
      return { id: made.id, pay_url: made.payUrl }
    },
  ),
  operation(
    {
      method: 'get',
      path: `${ownPath}/subscriptions/{uuid}/change`,
      summary:
        'What an own subscription may be changed to: another server, the days of another plan',
      open: 'token in path',
      params: { token, uuid: v.string() },
      ok: choices,
    },
    async ({ s, c, params }) => {
      const user = await readOwner(s, params)
      const found = await readChoices(s, user, await requireOwn(s, user, params.uuid))
      keepPrivate(c)
      return choicesView(found)
    },
  ),
  operation(
    {
      method: 'post',
      path: `${ownPath}/subscriptions/{uuid}/change`,
      summary:
        'Change the server or the plan of an own subscription; preview: what that would lead to',
      open: 'token in path',
      params: { token, uuid: v.string() },
      body: change,
      ok: prospect,
      refusals: [429],
    },
    async ({ s, c, params, body }) => {
      const user = await readOwner(s, params)
      const wanted = await body()
      const uuid = await requireOwn(s, user, params.uuid)
      const actor = { admin: null, ip: ipOf(s, c) }
      const changed = await changeOwn(s, actor, user, uuid, wanted)
      keepPrivate(c)
      return prospectView(changed)
    },
  ),
  operation(
    {
      method: 'post',
      path: `${ownPath}/link`,
      summary: 'Make the link into the bot that connects a Telegram account; for 15 minutes, once',
      open: 'token in path',
      params: { token },
      ok: connectLink,
      refusals: [400, 429],
    },
    async ({ s, c, params }) => {
      await readOwner(s, params)
      const url = await createConnectLink(s, params.token)
      keepPrivate(c)
      return { url }
    },
  ),
  operation(
    {
      method: 'delete',
      path: `${ownPath}/devices/{device_id}`,
      summary: 'Forget an own device, 3 a day; an unknown one is forgotten already',
      open: 'token in path',
      params: { token, device_id: id },
      ok,
      refusals: [429],
    },
    async ({ s, c, params }) => {
      const { tgId } = await readOwner(s, params)
      await removeOwnDevice(s, { admin: null, ip: ipOf(s, c) }, tgId, readId(params.device_id))
      keepPrivate(c)
      return { ok: true }
    },
  ),
])
