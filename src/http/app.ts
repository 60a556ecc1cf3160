/** The fetch app: host -> sub-app, CORS, headers, errors. */
import { join } from 'node:path'
import { Hono } from 'hono'
import { cors } from 'hono/cors'
import { getPath } from 'hono/utils/url'
import { createCatalogue } from '#src/domain/lists/catalogue.ts'
import { type ApiError, tooBusy } from '#src/lib/errors.ts'
import { networkKey } from '#src/lib/ip.ts'
import { createLoopLine } from '#src/lib/loop-line.ts'
import { refusal } from '#src/refusals/index.ts'
import type { Services } from '#src/services.ts'
import { apiHeaders, transportHeaders } from '#src/web/csp.ts'
import { readPageScripts } from '#src/web/page-scripts.ts'
import { readPanel } from '#src/web/panel-files.ts'
import { createClientIp } from './client-ip.ts'
import type { AppEnv, Connection, Context, Http } from './context.ts'
import { createDescription } from './description.ts'
import { errorResponse, refusedResponse } from './errors.ts'
import { createInstallReports } from './install.ts'
import { createFindOwner } from './list-owners.ts'
import { createListParts } from './list-parts.ts'
import { createLiveFeed } from './live-feed.ts'
import { createNoticeLimits } from './notice-limits.ts'
import { routesOf } from './operation.ts'
import { operationsOf } from './operations.ts'
import { adminApi, adminHtml } from './panel.ts'
import { landing } from './site.ts'
import { answerList } from './sub.ts'

type HostKind = 'sub' | 'site' | 'panel'

const METHODS = ['GET', 'POST', 'PATCH', 'DELETE'] as const

/** No path of ours is longer, but for that of the panel, which the operator chooses; none has more parts, none of a longer one a longer part. */
const LONGEST_PATH = 512
const MOST_PARTS = 10
const LONGEST_PART = 64

/**
 * The path of a request as its routes have it; of a longer one the beginnings of its parts as they were sent, so that it is answered as
 * one with unknown parts is: to decode 14 KB of what is no UTF-8, again for each part that has a name, took Node 60 ms.
 */
const pathWithin = (most: number) => (request: Request) => {
  const { url } = request
  const start = url.indexOf('/', 'https://'.length)
  const length = url.slice(start).search(/[?#]/)
  const end = length < 0 ? url.length : start + length
  if (end - start <= most) return getPath(request)
  const parts = url.slice(start, end).split('/', MOST_PARTS)
  return parts.map((part) => part.slice(0, LONGEST_PART)).join('/')
}

/** The methods that some route has for a path; what serves all methods is middleware and does not count. */
function allowedMethods(app: Hono<AppEnv>, path: string): string[] {
  return METHODS.filter((method) =>
    app.router.match(method, path)[0].some(([[, route]]) => route.method === method),
  )
}

/** Which groups of routes a host serves: all of them, or those of its roles under HOST_ISOLATION=strict. */
function groupsOf(kinds: Set<HostKind>, strict: boolean) {
  return {
    sub: !strict || kinds.has('sub') || kinds.has('panel'),
    site: !strict || kinds.has('site'),
    panel: !strict || kinds.has('panel'),
  }
}

/** The app of a host with one role or more: its own `GET /`, then the routes it shares with the others. */
export function hostApp(s: Http, kinds: Set<HostKind>): Hono<AppEnv> {
  const app = new Hono<AppEnv>({ getPath: pathWithin(LONGEST_PATH + s.config.adminPath.length) })
  const groups = groupsOf(kinds, s.config.hostIsolation)
  const transport = transportHeaders(s.config.publicScheme)
  // Where names coincide PANEL wins over SITE over SUB.
  const home = kinds.has('panel') && s.config.adminPath === 'admin' ? adminHtml : landing
  const served = (...names: Parameters<typeof operationsOf>[2]) =>
    routesOf(s, operationsOf(s.config, home, names))
  app.use(
    cors({
      origin: (origin) => (s.own.origins.includes(origin) ? origin : null),
      allowMethods: [...METHODS],
      credentials: true,
      maxAge: 600,
    }),
  )
  // Lists complete their headers themselves.
  if (groups.sub) app.route('/', served('sub'))
  app.use(async (c, next) => {
    await next()
    const { headers } = c.res
    const missing = headers.has('Content-Security-Policy')
      ? transport
      : { ...apiHeaders, ...transport }
    for (const [name, value] of Object.entries(missing)) headers.set(name, value)
  })
  app.route('/', served('all'))
  if (groups.site) app.route('/', served('site'))
  if (groups.panel) {
    app.route('/', adminApi(s))
    app.route('/', served('panel'))
  }
  app.notFound((c) => errorResponse(s, c, missing(app, c)))
  app.onError((error, c) => errorResponse(s, c, error))
  return app
}

interface Host {
  app: Hono<AppEnv>
  /** Whether it serves subscription links. */
  lists: boolean
}

function missing(app: Hono<AppEnv>, c: Context): ApiError {
  const allowed = allowedMethods(app, c.req.path)
  if (allowed.length === 0) return refusal('not-found')
  if (allowed.includes('GET')) allowed.push('HEAD')
  return refusal('method-not-allowed').with({ headers: { Allow: allowed.join(', ') } })
}

/** The host name of a request as the map has it: lower case, without port and trailing dot. */
function hostName(host: string): string {
  return host.toLowerCase().replace(/:\d*$/, '').replace(/\.$/, '')
}

/** Where `npm run build` puts what browsers load. */
const DIST = join(import.meta.dirname, '..', '..', 'dist')

/** Reads a build when it is first asked for; while there is none, each time. */
function readOnce<T>(folder: string, read: (folder: string) => T | null): () => T | null {
  let found: T | null = null
  return () => {
    found ??= read(folder)
    return found
  }
}

/** Builds the app of a process. Three names reach the same service; an unknown one gets the site. */
export function createApp(
  services: Services,
  panelFolder = join(DIST, 'admin'),
  pagesFolder = join(DIST, 'pages'),
) {
  const { config } = services
  const { publicScheme: scheme, domains } = config
  const { site, panel } = domains
  const origins = [site, `www.${site}`, panel].map((domain) => `${scheme}://${domain}`)
  const s: Http = {
    ...services,
    own: { origins, scheme },
    clientIp: createClientIp(config, services.log),
    catalogue: createCatalogue(services),
    panel: readOnce(panelFolder, readPanel),
    pageScripts: readOnce(pagesFolder, readPageScripts),
    lists: createListParts(services),
    findOwner: createFindOwner(services),
    live: createLiveFeed(services),
    noticeLimits: createNoticeLimits(services),
    installReports: createInstallReports(services),
    description: createDescription(config),
  }
  const roles = new Map<string, Set<HostKind>>()
  for (const kind of ['sub', 'site', 'panel'] as const) {
    const name = hostName(config.domains[kind])
    roles.set(name, new Set([...(roles.get(name) ?? []), kind]))
  }
  // Built when it is first asked for: of four that serve the same, most are asked for seldom.
  const createHost = (kinds: Set<HostKind>): Host => {
    const { sub: lists } = groupsOf(kinds, config.hostIsolation)
    let app: Hono<AppEnv> | undefined
    return {
      get app() {
        app ??= hostApp(s, kinds)
        return app
      },
      lists,
    }
  }
  const hosts = new Map(Array.from(roles, ([name, kinds]) => [name, createHost(kinds)]))
  const siteHost = createHost(new Set(['site']))
  const known = new Map<string, Host>()
  const answer = (request: Request, env: Connection): Response | Promise<Response> => {
    const name = request.headers.get('host') ?? ''
    let host = known.get(name)
    if (!host) {
      host = hosts.get(hostName(name)) ?? siteHost
      if (hosts.has(hostName(name)) && known.size < 100) known.set(name, host)
    }
    const list = host.lists ? answerList(s, request) : null
    if (list instanceof Promise) return list.then((found) => found ?? host.app.fetch(request, env))
    return list ?? host.app.fetch(request, env)
  }
  const inTurn = createLoopLine()
  return (request: Request, env: Connection): Response | Promise<Response> =>
    inTurn(
      () => networkKey(s.clientIp(request.headers.get('x-real-ip'), env.peer)),
      () => answer(request, env),
      () => refusedResponse(s, tooBusy()),
    )
}
