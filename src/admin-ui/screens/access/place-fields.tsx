/** What is given: a node and a plan. */
import { SelectField } from '#src/admin-ui/kit/field.tsx'
import { common } from '#src/admin-ui/texts.ts'
import { useChoices } from './choices.ts'
import { access } from './texts.ts'

type Name = 'node' | 'plan'

interface Field {
  name: string
  value: string
  onValue: (value: string) => void
  error: string | undefined
}

/** `field` of a form with both; `withoutNode` where the node is known otherwise. */
export function PlaceFields(p: { field: (name: Name) => Field; withoutNode?: boolean }) {
  const t = access()
  const { nodes, plans, groupOf } = useChoices()
  const group = groupOf(p.field('plan').value)
  return (
    <>
      {!p.withoutNode && (
        <SelectField
          label={common().node}
          empty={group ? t.allOf(group) : t.choose}
          options={nodes}
          {...(group && { hint: t.homeHint })}
          {...p.field('node')}
        />
      )}
      <SelectField label={common().plan} empty={t.choose} options={plans} {...p.field('plan')} />
    </>
  )
}
