/** Gives one subscription a group of servers, or takes it away. */
import { api, ok } from '#src/admin-ui/api.ts'
import { Button } from '#src/admin-ui/kit/button.tsx'
import { Dialog } from '#src/admin-ui/kit/dialog.tsx'
import { SelectField } from '#src/admin-ui/kit/field.tsx'
import { FormBox, useForm } from '#src/admin-ui/kit/form.tsx'
import { toast } from '#src/admin-ui/kit/toast.tsx'
import { useNodeGroups } from '#src/admin-ui/node-groups.ts'
import { common } from '#src/admin-ui/texts.ts'
import { accessChanged, nameOf, placeOf, type Subscription } from './subscription.ts'
import { access } from './texts.ts'

export function GroupDialog(p: { subscription: Subscription; close: () => void }) {
  const t = access()
  const { subscription, close } = p
  const { options } = useNodeGroups()
  const form = useForm({
    initial: { node_group: subscription.node_group ?? '' },
    send: ({ node_group }) =>
      ok(
        api.subscriptions[':uuid'].$patch({
          param: { uuid: subscription.uuid },
          json: { node_group: node_group || null },
        }),
      ),
    done: (edited) => {
      toast(t.regrouped(placeOf(edited)))
      accessChanged()
      close()
    },
  })
  return (
    <Dialog title={t.groupTitle(nameOf(subscription))} onClose={close}>
      <FormBox form={form} extra={<Button onClick={close}>{common().cancel}</Button>}>
        <SelectField
          label={t.group}
          empty={t.ownServerOf(subscription.node_label)}
          options={options}
          {...form.field('node_group')}
        />
        <p class="t2">{t.groupText}</p>
      </FormBox>
    </Dialog>
  )
}
