/** Makes a plan, or changes one. */

import { api, ok } from '#src/admin-ui/api.ts'
import { boot } from '#src/admin-ui/boot.ts'
import { Button } from '#src/admin-ui/kit/button.tsx'
import { Dialog } from '#src/admin-ui/kit/dialog.tsx'
import { NumberField, SelectField, TextField } from '#src/admin-ui/kit/field.tsx'
import { type Form, FormBox, useForm } from '#src/admin-ui/kit/form.tsx'
import { toast } from '#src/admin-ui/kit/toast.tsx'
import { useNodeGroups } from '#src/admin-ui/node-groups.ts'
import { invalidate } from '#src/admin-ui/query.ts'
import {
  QuotaFields,
  type QuotaPeriod,
  type QuotaValues,
  quotaSent,
} from '#src/admin-ui/quotas.tsx'
import { common } from '#src/admin-ui/texts.ts'
import { type Plan, planTexts } from './texts.ts'

interface Values extends QuotaValues {
  label: string
  days: number | null
  price: number | null
  price_stars: number | null
  /** Empty: one server. */
  node_group: string
  hwid_limit: number | null
}

function Fields({ form, focus }: { form: Form<Values>; focus?: boolean }) {
  const t = planTexts()
  const { groups, options } = useNodeGroups()
  const { value: group } = form.field('node_group')
  return (
    <>
      <TextField label={t.label} required focus={focus ?? false} {...form.field('label')} />
      <div class="cols">
        <NumberField
          label={t.days}
          hint={t.daysHint}
          unit={t.daysUnit}
          min={0}
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
        <NumberField label={t.devices} hint={t.devicesHint} min={1} {...form.field('hwid_limit')} />
      </div>
      <div class="cols">
        <QuotaFields field={(form as unknown as Form<QuotaValues>).field} />
      </div>
      {(groups.length > 0 || group !== '') && (
        <SelectField
          label={t.servers}
          hint={t.serversHint}
          empty={t.oneServer}
          options={options}
          {...form.field('node_group')}
        />
      )}
    </>
  )
}

const refresh = () => invalidate('plans', 'stats')

/** The service says what is wrong with a field that is empty. */
const sent = ({ label, days, price, price_stars, node_group, hwid_limit, ...quota }: Values) => ({
  label,
  days: days as number,
  price: price as number,
  price_stars,
  ...(node_group !== '' && { node_group }),
  ...(hwid_limit !== null && { hwid_limit }),
  ...(quota.quota_gb !== null && quotaSent(quota)),
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
      node_group: '',
      quota_gb: null as number | null,
      quota_period: 'month' as QuotaPeriod,
      hwid_limit: null as number | null,
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
  const { label, days, price, price_stars, node_group = '', hwid_limit = null } = plan
  const { quota_gb = null, quota_period = 'month' } = plan
  const form: Form<Values> = useForm<Values, unknown>({
    initial: {
      ...{ label, days, price, price_stars, node_group },
      ...{ quota_gb, quota_period, hwid_limit },
    },
    send: (values, { node_group: group, quota_gb: gb, quota_period: period, ...changes }) =>
      ok(
        api.plans[':code'].$patch({
          param: { code: plan.code },
          json: {
            ...(changes as Partial<ReturnType<typeof sent>>),
            ...(group !== undefined && { node_group: group || null }),
            ...((gb !== undefined || period !== undefined) && quotaSent(values)),
          },
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
