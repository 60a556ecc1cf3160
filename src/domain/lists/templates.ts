/** Templates of lists as an admin manages them, and a look at those that are kept. */
import { deleteTemplate, keptTemplates, putTemplate, readTemplateRow } from '#db/list-templates.ts'
import { isAlertOpen } from '#db/open-alerts.ts'
import type { TemplateFormat } from '#db/values.ts'
import { type Actor, audit } from '#src/domain/audit.ts'
import { alertState } from '#src/domain/notify/alerts.ts'
import { formatTimestamp } from '#src/lib/time.ts'
import { refusal } from '#src/refusals/index.ts'
import type { Services } from '#src/services.ts'
import { keptTemplate, readTemplate } from './template.ts'

/** The templates that are kept, with what is wrong with each; null: nothing. */
export const templatesOf = ({ db }: Pick<Services, 'db'>) =>
  keptTemplates(db).map((row) => {
    const kept = keptTemplate(row)
    return { ...row, fault: 'fault' in kept ? kept.fault : null }
  })

/** What looked at a template: the core itself, or only we, where it is not at hand. */
export type CheckedBy = 'core' | 'structure'

/** Looks whether a template can be used. Throws 400 naming what is wrong with it, and where. */
async function checkUsable(
  { clientCores }: Pick<Services, 'clientCores'>,
  format: TemplateFormat,
  body: string,
): Promise<CheckedBy> {
  const word = await clientCores.check(format, readTemplate(format, body).sample())
  if (word === null) return 'structure'
  const { core, complaint } = word
  if (complaint !== null) throw refusal('template-refused', { core, reason: complaint })
  return 'core'
}

/**
 * Puts a template in place of our own list; an empty one takes the operator's away. Gives who has looked at it, null where it was
 * taken away. Throws 400 for one that can't be used, which is looked at before the transaction.
 */
export async function saveTemplate(
  s: Pick<Services, 'db' | 'clock' | 'clientCores'>,
  actor: Actor,
  format: TemplateFormat,
  body: string,
): Promise<CheckedBy | null> {
  const isGiven = body.trim() !== ''
  const checkedBy = isGiven ? await checkUsable(s, format, body) : null
  const at = formatTimestamp(s.clock.now())
  await s.db.tx(function* (tx) {
    const before = yield* readTemplateRow(tx, format)
    if (!isGiven && !before) return
    if (isGiven) yield* putTemplate(tx, { format, body, updatedAt: at })
    else yield* deleteTemplate(tx, format)
    yield* audit(tx, actor, at, {
      action: isGiven ? 'template.save' : 'template.remove',
      object: format,
    })
  })
  return checkedBy
}

const STATE = 'templates'

/** Tells once of templates that can't be used, as one may be that came with an archive. */
export async function watchTemplates(s: Pick<Services, 'db' | 'clock' | 'config'>): Promise<void> {
  const faults = templatesOf(s).flatMap(({ format, fault }) =>
    fault === null ? [] : [`${format}: ${fault.message}`],
  )
  const begins = faults.length > 0
  if ((await s.db.read((q) => isAlertOpen(q, STATE))) === begins) return
  const alert = begins ? ({ about: 'templates-broken', faults: faults.join('; ') } as const) : null
  const at = formatTimestamp(s.clock.now())
  await s.db.tx((tx) => alertState(tx, s, at, { name: STATE, begins, alert }))
}
