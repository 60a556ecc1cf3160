/** Pages of src/web as responses: language, brand, policy and cache rules in one place. */
import * as v from 'valibot'
import type { Catalogue } from '#src/domain/lists/catalogue.ts'
import { botLink } from '#src/lib/bot-link.ts'
import { dayIn } from '#src/lib/time.ts'
import { SYSTEMS } from '#src/settings/app-catalogue.ts'
import {
  indexedPageHeaders,
  type PageKind,
  pageCsp,
  pageHeaders,
  transportHeaders,
} from '#src/web/csp.ts'
import { errorPage } from '#src/web/error-page.ts'
import { findLang, LANGS, pickLang } from '#src/web/lang.ts'
import type { PageBase } from '#src/web/page-base.ts'
import { encoded } from './compression.ts'
import type { Context, Http } from './context.ts'
import { queryParameter } from './validate.ts'

/** A query of pages, which pass over what they don't know. */
export const choice = (names: readonly string[]) =>
  v.optional(v.pipe(v.picklist(names), v.description('Another value counts as not given')))

/** The reader's language, where it is chosen by hand. */
export const language = v.object({ lang: choice(LANGS) })

/** Origin of the site. */
export const siteUrl = ({ config }: Pick<Http, 'config'>): string =>
  `${config.publicScheme}://${config.domains.site}`

/** Nodes, plans and settings as they are now. */
export const currentCatalogue = (s: Http): Catalogue => s.catalogue(s.db.revision())

function pageBase(s: Http, c: Context, catalogue: Catalogue): PageBase {
  const { settings } = catalogue
  const asked = queryParameter(c, 'lang')
  const chosen = queryParameter(c, 'os')
  const os = SYSTEMS.find((system) => system === chosen)
  return {
    lang: pickLang(LANGS, c.req.header('accept-language'), asked, s.config.defaultLang),
    askedLang: findLang(LANGS, asked) ?? null,
    brandName: settings.text('BRAND_NAME'),
    brandHue: settings.int('BRAND_HUE'),
    helpUrl: catalogue.helpUrl,
    siteUrl: siteUrl(s),
    year: Number(dayIn(s.config.timezone, s.clock.now()).slice(0, 4)),
    query: os ? `os=${os}` : '',
    scriptUrls: s.pageScripts()?.urls ?? null,
  }
}

export interface PageOptions {
  kind?: PageKind
  status?: number
  indexed?: boolean
  /** `Cache-Control`; default `private, no-store`. */
  cache?: string
  headers?: Record<string, string>
  /** Request headers that the page depends on, beside those that all do. */
  vary?: string[]
}

/** Answers with a page made by `render`. */
export function renderPage(
  s: Http,
  c: Context,
  options: PageOptions,
  render: (base: PageBase, catalogue: Catalogue) => string,
): Response {
  const catalogue = currentCatalogue(s)
  const base = pageBase(s, c, catalogue)
  const { body, headers: encoding } = encoded(c, render(base, catalogue))
  const vary = ['Accept-Language', 'Accept-Encoding', ...(options.vary ?? [])]
  return new Response(body, {
    status: options.status ?? 200,
    headers: {
      ...encoding,
      ...(options.indexed ? indexedPageHeaders : pageHeaders),
      ...transportHeaders(s.config.publicScheme),
      'Content-Type': 'text/html; charset=utf-8',
      'Content-Security-Policy': pageCsp({
        brandHue: base.brandHue,
        kind: options.kind ?? 'static',
      }),
      'Cache-Control': options.cache ?? 'private, no-store',
      Vary: vary.join(', '),
      ...options.headers,
    },
  })
}

export function renderError(
  s: Http,
  c: Context,
  error: { status: number; message: string; headers: Record<string, string> },
): Response {
  const { status, message, headers } = error
  return renderPage(s, c, { status, headers }, (base, catalogue) =>
    errorPage({ ...base, status, message, botUrl: botUrl(s, catalogue) }),
  )
}

/** The bot's address, or null while it has no name. */
export function botUrl(s: Http, catalogue: Catalogue): string | null {
  return botLink(s.config.botLinkBase, catalogue.settings.text('BOT_USERNAME'))
}
