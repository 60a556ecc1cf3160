/** Puts one subscription on another server. */
import { api, ok } from '#src/admin-ui/api.ts'
import { isWaiting } from '#src/admin-ui/days-left.ts'
import { date, userName } from '#src/admin-ui/format.ts'
import { Button } from '#src/admin-ui/kit/button.tsx'
import { Dialog } from '#src/admin-ui/kit/dialog.tsx'
import { SelectField } from '#src/admin-ui/kit/field.tsx'
import { FormBox, useForm } from '#src/admin-ui/kit/form.tsx'
import { toast } from '#src/admin-ui/kit/toast.tsx'
import { common } from '#src/admin-ui/texts.ts'
import { useChoices } from './choices.ts'
import { isRunning } from './state.tsx'
import { accessChanged, nameOf, type Subscription } from './subscription.ts'
import { access } from './texts.ts'

export function MoveDialog(p: { subscription: Subscription; close: () => void }) {
  const t = access()
  const { subscription, close } = p
  const { node_label, node_group_label } = subscription
  const others = useChoices().nodes.filter((node) => node.value !== subscription.node)
  const labelOf = (code: string) => others.find((node) => node.value === code)?.label ?? code
  const form = useForm({
    initial: { node: '' },
    send: ({ node }) =>
      ok(api.subscriptions[':uuid'].$patch({ param: { uuid: subscription.uuid }, json: { node } })),
    done: (moved) => {
      toast(t.moved(moved.node_label))
      accessChanged()
      close()
    },
  })
  const { node } = form.values
  const to = node === '' ? t.moveSomewhere : labelOf(node)
  return (
    <Dialog title={t.moveTitle(nameOf(subscription))} onClose={close}>
      <FormBox
        form={form}
        action={node === '' ? t.moveAction : t.moveTo(to)}
        extra={<Button onClick={close}>{common().cancel}</Button>}
      >
        <SelectField label={t.moveNode} empty={t.choose} options={others} {...form.field('node')} />
        <div class="t2 stack">
          <p>
            {node_group_label === undefined
              ? t.moveText(userName(subscription), node_label, to)
              : t.moveHome(node_group_label, node_label, to)}
          </p>
          <p>
            {subscription.endless || isWaiting(subscription)
              ? t.moveKeeps
              : t.moveStays(date(subscription.expires_at))}
          </p>
          {node_group_label === undefined && isRunning(subscription) && <p>{t.moveApps}</p>}
        </div>
      </FormBox>
    </Dialog>
  )
}
