/** Templates as texts: Mihomo's are YAML, those of sing-box JSON. */
import { CORE_SCHEMA, load, mergeTag, YAMLException } from 'js-yaml'
import type { TemplateFormat } from '#db/values.ts'
import { cut } from '#src/lib/format.ts'
import { jsonFault } from '#src/lib/json-fault.ts'
import { refusal } from '#src/refusals/index.ts'

const SCHEMA = CORE_SCHEMA.withTags(mergeTag)
/** As deep as one may be, and how often what it names once may be put elsewhere. */
const LIMITS = { maxDepth: 32, maxAliases: 500, maxTotalMergeKeys: 5000 }

/** It may name what is in the text. */
export const MOST_REASON = 200

function unreadable(text: string, offset: number, reason: string) {
  const lines = text.slice(0, offset).split('\n')
  return refusal('template-unreadable', {
    line: lines.length,
    column: (lines.at(-1) as string).length + 1,
    reason: cut(reason, MOST_REASON),
  })
}

function parseYaml(text: string): unknown {
  try {
    return load(text, { schema: SCHEMA, ...LIMITS })
  } catch (error) {
    if (!(error instanceof YAMLException)) throw error
    throw unreadable(text, error.mark?.position ?? 0, error.reason)
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw unreadable(text, jsonFault(text), 'this is no JSON')
  }
}

/** What a template says. Throws 400 naming the place where it can't be read. */
export const parseTemplate = (format: TemplateFormat, text: string): unknown =>
  format === 'mihomo' ? parseYaml(text) : parseJson(text)
