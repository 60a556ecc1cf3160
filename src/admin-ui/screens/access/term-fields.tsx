/** How long what is granted lasts, and from when: by its plan and from now on, unless it is said otherwise. */
import { boot } from '#src/admin-ui/boot.ts'
import { Switch, TextField } from '#src/admin-ui/kit/field.tsx'
import type { Form } from '#src/admin-ui/kit/form.tsx'
import { timestampOfField } from '#src/admin-ui/zone.ts'
import { access } from './texts.ts'

interface Start {
  first_use: boolean
  /** As its field has it; empty: a year from now. */
  start_by: string
}

export interface Term extends Start {
  endless: boolean
}

export const NOW: Start = { first_use: false, start_by: '' }
export const OF_PLAN: Term = { endless: false, ...NOW }

/** The same as the API wants it. */
export const startOf = ({ first_use, start_by }: Start) =>
  first_use
    ? {
        start: 'first_use' as const,
        ...(start_by !== '' && { start_by: timestampOfField(start_by) }),
      }
    : {}

export const termOf = ({ endless, ...start }: Term) => (endless ? { days: 0 } : startOf(start))

/** Whether days wait for the first use, and until when. */
export function StartFields<V extends Start>({ form }: { form: Form<V> }) {
  const t = access()
  const { field, values } = form as unknown as Form<Start>
  return (
    <>
      <Switch label={t.firstUse} hint={t.firstUseHint} {...field('first_use')} />
      {values.first_use && (
        <TextField
          label={t.startBy}
          hint={t.startByHint(boot.timezone)}
          type="datetime-local"
          {...field('start_by')}
        />
      )}
    </>
  )
}

/** What has no end has no days that could wait. */
export function TermFields<V extends Term>({ form }: { form: Form<V> }) {
  const t = access()
  const { field, values } = form as unknown as Form<Term>
  return (
    <>
      <Switch label={t.endless} hint={t.endlessHint} {...field('endless')} />
      {!values.endless && <StartFields form={form} />}
    </>
  )
}
