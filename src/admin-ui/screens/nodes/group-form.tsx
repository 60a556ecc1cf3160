/** Makes a group of nodes, or changes one. */
import { api, ok } from '#src/admin-ui/api.ts'
import { Button } from '#src/admin-ui/kit/button.tsx'
import { Checklist } from '#src/admin-ui/kit/checklist.tsx'
import { Dialog } from '#src/admin-ui/kit/dialog.tsx'
import { SelectField, Switch, TextField } from '#src/admin-ui/kit/field.tsx'
import { type Form, FormBox, useForm } from '#src/admin-ui/kit/form.tsx'
import { Note } from '#src/admin-ui/kit/page.tsx'
import { toast } from '#src/admin-ui/kit/toast.tsx'
import type { NodeGroup } from '#src/admin-ui/node-groups.ts'
import { type RoutingPreset, routingOptions } from '#src/admin-ui/routing.ts'
import { common } from '#src/admin-ui/texts.ts'
import { tellSync } from './synced.ts'
import { groupsChanged, isForeign, type NodeRow, nodeTexts } from './texts.ts'

interface Values {
  label: string
  nodes: string[]
  hide_down: boolean
  /** Empty: as the settings say. */
  routing_preset: RoutingPreset | ''
  routing_ads: 'on' | 'off' | ''
}

/** What is sent of some values. */
function sent<V extends Partial<Values>>({
  routing_preset: preset,
  routing_ads: ads,
  ...others
}: V) {
  return {
    ...others,
    ...(preset !== undefined && { routing_preset: preset || null }),
    ...(ads !== undefined && { routing_ads: ads === '' ? null : ads === 'on' }),
  }
}

const adsOf = ({ routing_ads: ads }: NodeGroup) => (ads === undefined ? '' : ads ? 'on' : 'off')

const labelsOf = (nodes: NodeRow[]) => nodes.map(({ label }) => label).join(', ')

function Fields({ form, nodes }: { form: Form<Values>; nodes: NodeRow[] }) {
  const t = nodeTexts()
  const { offOne, ...words } = t.groups
  const foreign = nodes.filter((node) => form.values.nodes.includes(node.code) && isForeign(node))
  return (
    <>
      <TextField
        label={words.label}
        hint={words.labelHint}
        focus
        required
        maxLength={128}
        {...form.field('label')}
      />
      <Checklist
        label={words.nodes}
        options={nodes.map(({ code, label, enabled }) => ({
          value: code,
          label: enabled ? label : offOne(label),
        }))}
        {...form.field('nodes')}
      />
      {foreign.length > 0 && <Note tone="warn">{t.move.external(labelsOf(foreign))}</Note>}
      <SelectField
        label={words.routing}
        empty={words.routingAsSet}
        options={routingOptions()}
        {...form.field('routing_preset')}
      />
      <SelectField
        label={words.ads}
        hint={words.adsHint}
        empty={words.routingAsSet}
        options={[
          { value: 'on', label: words.adsOn },
          { value: 'off', label: words.adsOff },
        ]}
        {...form.field('routing_ads')}
      />
      <Switch label={words.hideDown} hint={words.hideDownHint} {...form.field('hide_down')} />
    </>
  )
}

const cancel = (close: () => void) => <Button onClick={close}>{common().cancel}</Button>

export function CreateGroup({ nodes, close }: { nodes: NodeRow[]; close: () => void }) {
  const t = nodeTexts().groups
  const form = useForm<Values, NodeGroup>({
    initial: { label: '', nodes: [], hide_down: false, routing_preset: '', routing_ads: '' },
    send: (values) => ok(api['node-groups'].$post({ json: sent(values) })),
    done: ({ label }) => {
      toast(t.added(label))
      groupsChanged()
      close()
    },
  })
  return (
    <Dialog title={t.add} onClose={close}>
      <FormBox form={form} action={t.addAction} extra={cancel(close)}>
        <Fields form={form} nodes={nodes} />
      </FormBox>
    </Dialog>
  )
}

/** Whom a change of the members concerns. */
function Concerned(p: { group: NodeGroup; wanted: string[]; nodes: NodeRow[] }) {
  const t = nodeTexts().groups
  const { group, wanted } = p
  const n = group.subscriptions
  const has = ({ code }: NodeRow) => group.nodes.includes(code)
  const left = p.nodes.filter((node) => has(node) && !wanted.includes(node.code))
  const joined = p.nodes.filter((node) => !has(node) && wanted.includes(node.code))
  if (n === 0) return null
  return (
    <>
      {left.length > 0 && <Note tone="warn">{t.leave(labelsOf(left), n)}</Note>}
      {joined.length > 0 && <Note>{t.join(labelsOf(joined), n)}</Note>}
    </>
  )
}

export function EditGroup(p: { group: NodeGroup; nodes: NodeRow[]; close: () => void }) {
  const t = nodeTexts().groups
  const { group, nodes, close } = p
  const { label, hide_down } = group
  const form = useForm({
    initial: {
      ...{ label, nodes: group.nodes, hide_down },
      routing_preset: group.routing_preset ?? '',
      routing_ads: adsOf(group),
    } as Values,
    send: (_values, changes) =>
      ok(api['node-groups'][':code'].$patch({ param: { code: group.code }, json: sent(changes) })),
    done: async ({ sync }) => {
      close()
      groupsChanged()
      if (sync.length > 0) await tellSync(sync, t.saved)
      else toast(common().saved)
    },
  })
  return (
    <Dialog title={t.edit(label)} onClose={close}>
      <FormBox form={form} extra={cancel(close)}>
        <Fields form={form} nodes={nodes} />
        <Concerned group={group} wanted={form.values.nodes} nodes={nodes} />
      </FormBox>
    </Dialog>
  )
}
