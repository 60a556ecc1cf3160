/** How long what is granted lasts, and from when: by its plan and from now on, unless it is said otherwise. */
import { Switch } from '#src/admin-ui/kit/field.tsx'
import type { Form } from '#src/admin-ui/kit/form.tsx'
import { access } from './texts.ts'

export interface Term {
  endless: boolean
  first_use: boolean
}

/** The same as the API wants it. */
export const termOf = ({ endless, first_use }: Term) => ({
  ...(endless && { days: 0 }),
  ...(first_use && !endless && { start: 'first_use' as const }),
})

/** What has no end has no days that could wait. */
export function TermFields<V extends Term>({ form }: { form: Form<V> }) {
  const t = access()
  const { field, values } = form as unknown as Form<Term>
  return (
    <>
      <Switch label={t.endless} hint={t.endlessHint} {...field('endless')} />
      {!values.endless && (
        <Switch label={t.firstUse} hint={t.firstUseHint} {...field('first_use')} />
      )}
    </>
  )
}
