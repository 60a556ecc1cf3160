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
  const { nodes, plans } = useChoices()
  const choose = access().choose
  return (
    <>
      {!p.withoutNode && (
        <SelectField label={common().node} empty={choose} options={nodes} {...p.field('node')} />
      )}
      <SelectField label={common().plan} empty={choose} options={plans} {...p.field('plan')} />
    </>
  )
}
