/** The first group in one step: all nodes that are on, and the plans that are sold with it. */
import { useRef } from 'preact/hooks'
import { type Answer, api, ok } from '#src/admin-ui/api.ts'
import { Button } from '#src/admin-ui/kit/button.tsx'
import { Checklist } from '#src/admin-ui/kit/checklist.tsx'
import { Dialog } from '#src/admin-ui/kit/dialog.tsx'
import { TextField } from '#src/admin-ui/kit/field.tsx'
import { FormBox, useForm } from '#src/admin-ui/kit/form.tsx'
import { Facts, Note } from '#src/admin-ui/kit/page.tsx'
import { Loaded } from '#src/admin-ui/kit/state.tsx'
import { toast } from '#src/admin-ui/kit/toast.tsx'
import { useQuery } from '#src/admin-ui/query.ts'
import { common } from '#src/admin-ui/texts.ts'
import { groupsChanged, isForeign, type NodeRow, nodeTexts } from './texts.ts'

type Plan = Answer<typeof api.plans.$get>[number]

interface Props {
  nodes: NodeRow[]
  close: () => void
}

function TogetherForm({ nodes, plans, close }: Props & { plans: Plan[] }) {
  const t = nodeTexts()
  const words = t.groups
  // Where a plan was refused, the next try goes on with the group that there is.
  const made = useRef<string | null>(null)
  const form = useForm({
    initial: { label: words.togetherLabel, plans: plans.map(({ code }) => code) },
    send: async ({ label, plans }) => {
      const json = { label, nodes: nodes.map(({ code }) => code) }
      made.current ??= (await ok(api['node-groups'].$post({ json }))).code
      for (const code of plans) {
        const json = { node_group: made.current }
        await ok(api.plans[':code'].$patch({ param: { code }, json }))
      }
    },
    done: (_answer, { label, plans }) => {
      toast(words.togetherDone(label, plans.length))
      groupsChanged()
      close()
    },
  })
  const foreign = nodes.filter(isForeign).map(({ label }) => label)
  return (
    <FormBox
      form={form}
      action={words.togetherAction}
      always
      extra={<Button onClick={close}>{common().cancel}</Button>}
    >
      <Facts list={[[words.nodes, nodes.map(({ label }) => label).join(', ')]]} />
      <TextField
        label={words.label}
        hint={words.labelHint}
        required
        maxLength={128}
        {...form.field('label')}
      />
      <Checklist
        label={words.togetherPlans}
        options={plans.map(({ code, label }) => ({ value: code, label }))}
        {...form.field('plans')}
      />
      {foreign.length > 0 && <Note tone="warn">{t.move.external(foreign.join(', '))}</Note>}
      <Note>{words.togetherSold}</Note>
    </FormBox>
  )
}

export function SellTogether({ nodes, close }: Props) {
  const plans = useQuery('plans', () => ok(api.plans.$get()))
  return (
    <Dialog title={nodeTexts().groups.together} onClose={close}>
      <Loaded query={plans} lines={6}>
        {(all) => (
          <TogetherForm
            nodes={nodes}
            plans={all.filter(({ archived }) => !archived)}
            close={close}
          />
        )}
      </Loaded>
    </Dialog>
  )
}
