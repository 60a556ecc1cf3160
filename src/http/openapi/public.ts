/** What needs no session: pages, subscription links, the cabinet, what nodes fetch. */
import * as v from 'valibot'
import { token } from '#db/values.ts'
import { LIST_FORMATS } from '#src/domain/lists/formats.ts'
import { redirect } from '#src/http/answers.ts'
import { coreProgram, coreQuery, registration } from '#src/http/install.ts'
import { cabinet } from '#src/http/schemas/cabinet.ts'
import { ok } from '#src/http/schemas/fields.ts'
import { plan } from '#src/http/schemas/plan.ts'
import { LANGS } from '#src/web/lang.ts'
import { type Answer, page } from '../answers.ts'
import { type Operation, openOperations } from '../operation.ts'

const choice = (names: readonly string[]) =>
  v.optional(v.pipe(v.picklist(names), v.description('Another value counts as not given')))

const lang = v.object({ lang: choice(LANGS) })

/** Texts that depend on the reader's language. */
const pageAt = (path: `/${string}`, summary: string) => ({ path, summary, query: lang, ok: page })

const asset: Answer = { media: { 'text/javascript': 'text', 'text/css': 'text' } }

const list: Answer = {
  media: { 'text/plain': 'text', 'text/html': 'text' },
  headers: {
    'Subscription-Userinfo': {
      summary: 'Traffic and expiry, for client apps',
      schema: v.string(),
      always: false,
    },
  },
}

const links = openOperations('Links', [
  {
    path: '/sub/{token}',
    summary: 'The connection list for a client app, a page for people',
    params: { token },
    query: v.object({ format: choice(LIST_FORMATS), ...lang.entries }),
    headers: {
      'User-Agent': v.string(),
      'X-HWID': v.pipe(v.string(), v.regex(/^[a-zA-Z0-9=-]{10,64}$/)),
      'X-Device-OS': v.string(),
      'X-Device-Model': v.string(),
    },
    ok: list,
  },
  {
    path: '/sub/{token}/open/{app}',
    summary: 'Opens a client app with the link, for buttons that take web addresses only',
    params: { token, app: v.string() },
    query: lang,
    ok: page,
  },
  {
    path: '/sub/{token}/telegram',
    summary: 'Sends a customer without Telegram to the bot, which connects their account',
    params: { token },
    ok: redirect,
    refusals: [400, 429],
  },
  {
    path: '/api/cabinet/{token}',
    summary: 'What the owner of a link has',
    params: { token },
    ok: cabinet,
  },
])

const site = openOperations('Site', [
  pageAt('/', 'The landing page; on the panel host the panel'),
  pageAt('/cabinet.html', 'The personal cabinet'),
  pageAt('/offer', 'The public offer'),
  pageAt('/privacy', 'The privacy page'),
  pageAt('/pay/done', 'Where people return to after a payment'),
  { path: '/api/plans', summary: 'The plans with their prices', ok: v.array(plan) },
  {
    path: '/assets/{name}',
    summary: 'A script of the public pages',
    params: { name: v.string() },
    ok: asset,
  },
])

const machine = openOperations('Service', [
  { path: '/healthz', summary: 'Whether the service answers', ok },
  {
    path: '/mgmt-pubkey.txt',
    summary: 'The public key by which nodes let the panel in',
    ok: { media: { 'text/plain': 'text' } },
  },
  {
    path: '/install/{token}.sh',
    summary: 'The script that sets a server up as a node',
    params: { token },
    ok: { media: { 'text/plain': 'text' } },
  },
  {
    path: '/install/{token}/core/{program}',
    summary: 'A core program for a new node',
    params: { token, program: coreProgram },
    query: coreQuery,
    ok: { media: { 'application/octet-stream': 'bytes' } },
  },
  {
    method: 'post',
    path: '/nodes/register/{token}',
    summary: 'What became of the installation of a node',
    params: { token },
    body: registration,
    bodyOptional: true,
    ok,
    refusals: [429],
  },
])

/** The panel's own page is where the operator has put it. */
const panel = (base: `/${string}`) =>
  openOperations('Panel', [
    pageAt(base, 'The panel'),
    pageAt(`${base}/`, 'The panel'),
    {
      path: `${base}/assets/{name}`,
      summary: 'A file of the panel',
      params: { name: v.string() },
      ok: { media: { ...asset.media, 'font/woff2': 'bytes' } },
    },
  ])

export const listPublicOperations = (adminPath: string): Operation[] => [
  ...links,
  ...site,
  ...machine,
  ...panel(`/${adminPath}`),
]
