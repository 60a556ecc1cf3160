/** The admin page with its assets, and the JSON API under /admin/api. */
import { Hono } from 'hono'
import { getCookie } from 'hono/cookie'
import { notFound } from '#src/lib/errors.ts'
import { subLink } from '#src/lib/sub-link.ts'
import { VERSION } from '#src/lib/version.ts'
import { apiHeaders, pageHeaders, transportHeaders } from '#src/web/csp.ts'
import { findLang, pickLang } from '#src/web/lang.ts'
import { PANEL_LANGS, type Panel, type PanelFile, readPanel } from '#src/web/panel-files.ts'
import { panelCsp, panelPage } from '#src/web/panel-page.ts'
import { panelUnbuiltPage } from '#src/web/panel-unbuilt-page.ts'
import { accountRoutes } from './admin/admins.ts'
import { backupRoutes } from './admin/backup.ts'
import { descriptionRoutes } from './admin/description.ts'
import { eventRoutes } from './admin/events.ts'
import { giftOperations } from './admin/gifts.ts'
import { openRoutes } from './admin/login.ts'
import { nodeRoutes } from './admin/nodes.ts'
import { paymentSettingsOperations } from './admin/payment-settings.ts'
import { paymentOperations } from './admin/payments.ts'
import { planOperations } from './admin/plans.ts'
import { provisioningRoutes } from './admin/provisioning.ts'
import { qrRoutes } from './admin/qr.ts'
import { settingsRoutes } from './admin/settings.ts'
import { statsRoutes } from './admin/stats.ts'
import { subscriptionRoutes } from './admin/subscriptions.ts'
import { twoFactorRoutes } from './admin/two-factor.ts'
import { userRoutes } from './admin/users.ts'
import { currentAdmin, refuseCrossSite, refuseUnsafeCrossSite, requireAdmin } from './auth.ts'
import type { AppEnv, Context, Http } from './context.ts'
import { ADMIN_API, routesOf } from './operation.ts'
import { currentCatalogue, renderPage, siteUrl } from './pages.ts'

const THEMES = ['light', 'dark'] as const

/** What the page tells the panel: language and theme as this browser chose them, and whether there is a session. */
function pageInput(s: Http, c: Context) {
  const { config } = s
  const { settings } = currentCatalogue(s)
  const authenticated = currentAdmin(s, c) !== undefined
  const accepted = pickLang(
    PANEL_LANGS,
    c.req.header('accept-language'),
    c.req.query('lang'),
    config.defaultLang,
  )
  return {
    brandHue: settings.int('BRAND_HUE'),
    theme: THEMES.find((theme) => theme === getCookie(c, 'panel_theme')) ?? null,
    boot: {
      brandName: settings.text('BRAND_NAME'),
      lang: findLang(PANEL_LANGS, getCookie(c, 'panel_lang')) ?? accepted,
      authenticated,
      basePath: `/${config.adminPath}`,
      subUrlBase: subLink(config),
      siteUrl: siteUrl(s),
      timezone: config.timezone,
      currency: config.currency,
      version: authenticated ? VERSION : null,
    },
  }
}

/** The interface fixes it. */
const ADMIN_CACHE = 'no-cache, must-revalidate'

/** The admin page. */
export function adminHtml(s: Http, c: Context): Response {
  const input = pageInput(s, c)
  const entry = s.panel()?.entries[input.boot.lang]
  if (!entry) {
    return renderPage(s, c, { cache: ADMIN_CACHE }, panelUnbuiltPage)
  }
  return new Response(panelPage({ ...input, entry }), {
    headers: {
      ...pageHeaders,
      ...transportHeaders(s.config.publicScheme),
      'Content-Type': 'text/html; charset=utf-8',
      'Content-Security-Policy': panelCsp(input.brandHue),
      'Cache-Control': ADMIN_CACHE,
      Vary: 'Accept-Language, Cookie',
    },
  })
}

/** The form of a file that a client takes, smallest first. */
function encodingOf(file: PanelFile, accepted: string): [body: PanelFile['body'], name?: string] {
  if (file.br && /\bbr\b/.test(accepted)) return [file.br, 'br']
  if (file.gzip && /\bgzip\b/.test(accepted)) return [file.gzip, 'gzip']
  return [file.body]
}

/** A file of the build, which never changes under its name. */
function panelFile(s: Http, c: Context): Response {
  const file = s.panel()?.files.get(c.req.param('name') ?? '')
  if (!file) throw notFound()
  const [body, encoding] = encodingOf(file, c.req.header('accept-encoding') ?? '')
  return new Response(body, {
    headers: {
      ...apiHeaders,
      'Content-Type': file.type,
      'Cache-Control': 'public, max-age=31536000, immutable',
      Vary: 'Accept-Encoding',
      ...(encoding && { 'Content-Encoding': encoding }),
    },
  })
}

/** Adds the admin page under ADMIN_PATH, with and without a slash at the end. */
export function mountAdminPage(app: Hono<AppEnv>, s: Http): void {
  const base = `/${s.config.adminPath}`
  app.get(base, (c) => adminHtml(s, c))
  app.get(`${base}/`, (c) => adminHtml(s, c))
  app.get(`${base}/assets/:name`, (c) => panelFile(s, c))
}

/** Reads the build of the panel when it is first asked for; while there is none, each time. */
export function createPanel(folder: string): Http['panel'] {
  let panel: Panel | null = null
  return () => {
    panel ??= readPanel(folder)
    return panel
  }
}

const OPEN_PATHS = ['/login', '/login/totp', '/logout', '/me']

/** The API under /admin/api: four open routes, then the session check before everything else, unknown paths included. */
export function adminApi(s: Http, origins: string[]): Hono<AppEnv> {
  const own = { origins, scheme: s.config.publicScheme }
  const api = new Hono<AppEnv>()
  const below = api.basePath(ADMIN_API)
  below.use(async (c, next) => {
    await next()
    c.header('Cache-Control', 'private, no-store')
  })
  below.use(refuseUnsafeCrossSite(own))
  // A GET that does something: it copies the database and sends an alert.
  below.use('/backup', refuseCrossSite(own))
  below.route('/', openRoutes(s))
  // Another method is refused as such, whoever asks.
  for (const path of OPEN_PATHS) below.all(path, (c) => c.notFound())
  below.use(requireAdmin(s))
  below.route('/', accountRoutes(s))
  below.route('/2fa', twoFactorRoutes(s))
  below.route('/', settingsRoutes(s))
  below.route('/', eventRoutes(s))
  below.route('/', statsRoutes(s))
  below.route('/', descriptionRoutes(s))
  below.route('/', qrRoutes())
  below.route('/backup', backupRoutes(s))
  below.route('/nodes', provisioningRoutes(s))
  below.route('/nodes', nodeRoutes(s))
  below.route('/subscriptions', subscriptionRoutes(s))
  below.route('/users', userRoutes(s))
  const operations = [
    ...planOperations,
    ...giftOperations,
    ...paymentOperations,
    ...paymentSettingsOperations,
  ]
  api.route('/', routesOf(s, operations))
  return api
}
