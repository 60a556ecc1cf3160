/** The kinds of settings: what each is as the environment's text, as a row and as a field of the API. */
import * as v from 'valibot'
import { flag, integer, secretText } from '#src/lib/values.ts'
import type { Place } from './setting.ts'

const TRUE = new Set(['1', 'true', 'yes', 'on'])

/** Whether the text of a switch means that it is on. */
export const isTrue = (text: string): boolean => TRUE.has(text.toLowerCase())

/** The whole number that a text is, or the fallback's where it is none. */
export const readNumber = (text: string, fallback: string): number =>
  Number(/^\d{1,9}$/.test(text) ? text : fallback)

/** What the environment's text must be. */
export const textLike = (pattern: RegExp, need: string) =>
  v.pipe(v.string(), v.regex(pattern, `must be ${need}`))

/** The environment's text of a switch. */
export const switchText = textLike(/^(1|0|true|false|yes|no|on|off)$/i, 'on or off')

/** The row of a switch. */
export const switchRow = v.picklist(['true', 'false'])

/** A text that a schema of another type takes once it is read. */
export const readAs = (read: (text: string) => unknown, schema: v.GenericSchema) =>
  v.pipe(
    v.string(),
    v.check((text) => {
      try {
        return v.is(schema, read(text))
      } catch {
        return false
      }
    }),
  )

const asIs = (text: string): string => text

/** A switch. */
export const onOff = <const P extends Place>(place: P) => ({
  start: switchText,
  value: switchRow,
  field: { ...place, given: flag, shown: v.boolean(), view: isTrue, toRow: String },
})

/** A whole number; `need`: what the environment's refusal calls it. */
export function whole<const P extends Place, S extends v.GenericSchema<number>>(
  [min, max]: readonly [min: number, max: number],
  {
    place,
    shown,
    need = `a whole number from ${min} to ${max}`,
    pattern = new RegExp(`^\\d{1,${String(max).length}}$`),
  }: { place: P; shown: S; need?: string; pattern?: RegExp },
) {
  const given = integer(min, max)
  const isWithin = (text: string) =>
    pattern.test(text) && Number(text) >= min && Number(text) <= max
  return {
    start: v.pipe(v.string(), v.check(isWithin, `must be ${need}`)),
    value: v.pipe(v.string(), v.digits(), readAs(Number, given)),
    field: { ...place, given, shown, view: readNumber, toRow: String },
  }
}

/** A text whose row is what a request brings. */
export const sameText = <const P extends Place, V extends v.GenericSchema<unknown, string>>(
  value: V,
  place: P,
) => ({ value, field: { ...place, given: value, shown: v.string(), view: asIs, toRow: String } })

/** A text of which requests bring another form than rows have, or none. */
export const shownAs = <const P extends Place, S extends v.GenericSchema>(
  place: P,
  shown: S,
  view: (text: string) => v.InferOutput<S>,
) => ({ field: { ...place, shown, view } })

/** A secret of which answers say whether there is one. */
export const hidden = <const P extends Place>(max: number, place: P) => ({
  secret: true as const,
  value: secretText(max),
  ...shownAs(place, v.boolean(), (text) => text !== ''),
})
