/** The admin page with its assets, and the JSON API under /admin/api. */

import { Hono } from 'hono'
import * as v from 'valibot'
import { subLink } from '#src/lib/sub-link.ts'
import { VERSION } from '#src/lib/version.ts'
import { refusal } from '#src/refusals/index.ts'
import { pageHeaders, transportHeaders } from '#src/web/csp.ts'
import { findLang, pickLang } from '#src/web/lang.ts'
import { PANEL_LANGS } from '#src/web/panel-files.ts'
import { panelCsp, panelPage } from '#src/web/panel-page.ts'
import { panelUnbuiltPage } from '#src/web/panel-unbuilt-page.ts'
import { allOperations } from './admin/operations.ts'
import { asset, page } from './answers.ts'
import {
  ADMIN_API,
  cookieOf,
  currentAdmin,
  refuseCrossSite,
  refuseUnsafeCrossSite,
  requireAdmin,
} from './auth.ts'
import { builtFile } from './compression.ts'
import type { AppEnv, Context, Http } from './context.ts'
import { openOperations, operation, routesOf, type ServedOperation } from './operation.ts'
import { currentCatalogue, language, renderPage, siteUrl } from './pages.ts'
import { queryParameter } from './validate.ts'

const THEMES = ['light', 'dark'] as const

/** What the page tells the panel: language and theme as this browser chose them, and whether there is a session. */
async function pageInput(s: Http, c: Context) {
  const { config } = s
  const { settings } = currentCatalogue(s)
  const authenticated = (await currentAdmin(s, c)) !== undefined
  const accepted = pickLang(
    PANEL_LANGS,
    c.req.header('accept-language'),
    queryParameter(c, 'lang'),
    config.defaultLang,
  )
  return {
    brandHue: settings.int('BRAND_HUE'),
    theme: THEMES.find((theme) => theme === cookieOf(c, 'panel_theme')) ?? null,
    boot: {
      brandName: settings.text('BRAND_NAME'),
      lang: findLang(PANEL_LANGS, cookieOf(c, 'panel_lang')) ?? accepted,
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
export async function adminHtml(s: Http, c: Context): Promise<Response> {
  const input = await pageInput(s, c)
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

/** The admin page under ADMIN_PATH, with and without a slash at the end, and its files. */
export function panelOperations(adminPath: string): ServedOperation[] {
  const base = `/${adminPath}` as const
  const label = '/{ADMIN_PATH}'
  const at = (path: `/${string}`) =>
    operation(
      {
        method: 'get',
        path,
        label,
        open: 'public',
        summary: 'The panel',
        query: language,
        ok: page,
      },
      ({ s, c }) => adminHtml(s, c),
    )
  return openOperations('Panel', [
    at(base),
    at(`${base}/`),
    operation(
      {
        method: 'get',
        path: `${base}/assets/{name}`,
        label: `${label}/assets/{name}`,
        open: 'public',
        summary: 'A file of the panel',
        params: { name: v.string() },
        ok: { media: { ...asset.media, 'font/woff2': 'bytes' } },
      },
      ({ s, c, params }) => {
        const file = s.panel()?.files.get(params.name)
        if (!file) throw refusal('not-found')
        return builtFile(c, file)
      },
    ),
  ])
}

/** The API under /admin/api: the open operations, then the session check before everything else, unknown paths included. */
export function adminApi(s: Http): Hono<AppEnv> {
  const all = allOperations(s.config)
  const api = new Hono<AppEnv>()
  const everything = `${ADMIN_API}/*`
  api.use(everything, async (c, next) => {
    await next()
    c.header('Cache-Control', 'private, no-store')
  })
  api.use(everything, refuseUnsafeCrossSite(s.own))
  for (const { path, acts } of all) if (acts) api.use(path, refuseCrossSite(s.own))
  const open = all.filter((one) => one.open)
  api.route('/', routesOf(s, open))
  // Another method is refused as such, whoever asks.
  for (const { path } of open) api.all(path, (c) => c.notFound())
  const enrolment = new Set(all.filter((one) => one.enrolment).map(({ path }) => path))
  api.use(everything, requireAdmin(s, enrolment))
  api.route(
    '/',
    routesOf(
      s,
      all.filter((one) => !one.open),
    ),
  )
  return api
}
