/** Public pages and the public API: landing, cabinet, plans, the return from a payment. */

import * as v from 'valibot'
import { listActiveOfUser } from '#db/subscriptions.ts'
import { readUserByToken } from '#db/users.ts'
import { token } from '#db/values.ts'
import { deviceLimit } from '#src/domain/customers/devices.ts'
import { legalTokens } from '#src/domain/installation/legal.ts'
import { groupLabels } from '#src/domain/labels.ts'
import { sellsToGuests } from '#src/domain/payments/guests.ts'
import { isSold, readShop } from '#src/domain/payments/offer.ts'
import { quotaOfPlan } from '#src/domain/quotas.ts'
import { changesOffered } from '#src/domain/subscriptions/change.ts'
import { subLink } from '#src/lib/sub-link.ts'
import { daysLeft, endlessOf, formatTimestamp } from '#src/lib/time.ts'
import { refusal } from '#src/refusals/index.ts'
import { cabinetPage } from '#src/web/cabinet-page.ts'
import { landingPage } from '#src/web/landing-page.ts'
import { type LegalDocument, legalPage } from '#src/web/legal-page.ts'
import { payDonePage } from '#src/web/pay-done-page.ts'
import { soldTraffic } from '#src/web/traffic.ts'
import { asset, page } from './answers.ts'
import { builtFile } from './compression.ts'
import type { Context, Http } from './context.ts'
import { openOperations, operation } from './operation.ts'
import { botUrl, currentCatalogue, language, renderPage } from './pages.ts'
import { type CabinetAnswer, cabinet } from './schemas/cabinet.ts'
import { plan } from './schemas/plan.ts'
import { planView, waitingView } from './views.ts'

/** The landing page, as `GET /` answers it. */
export function landing(s: Http, c: Context): Response {
  const { currency } = s.config
  return renderPage(s, c, { indexed: true, cache: 'no-cache' }, (base, catalogue) => {
    const shop = readShop(catalogue, { bannedAt: null })
    const limit = deviceLimit({ hwidLimit: null }, catalogue.settings)
    return landingPage({
      ...base,
      plans: shop.plans.map((plan) => ({
        ...plan,
        sold: isSold(shop, plan, currency),
        traffic: soldTraffic(base.lang, quotaOfPlan(plan)),
        devices: limit === null ? null : plan.hwidLimit,
      })),
      currency,
      nodeLabels: shop.nodes.map(({ label }) => label),
      botLinkBase: s.config.botLinkBase,
      botUsername: catalogue.settings.text('BOT_USERNAME'),
      guests: sellsToGuests(catalogue.settings),
      deviceLimit: limit,
    })
  })
}

function legal(s: Http, c: Context, document: LegalDocument): Response {
  return renderPage(s, c, { indexed: true, cache: 'no-cache' }, (base, { settings }) =>
    legalPage({ ...base, document, tokens: legalTokens(s.config, settings) }),
  )
}

function enabledLabels(nodes: Iterable<{ enabled: boolean; label: string }>): string[] {
  return Array.from(nodes).flatMap((node) => (node.enabled ? [node.label] : []))
}

async function cabinetView(s: Http, token: string): Promise<CabinetAnswer> {
  const now = s.clock.now()
  const { user, active } = await s.db.read(function* (q) {
    const found = yield* readUserByToken(q, token)
    if (!found) throw refusal('not-found')
    const isBanned = found.bannedAt !== null
    const own = isBanned ? [] : yield* listActiveOfUser(q, found.tgId, formatTimestamp(now))
    return { user: found, active: own }
  })
  const catalogue = currentCatalogue(s)
  const groupOf = groupLabels(s)
  return {
    username: user.username,
    subscriptions: active.map((row) => ({
      node: row.node,
      plan: row.plan,
      plan_label: catalogue.plans.get(row.plan)?.label ?? row.plan,
      expires_at: row.expiresAt,
      days_left: daysLeft(row.expiresAt, now),
      ...endlessOf(row.expiresAt),
      ...waitingView(row, formatTimestamp(now)),
      ...groupOf(row),
    })),
    sub_link: subLink(s.config, user.token),
    nodes_available: enabledLabels(catalogue.nodes.values()),
  }
}

/** A page for whoever comes. */
const pageAt = (
  path: `/${string}`,
  summary: string,
  render: (s: Http, c: Context) => Response | Promise<Response>,
) =>
  operation(
    { method: 'get', path, open: 'public', summary, query: language, ok: page },
    ({ s, c }) => render(s, c),
  )

/** `GET /`, which is another page by the host. */
export const homeOperations = (render: (s: Http, c: Context) => Response | Promise<Response>) =>
  openOperations('Site', [pageAt('/', 'The landing page; on the panel host the panel', render)])

export const siteOperations = [
  ...openOperations('Links', [
    operation(
      {
        method: 'get',
        path: '/api/cabinet/{token}',
        open: 'token in path',
        summary: 'What the owner of a link has',
        params: { token },
        ok: cabinet,
      },
      ({ s, c, params }) => {
        const view = cabinetView(s, params.token)
        c.header('Cache-Control', 'private, no-store')
        return view
      },
    ),
  ]),
  ...openOperations('Site', [
    pageAt('/cabinet.html', 'The personal cabinet', (s, c) =>
      renderPage(s, c, { kind: 'fetch' }, (base, catalogue) =>
        cabinetPage({
          ...base,
          botUrl: botUrl(s, catalogue),
          guests: sellsToGuests(catalogue.settings),
          changes: changesOffered(catalogue),
          timezone: s.config.timezone,
        }),
      ),
    ),
    pageAt('/offer', 'The public offer', (s, c) => legal(s, c, 'offer')),
    pageAt('/privacy', 'The privacy page', (s, c) => legal(s, c, 'privacy')),
    pageAt('/pay/done', 'Where people return to after a payment', (s, c) => {
      const guests = sellsToGuests(currentCatalogue(s).settings)
      return renderPage(s, c, guests ? { kind: 'fetch' } : {}, (base, catalogue) =>
        payDonePage({ ...base, botUrl: botUrl(s, catalogue), guests }),
      )
    }),
    operation(
      {
        method: 'get',
        path: '/api/plans',
        open: 'public',
        summary: 'The plans with their prices',
        ok: v.array(plan),
      },
      ({ s }) => {
        const plans = [...currentCatalogue(s).plans.values()].filter(({ archived }) => !archived)
        return plans.map((one) => planView(one, s.config.currency))
      },
    ),
  ]),
]

/** The scripts of public pages. */
export const assetOperations = openOperations('Site', [
  operation(
    {
      method: 'get',
      path: '/assets/{name}',
      open: 'public',
      summary: 'A script of the public pages',
      params: { name: v.string() },
      ok: asset,
    },
    ({ s, c }) => {
      const file = s.pageScripts()?.files.get(c.req.path)
      if (!file) throw refusal('not-found')
      return builtFile(c, file)
    },
  ),
])
