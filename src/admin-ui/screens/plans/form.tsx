/** Makes a plan, or changes one. */

import { api, ok } from '#src/admin-ui/api.ts'
import { boot } from '#src/admin-ui/boot.ts'
import { Button } from '#src/admin-ui/kit/button.tsx'
import { Dialog } from '#src/admin-ui/kit/dialog.tsx'
import { NumberField, TextField } from '#src/admin-ui/kit/field.tsx'
import { type Form, FormBox, useForm } from '#src/admin-ui/kit/form.tsx'
import { toast } from '#src/admin-ui/kit/toast.tsx'
import { invalidate } from '#src/admin-ui/query.ts'
import { common } from '#src/admin-ui/texts.ts'
import { type Plan, planTexts } from './texts.ts'

interface Values {
  label: string
  days: number | null
  price: number | null
  price_stars: number | null
}

function Fields({ form, focus }: { form: Form<Values>; focus?: boolean }) {
  const t = planTexts()
  return (
    <>
      <TextField label={t.label} required focus={focus ?? false} {...form.field('label')} />
      <div class="cols">
        <NumberField
          label={t.days}
          unit={t.daysUnit}
          min={1}
          max={3650}
          required
          {...form.field('days')}
        />
        <NumberField
          label={t.price}
          unit={boot.currency}
          min={0}
          required
          {...form.field('price')}
        />
        <NumberField
          label={t.priceStars}
          hint={t.starsHint}
          min={1}
          {...form.field('price_stars')}
        />
      </div>
    </>
  )
}

const refresh = () => invalidate('plans', 'stats')

/** The service says what is wrong with a field that is empty. */
const sent = ({ label, days, price, price_stars }: Values) => ({
  label,
  days: days as number,
  price: price as number,
  price_stars,
})

export function CreatePlan({ close }: { close: () => void }) {
  const t = planTexts()
  const form = useForm({
    initial: {
      code: '',
      label: '',
      days: 30 as number | null,
      price: null as number | null,
      price_stars: null as number | null,
    },
    send: ({ code, ...values }) => ok(api.plans.$post({ json: { code, ...sent(values) } })),
    done: (plan) => {
      toast(t.created(plan.label))
      refresh()
      close()
    },
  })
  return (
    <Dialog title={t.create} onClose={close}>
      <FormBox
        form={form}
        action={t.createAction}
        extra={<Button onClick={close}>{common().cancel}</Button>}
      >
        <TextField
          label={t.code}
          hint={t.codeHint}
          mono
          focus
          required
          maxLength={32}
          {...form.field('code')}
        />
        <Fields form={form as unknown as Form<Values>} />
      </FormBox>
    </Dialog>
  )
}

export function EditPlan({ plan, close }: { plan: Plan; close: () => void }) {
  const t = planTexts()
  const { label, days, price, price_stars } = plan
  const form: Form<Values> = useForm<Values, unknown>({
    initial: { label, days, price, price_stars },
    send: () =>
      ok(
        api.plans[':code'].$patch({
          param: { code: plan.code },
          json: form.changes() as Partial<ReturnType<typeof sent>>,
        }),
      ),
    done: () => {
      toast(common().saved)
      refresh()
      close()
    },
  })
  return (
    <Dialog title={t.edit(plan.label)} onClose={close}>
      <FormBox form={form} extra={<Button onClick={close}>{common().cancel}</Button>}>
        <Fields form={form} focus />
      </FormBox>
    </Dialog>
  )
}
