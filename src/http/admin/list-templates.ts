/** Lists as the operator writes them, and what an app gets: looked at without anybody's having fetched it. */
import * as v from 'valibot'
import { readUser } from '#db/users.ts'
import { TEMPLATE_FORMATS, type TemplateFormat, templateText, tgId } from '#db/values.ts'
import { LIST_FORMATS } from '#src/domain/lists/formats.ts'
import type { ListVariant } from '#src/domain/lists/list.ts'
import { builtInTemplate, readTemplate, type Template } from '#src/domain/lists/template.ts'
import { saveTemplate, templatesOf } from '#src/domain/lists/templates.ts'
import type { ApiError } from '#src/lib/errors.ts'
import { requiredLine } from '#src/lib/values.ts'
import { fieldRefusal, refusal } from '#src/refusals/index.ts'
import { AGENT_MAX_LENGTH } from '../client-apps.ts'
import type { Http } from '../context.ts'
import { askOwner } from '../list-owners.ts'
import { adminOperations, operation } from '../operation.ts'
import { currentCatalogue } from '../pages.ts'
import { listBody, listTemplates, savedTemplate, shownList } from '../schemas/list-template.ts'
import { listAnswer } from '../sub.ts'
import { readTgId } from '../validate.ts'

const format = v.picklist(TEMPLATE_FORMATS, `must be one of ${TEMPLATE_FORMATS.join(', ')}`)
const template = v.object({ format, body: templateText })
/** Of each character JSON may have six bytes. */
const BODY_BYTES = 256 * 1024

const faultView = ({ message, code = '', values }: ApiError) => ({ error: message, code, values })

function templatesView(s: Http) {
  const rows = templatesOf(s)
  const routing = currentCatalogue(s).routingOf([{ nodeGroup: null }])
  return {
    templates: TEMPLATE_FORMATS.map((format) => {
      const row = rows.find((one) => one.format === format)
      return {
        format,
        body: row?.body ?? null,
        updated_at: row?.updatedAt ?? null,
        fault: row?.fault ? faultView(row.fault) : null,
        built_in: builtInTemplate(format, routing),
      }
    }),
  }
}

/**
 * The list of a customer as a device gets it that is let in. It is no fetch: nothing is noted of it, nothing begins with it. `own`: in place
 * of what is kept. Throws 404.
 */
async function listOfCustomer(s: Http, tgId: number, variant: ListVariant, own?: OwnTemplate) {
  const now = s.clock.now()
  const user = await s.db.read((q) => readUser(q, tgId))
  const owner = user && (await askOwner(s)(user.token, '', now))
  if (!owner) throw refusal('user-not-found')
  const catalogue = s.catalogue(owner.lists)
  const shown = own ? { ...catalogue, templateFor: () => own.template } : catalogue
  const limited = catalogue.settings.flag('HWID_LIMIT_ENABLED')
  return listAnswer(s, owner, { token: user.token, variant, catalogue: shown, limited, now })
}

interface OwnTemplate {
  /** Undefined: our own list. */
  template: Template | undefined
}

/** As an app reads it that asks for the format itself. */
function variantOf(s: Http, format: TemplateFormat): ListVariant {
  return s.lists.formatFor('', format) as ListVariant
}

export const templateOperations = adminOperations('Settings', [
  operation(
    {
      method: 'get',
      path: '/settings/templates',
      scope: 'settings:read',
      summary: 'Templates of lists, with our own lists as such',
      ok: listTemplates,
    },
    ({ s }) => templatesView(s),
  ),
  operation(
    {
      method: 'post',
      path: '/settings/templates',
      scope: 'settings:write',
      summary: 'Put a template in place of our own list; an empty body takes it away',
      confirmed: true,
      body: template,
      bodyBytes: BODY_BYTES,
      ok: savedTemplate,
      refusals: [503],
    },
    async ({ s, actor, body }) => {
      const { format, body: text } = await body()
      const checked_by = await saveTemplate(s, actor, format, text)
      return { ...templatesView(s), checked_by }
    },
  ),
  operation(
    {
      method: 'post',
      path: '/settings/templates/preview',
      scope: 'settings:write',
      summary: 'The list of a customer by a template that is not kept; an empty body is our own',
      body: v.object({ ...template.entries, tg_id: tgId }),
      bodyBytes: BODY_BYTES,
      ok: listBody,
      refusals: [404],
    },
    async ({ s, body }) => {
      const { format, body: text, tg_id } = await body()
      const template = text.trim() === '' ? undefined : readTemplate(format, text)
      const shown = await listOfCustomer(s, tg_id, variantOf(s, format), { template })
      return { body: shown.body }
    },
  ),
])

export const listPreviewOperations = adminOperations('Users', [
  operation(
    {
      method: 'get',
      path: '/users/{tg_id}/list',
      scope: 'users:read',
      summary: 'The list of a customer as an app gets it, without its having been fetched',
      params: { tg_id: tgId },
      query: v.object({
        agent: v.optional(requiredLine(AGENT_MAX_LENGTH)),
        format: v.optional(v.picklist(LIST_FORMATS, `must be one of ${LIST_FORMATS.join(', ')}`)),
      }),
      ok: shownList,
      refusals: [400],
    },
    async ({ s, params, query }) => {
      const tgId = readTgId(params.tg_id)
      const { agent, format } = query()
      const variant = s.lists.formatFor(agent, format)
      if (!variant) throw fieldRefusal('agent', 'no-client-app')
      return listOfCustomer(s, tgId, variant)
    },
  ),
])
