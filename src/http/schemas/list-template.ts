/** Templates of lists, and lists as they are looked at. */
import * as v from 'valibot'
import { TEMPLATE_FORMATS } from '#db/values.ts'
import { timestamp } from './fields.ts'

export const listTemplates = v.strictObject({
  templates: v.array(
    v.strictObject({
      format: v.picklist(TEMPLATE_FORMATS),
      /** Null: apps get our own list. */
      body: v.nullable(v.string()),
      updated_at: v.nullable(timestamp),
      /** Why it can't be used, so that apps get our own list: in words, and as refusals say it in their headers. */
      fault: v.nullable(
        v.strictObject({
          error: v.string(),
          code: v.string(),
          values: v.record(v.string(), v.string()),
        }),
      ),
      /** Our own list as a template. */
      built_in: v.string(),
    }),
  ),
})

/** `checked_by`: the core itself, or its structure alone where the core is not at hand; null for none. */
export const savedTemplate = v.strictObject({
  ...listTemplates.entries,
  checked_by: v.nullable(v.picklist(['core', 'structure'])),
})

export const listBody = v.strictObject({ body: v.string() })

export const shownList = v.strictObject({
  body: v.string(),
  headers: v.record(v.string(), v.string()),
})
