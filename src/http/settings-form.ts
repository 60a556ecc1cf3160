/** Forms of the API: what requests bring of live settings and what answers show, made from the table (settings/live.ts). */
import * as v from 'valibot'
import type { Actor } from '#src/domain/audit.ts'
import { readSettings, type Settings, saveSettings } from '#src/domain/settings.ts'
import type { Services } from '#src/services.ts'
import type { LIVE } from '#src/settings/live.ts'
import type { LiveSetting } from '#src/settings/setting.ts'

/** The field that a setting is. */
type FieldIn<S> = S extends { field: infer F } ? F : never
type Fields = FieldIn<(typeof LIVE)[number]>
type FieldsOf<N extends FormName> = Extract<Fields, { form: N }>
export type FormName = Fields['form']

/** What answers show of a form, by the names of its fields. */
type Shown<N extends FormName> = { [F in FieldsOf<N> as F['name']]: F['shown'] }
/** What requests bring of it, none of which they must. */
type Given<N extends FormName> = {
  [F in Extract<FieldsOf<N>, { given: v.GenericSchema }> as F['name']]: v.OptionalSchema<
    F['given'],
    undefined
  >
}

type View<N extends FormName> =
  v.StrictObjectSchema<Shown<N>, undefined> extends v.GenericSchema<unknown, infer T> ? T : never

export interface Form<N extends FormName> {
  given: Given<N>
  shown: v.StrictObjectSchema<Shown<N>, undefined>
  view(settings: Settings): View<N>
  /** The rows of what a request has brought. */
  rowsOf(body: object): Record<string, string>
}

function makeForm<N extends FormName>(own: readonly LiveSetting[], form: N): Form<N> {
  const settings = own.flatMap(({ key, fallback = '', field }) =>
    field?.form === form ? [{ key, fallback, field }] : [],
  )
  const given: Record<string, v.GenericSchema> = {}
  const shown: Record<string, v.GenericSchema> = {}
  for (const { field } of settings) {
    if (field.given) given[field.name] = v.optional(field.given)
    shown[field.name] = field.shown
  }
  return {
    given: given as Given<N>,
    shown: v.strictObject(shown) as unknown as Form<N>['shown'],
    view(now) {
      const values = settings.map(({ key, fallback, field }) => [
        field.name,
        field.view(now.ofGateway(key), fallback),
      ])
      const present = values.filter(([, value]) => value !== undefined)
      return Object.fromEntries(present) as View<N>
    },
    rowsOf(body) {
      const rows: Record<string, string> = {}
      for (const { key, field } of settings) {
        const value = body[field.name as keyof typeof body]
        if (value !== undefined && field.toRow) rows[key] = field.toRow(value)
      }
      return rows
    },
  }
}

const made = new WeakMap<readonly LiveSetting[], Map<string, unknown>>()

/** A form of these settings: the same one each time, as the description of the API knows schemas by what they are. */
export function formOf<N extends FormName>(own: readonly LiveSetting[], form: N): Form<N> {
  const known = made.get(own) ?? new Map<string, unknown>()
  made.set(own, known)
  if (!known.has(form)) known.set(form, makeForm(own, form))
  return known.get(form) as Form<N>
}

/** Saves what a request has brought, and gives what answers show from now on. */
export async function saveForm<N extends FormName>(
  s: Pick<Services, 'db' | 'clock' | 'config'>,
  actor: Actor,
  form: Form<N>,
  body: object,
): Promise<View<N>> {
  await saveSettings(s, actor, form.rowsOf(body))
  return form.view(readSettings(s))
}
