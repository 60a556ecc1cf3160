/** The fetch app: host -> sub-app, CORS, headers, errors. */
import { Hono } from 'hono'
import { cors } from 'hono/cors'
import { createDirectory } from '#src/domain/directory.ts'
import { ApiError, notFound } from '#src/lib/errors.ts'
import type { Services } from '#src/services.ts'
import { apiHeaders, transportHeaders } from '#src/web/csp.ts'
import { createClientIp } from './client-ip.ts'
import type { AppEnv, Context, Http } from './context.ts'
import { errorResponse } from './errors.ts'
import { mountInstall } from './install.ts'
import { adminApi, adminHtml, mountAdminPage } from './panel.ts'
import { landing, mountAssets, mountSite } from './site.ts'
import { mountSub } from './sub.ts'

type HostKind = 'sub' | 'site' | 'panel'

const METHODS = ['GET', 'POST', 'PATCH', 'DELETE'] as const

/** The methods that some route has for a path; what serves all methods is middleware and does not count. */
function allowedMethods(app: Hono<AppEnv>, path: string): string[] {
  return METHODS.filter((method) =>
    app.router.match(method, path)[0].some(([[, route]]) => route.method === method),
  )
}

/** Which groups of routes a host serves: all of them, or its own under HOST_ISOLATION=strict. */
function groupsOf(kind: HostKind, strict: boolean) {
  return {
    sub: !strict || kind !== 'site',
    site: !strict || kind === 'site',
    panel: !strict || kind === 'panel',
  }
}

/** One host's app: its own `GET /`, then the routes it shares with the others. */
function hostApp(s: Http, kind: HostKind, origins: string[]): Hono<AppEnv> {
  const app = new Hono<AppEnv>()
  const groups = groupsOf(kind, s.config.hostIsolation)
  const transport = transportHeaders(s.config.publicScheme)
  app.use(
    cors({
      origin: (origin) => (origins.includes(origin) ? origin : null),
      allowMethods: [...METHODS],
      credentials: true,
      maxAge: 600,
    }),
  )
  // The busiest route comes before the middleware that completes the headers of JSON answers.
  if (groups.sub) mountSub(app, s)
  app.use(async (c, next) => {
    await next()
    const { headers } = c.res
    if (headers.has('Content-Security-Policy')) return
    for (const [name, value] of Object.entries({ ...apiHeaders, ...transport }))
      headers.set(name, value)
  })
  app.get('/healthz', (c) => c.json({ ok: true }))
  const home = kind === 'panel' && s.config.adminPath === 'admin' ? adminHtml : landing
  app.get('/', (c) => home(s, c))
  mountAssets(app)
  if (groups.site) mountSite(app, s)
  if (groups.panel) {
    mountInstall(app, s)
    app.route('/admin/api', adminApi(s, origins))
    mountAdminPage(app, s)
  }
  app.notFound((c) => errorResponse(s, c, missing(app, c)))
  app.onError((error, c) => errorResponse(s, c, error))
  return app
}

function missing(app: Hono<AppEnv>, c: Context): ApiError {
  const allowed = allowedMethods(app, c.req.path)
  if (allowed.length === 0) return notFound()
  if (allowed.includes('GET')) allowed.push('HEAD')
  return new ApiError(405, 'method not allowed', { Allow: allowed.join(', ') })
}

/** The host name of a request as the map has it: lower case, without port and trailing dot. */
function hostName(host: string): string {
  return host.toLowerCase().replace(/:\d*$/, '').replace(/\.$/, '')
}

/** Builds the app of a process. Three names reach the same service; an unknown one gets the site. */
export function createApp(services: Services) {
  const { config } = services
  const s: Http = {
    ...services,
    clientIp: createClientIp(config, services.log),
    directory: createDirectory(services),
  }
  const { sub, site, panel } = config.domains
  const origins = [site, `www.${site}`, panel].map((domain) => `${config.publicScheme}://${domain}`)
  // Where names coincide PANEL wins over SITE over SUB.
  const siteApp = hostApp(s, 'site', origins)
  const hosts = new Map<string, Hono<AppEnv>>([
    [hostName(sub), hostApp(s, 'sub', origins)],
    [hostName(site), siteApp],
    [hostName(panel), hostApp(s, 'panel', origins)],
  ])
  const known = new Map<string, Hono<AppEnv>>()
  return (request: Request, env: { peer: string | undefined }): Response | Promise<Response> => {
    const host = request.headers.get('host') ?? ''
    let app = known.get(host)
    if (!app) {
      app = hosts.get(hostName(host)) ?? siteApp
      if (hosts.has(hostName(host)) && known.size < 100) known.set(host, app)
    }
    return app.fetch(request, env)
  }
}
