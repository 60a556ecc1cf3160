/** Public pages and the public API: landing, cabinet, plans, the return from a payment. */
import type { Hono } from 'hono'
import { listActiveOfUser } from '#db/subscriptions.ts'
import { findUserByToken } from '#db/users.ts'
import { deviceLimit } from '#src/domain/customers/devices.ts'
import { legalTokens } from '#src/domain/installation/legal.ts'
import { isSold, readShop } from '#src/domain/payments/offer.ts'
import { notFound } from '#src/lib/errors.ts'
import { subLink } from '#src/lib/sub-link.ts'
import { daysLeft, formatTimestamp } from '#src/lib/time.ts'
import { cabinetPage } from '#src/web/cabinet-page.ts'
import { landingPage } from '#src/web/landing-page.ts'
import { type LegalDocument, legalPage } from '#src/web/legal-page.ts'
import { payDonePage } from '#src/web/pay-done-page.ts'
import { builtFile } from './compression.ts'
import type { AppEnv, Context, Http } from './context.ts'
import { routesOf } from './operation.ts'
import { botUrl, currentCatalogue, renderPage } from './pages.ts'
import { shopOperations } from './shop.ts'
import { planView } from './views.ts'

/** The landing page, as `GET /` answers it. */
export function landing(s: Http, c: Context): Response {
  const { currency } = s.config
  return renderPage(s, c, { indexed: true, cache: 'no-cache' }, (base, catalogue) => {
    const shop = readShop(catalogue, { bannedAt: null })
    return landingPage({
      ...base,
      plans: shop.plans.map((plan) => ({ ...plan, sold: isSold(shop, plan, currency) })),
      currency,
      nodeLabels: shop.nodes.map(({ label }) => label),
      botLinkBase: s.config.botLinkBase,
      botUsername: catalogue.settings.text('BOT_USERNAME'),
      deviceLimit: deviceLimit({ hwidLimit: null }, catalogue.settings),
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

/** Adds the pages and the public API. */
export function mountSite(app: Hono<AppEnv>, s: Http): void {
  app.get('/cabinet.html', (c) =>
    renderPage(s, c, { kind: 'fetch' }, (base, catalogue) =>
      cabinetPage({ ...base, botUrl: botUrl(s, catalogue), timezone: s.config.timezone }),
    ),
  )
  app.get('/offer', (c) => legal(s, c, 'offer'))
  app.get('/privacy', (c) => legal(s, c, 'privacy'))
  app.get('/pay/done', (c) =>
    renderPage(s, c, {}, (base, catalogue) =>
      payDonePage({ ...base, botUrl: botUrl(s, catalogue) }),
    ),
  )
  app.get('/api/plans', (c) => {
    const plans = [...currentCatalogue(s).plans.values()].filter((plan) => !plan.archived)
    return c.json(plans.map((plan) => planView(plan, s.config.currency)))
  })
  app.get('/api/cabinet/:token', (c) => {
    const user = findUserByToken(s.db, c.req.param('token'))
    if (!user) throw notFound('not found')
    const now = s.clock.now()
    const catalogue = currentCatalogue(s)
    const active =
      user.bannedAt === null ? listActiveOfUser(s.db, user.tgId, formatTimestamp(now)) : []
    c.header('Cache-Control', 'private, no-store')
    return c.json({
      username: user.username,
      subscriptions: active.map((row) => ({
        node: row.node,
        plan: row.plan,
        plan_label: catalogue.plans.get(row.plan)?.label ?? row.plan,
        expires_at: row.expiresAt,
        days_left: daysLeft(row.expiresAt, now),
      })),
      sub_link: subLink(s.config, user.token),
      nodes_available: enabledLabels(catalogue.nodes.values()),
    })
  })
  app.route('/', routesOf(s, shopOperations))
}

/** Adds the scripts of public pages. */
export function mountAssets(app: Hono<AppEnv>, s: Http): void {
  app.get('/assets/:name', (c) => {
    const file = s.pageScripts()?.files.get(c.req.path)
    if (!file) throw notFound()
    return builtFile(c, file)
  })
}
