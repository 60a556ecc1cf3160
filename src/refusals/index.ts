/** Refusals by name: each is declared once, with its code, sentence and status (sentences.ts, rules.ts). */
import { ApiError, BUSY_SECONDS } from '#src/lib/errors.ts'
import { RULES_OF_OTHERS, RULES_OF_THE_PANEL } from './rules.ts'
import { OF_OTHERS, OF_THE_PANEL } from './sentences.ts'

export const SENTENCES = { ...OF_THE_PANEL, ...OF_OTHERS }
export const RULES = { ...RULES_OF_THE_PANEL, ...RULES_OF_OTHERS }

type Sentences = typeof SENTENCES
type Rules = typeof RULES

/** What is put into a sentence, by name. */
type Names<S> = S extends `${string}{${infer N}}${infer Rest}` ? N | Names<Rest> : never
type Values<T extends { sentence: string }> = { [N in Names<T['sentence']>]: string | number }
/** The values may be left out where there are none. */
type Given<T extends { sentence: string }> = [Names<T['sentence']>] extends [never]
  ? []
  : [values: Values<T>]

/** What the panel may be answered with. */
export type PanelCode = keyof typeof OF_THE_PANEL | keyof typeof RULES_OF_THE_PANEL

/** `other`: a sentence that is a gateway's own. */
export type RefusalCode = keyof Sentences | keyof Rules | 'other'

export const REFUSAL_CODES = [...Object.keys(SENTENCES), ...Object.keys(RULES), 'other']

type Written = Record<string, string>

const written = (values: Record<string, string | number> = {}): Written =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [name, String(value)]))

const filled = (sentence: string, values: Written): string =>
  sentence.replace(/\{(\w+)\}/g, (whole, name: string) => values[name] ?? whole)

/** The refusal with this code. */
export function refusal<C extends keyof Sentences>(code: C, ...[given]: Given<Sentences[C]>) {
  const { status, sentence } = SENTENCES[code]
  const values = written(given)
  const refused = new ApiError(status, filled(sentence, values), { code, values })
  return status === 503 ? refused.after(BUSY_SECONDS) : refused
}

/** The refusal of a field that breaks the rule with this code. */
export function fieldRefusal<C extends keyof Rules>(
  field: string,
  code: C,
  ...[given]: Given<Rules[C]>
) {
  const { status, sentence } = RULES[code]
  const values = written(given)
  return new ApiError(status, `${field} ${filled(sentence, values)}`, {
    code,
    values: { ...values, field },
  })
}

interface Named {
  code: RefusalCode
  values: Written
}

type Reader = (text: string) => Named | null

const escaped = (text: string) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')

/** Finds the code of a text, and what was put into its sentence. */
function readerOf(table: Record<string, { sentence: string }>): Reader {
  const entries = Object.entries(table) as [RefusalCode, { sentence: string }][]
  const exact = new Map(entries.map(([code, { sentence }]) => [sentence, code]))
  const patterns = entries
    .filter(([, { sentence }]) => sentence.includes('{'))
    .map(([code, { sentence }]) => ({
      code,
      names: [...sentence.matchAll(/\{(\w+)\}/g)].map(([, name]) => name as string),
      expression: new RegExp(
        `^${sentence
          .split(/\{\w+\}/)
          .map(escaped)
          .join('(.+)')}$`,
        's',
      ),
    }))
  return (text) => {
    const code = exact.get(text)
    if (code) return { code, values: {} }
    for (const { code, names, expression } of patterns) {
      const found = expression.exec(text)
      if (!found) continue
      const values = names.map((name, at) => [name, found[at + 1] as string])
      return { code, values: Object.fromEntries(values) }
    }
    return null
  }
}

const readSentence = readerOf(SENTENCES)
const readRule = readerOf(RULES)

/** What is declared nowhere: a gateway's descriptor may have sentences of its own. */
const UNDECLARED: Named = { code: 'other', values: {} }

/** The refusal of an input that breaks the rule with this text, which a schema says. `field`: where it is not the input as a whole. */
export function brokenRule(field: string | undefined, rule: string): ApiError {
  if (field === undefined) return refusalOfText(rule)
  const { code, values } = readRule(rule) ?? UNDECLARED
  return new ApiError(400, `${field} ${rule}`, { code, values: { ...values, field } })
}

/** The refusal that comes as a text: from another thread, a gateway's descriptor, or a rule that begins with its field. */
export function refusalOfText(text: string, status = 400): ApiError {
  const whole = readSentence(text) ?? readRule(text)
  if (whole) return new ApiError(status, text, whole)
  const [, field, rule = ''] = /^([\w.]+) ((?:must|may|has|is|would|leads) .+)$/s.exec(text) ?? []
  return field === undefined ? new ApiError(status, text, UNDECLARED) : brokenRule(field, rule)
}
