/** The admin page with its assets, and the JSON API under /admin/api. */
import { Hono } from 'hono'
import { notFound } from '#src/lib/errors.ts'
import { subLink } from '#src/lib/sub-link.ts'
import { adminPage } from '#src/web/admin-page.ts'
import { adminAssets } from '#src/web/assets.ts'
import { accountRoutes } from './admin/admins.ts'
import { backupRoutes } from './admin/backup.ts'
import { descriptionRoutes } from './admin/description.ts'
import { eventRoutes } from './admin/events.ts'
import { giftRoutes } from './admin/gifts.ts'
import { openRoutes } from './admin/login.ts'
import { nodeRoutes } from './admin/nodes.ts'
import { paymentSettingsRoutes } from './admin/payment-settings.ts'
import { paymentRoutes } from './admin/payments.ts'
import { planRoutes } from './admin/plans.ts'
import { settingsRoutes } from './admin/settings.ts'
import { statsRoutes } from './admin/stats.ts'
import { subscriptionRoutes } from './admin/subscriptions.ts'
import { twoFactorRoutes } from './admin/two-factor.ts'
import { userRoutes } from './admin/users.ts'
import { refuseCrossSite, requireAdmin } from './auth.ts'
import type { AppEnv, Context, Http } from './context.ts'
import { renderPage } from './pages.ts'
import { assetResponse } from './site.ts'

/** The admin page; the interface fixes its cache header. */
export function adminHtml(s: Http, c: Context): Response {
  return renderPage(s, c, { kind: 'admin', cache: 'no-cache, must-revalidate' }, (base) =>
    adminPage({
      ...base,
      basePath: `/${s.config.adminPath}`,
      subUrlBase: subLink(s.config),
      timezone: s.config.timezone,
    }),
  )
}

/** Adds the admin page under ADMIN_PATH, with and without a slash at the end. */
export function mountAdminPage(app: Hono<AppEnv>, s: Http): void {
  const base = `/${s.config.adminPath}`
  app.get(base, (c) => adminHtml(s, c))
  app.get(`${base}/`, (c) => adminHtml(s, c))
  app.get(`${base}/assets/:name`, (c) => {
    const asset = adminAssets.get(c.req.path.slice(base.length))
    if (!asset) throw notFound()
    return assetResponse(asset)
  })
}

const OPEN_PATHS = ['/login', '/login/totp', '/logout', '/me']

/** The API under /admin/api: four open routes, then the session check before everything else, unknown paths included. */
export function adminApi(s: Http, origins: string[]): Hono<AppEnv> {
  const api = new Hono<AppEnv>()
  api.use(async (c, next) => {
    await next()
    c.header('Cache-Control', 'private, no-store')
  })
  api.use(refuseCrossSite(origins))
  api.route('/', openRoutes(s))
  // Another method is refused as such, whoever asks.
  for (const path of OPEN_PATHS) api.all(path, (c) => c.notFound())
  api.use(requireAdmin(s))
  api.route('/', accountRoutes(s))
  api.route('/2fa', twoFactorRoutes(s))
  api.route('/', settingsRoutes(s))
  api.route('/payments', paymentSettingsRoutes(s))
  api.route('/payments', paymentRoutes(s))
  api.route('/', eventRoutes(s))
  api.route('/', statsRoutes(s))
  api.route('/', descriptionRoutes(s))
  api.route('/backup', backupRoutes(s))
  api.route('/nodes', nodeRoutes(s))
  api.route('/subscriptions', subscriptionRoutes(s))
  api.route('/users', userRoutes(s))
  api.route('/plans', planRoutes(s))
  api.route('/gift-codes', giftRoutes(s))
  return api
}
