/** Changes the days of one subscription for those of another plan: how many they are is said before. */
import { useRef } from 'preact/hooks'
import { api, ok } from '#src/admin-ui/api.ts'
import { date } from '#src/admin-ui/format.ts'
import { Button } from '#src/admin-ui/kit/button.tsx'
import { Dialog } from '#src/admin-ui/kit/dialog.tsx'
import { SelectField } from '#src/admin-ui/kit/field.tsx'
import { FormBox, useForm } from '#src/admin-ui/kit/form.tsx'
import { Note } from '#src/admin-ui/kit/page.tsx'
import { messageOf, toast } from '#src/admin-ui/kit/toast.tsx'
import { invalidate, useQuery } from '#src/admin-ui/query.ts'
import { common } from '#src/admin-ui/texts.ts'
import { useChoices } from './choices.ts'
import { accessChanged, nameOf, type Subscription } from './subscription.ts'
import { access } from './texts.ts'

const change = (uuid: string, plan: string, more: { preview?: true; days?: number | undefined }) =>
  ok(
    api.subscriptions[':uuid'].change.$post({
      param: { uuid },
      json: { plan, ...more },
    }),
  )

/** How many days were said last. */
type Shown = { current: number | undefined }

/** What the days would become, or why they can't. */
function Preview(p: { subscription: Subscription; plan: string; shown: Shown }) {
  const t = access()
  const { subscription, plan, shown } = p
  const { uuid, days_left, plan_label } = subscription
  const { data, error } = useQuery(`change:${uuid}:${plan}`, () =>
    change(uuid, plan, { preview: true }),
  )
  shown.current = undefined
  if (error) return <Note tone="warn">{messageOf(error)}</Note>
  if (!data || !('days' in data)) return null
  const { days, expires_at: end } = data
  shown.current = days
  return (
    <p>
      {t.planBecomes(
        `${common().days(days_left)} · ${plan_label}`,
        `${common().days(days)} · ${data.plan_label}`,
        date(end),
      )}
    </p>
  )
}

export function PlanDialog(p: { subscription: Subscription; close: () => void }) {
  const t = access()
  const { subscription, close } = p
  const { uuid } = subscription
  const shown: Shown = useRef(undefined)
  const others = useChoices().plansPriced.filter(({ value }) => value !== subscription.plan)
  const form = useForm({
    initial: { plan: '' },
    once: true,
    send: async ({ plan }) => {
      try {
        return await change(uuid, plan, { days: shown.current })
      } catch (error) {
        invalidate(`change:${uuid}:`)
        throw error
      }
    },
    done: ({ plan_label, expires_at }) => {
      toast(t.planChanged(plan_label, date(expires_at)))
      accessChanged()
      close()
    },
  })
  const { plan } = form.values
  return (
    <Dialog title={t.planTitle(nameOf(subscription))} onClose={close}>
      <FormBox
        form={form}
        action={t.planAction}
        extra={<Button onClick={close}>{common().cancel}</Button>}
      >
        <SelectField label={t.planNew} empty={t.choose} options={others} {...form.field('plan')} />
        <div class="t2 stack">
          {plan !== '' && (
            <Preview key={plan} subscription={subscription} plan={plan} shown={shown} />
          )}
          <p>{t.planKeeps}</p>
        </div>
      </FormBox>
    </Dialog>
  )
}
