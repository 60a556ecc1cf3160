/** The plans: what is sold, for how much, in which order. */
import { useState } from 'preact/hooks'
import { api, ok } from '#src/admin-ui/api.ts'
import { money, number } from '#src/admin-ui/format.ts'
import { Button, IconButton, LinkButton } from '#src/admin-ui/kit/button.tsx'
import { confirm } from '#src/admin-ui/kit/dialog.tsx'
import { Menu } from '#src/admin-ui/kit/menu.tsx'
import { Card, Note, PageHeader } from '#src/admin-ui/kit/page.tsx'
import { Reorder } from '#src/admin-ui/kit/reorder.tsx'
import { Empty, Loaded } from '#src/admin-ui/kit/state.tsx'
import { toast, toastError } from '#src/admin-ui/kit/toast.tsx'
import { useNodeGroups } from '#src/admin-ui/node-groups.ts'
import { invalidate, useAction, useQuery } from '#src/admin-ui/query.ts'
import { quotaText } from '#src/admin-ui/quotas.tsx'
import { href } from '#src/admin-ui/router.ts'
import { useSales, useUnpayable } from '#src/admin-ui/sales.ts'
import { common } from '#src/admin-ui/texts.ts'
import { CreatePlan, EditPlan } from './form.tsx'
import { Packs } from './packs.tsx'
import { type Plan, planTexts } from './texts.ts'
import './plans.css'

const MONTH_DAYS = 30

function usePlanActions() {
  const t = planTexts()
  const archive = useAction(async (plan: Plan) => {
    if (!plan.archived) {
      const asked = { title: t.archiveTitle(plan.label), text: t.archiveText, action: t.archiveOne }
      if (!(await confirm(asked))) return
    }
    const param = { code: plan.code }
    await ok(api.plans[':code'].$patch({ param, json: { archived: !plan.archived } }))
    toast(plan.archived ? t.restored(plan.label) : t.archived(plan.label))
    invalidate('plans')
  })
  const remove = useAction(async (plan: Plan) => {
    const title = t.removeTitle(plan.label)
    if (!(await confirm({ title, text: t.removeText, action: t.remove, danger: true }))) return
    const { archived } = await ok(api.plans[':code'].$delete({ param: { code: plan.code } }))
    toast(archived ? t.archived(plan.label) : t.removed(plan.label))
    invalidate('plans')
  })
  return { archive: archive.run, remove: remove.run }
}

/** How much traffic it has, and for how many devices it is. */
function limitsOf({ quota_gb, quota_period = 'none', hwid_limit }: Plan): string[] {
  return [
    ...(quota_gb === undefined ? [] : [quotaText(quota_gb, quota_period)]),
    ...(hwid_limit === undefined ? [] : [planTexts().devicesUpTo(hwid_limit)]),
  ]
}

function PlanRow({ plan, edit }: { plan: Plan; edit: (plan: Plan) => void }) {
  const t = planTexts()
  const { archive, remove } = usePlanActions()
  const { labelOf } = useNodeGroups()
  const isEndless = plan.days === 0
  const month = Math.round((plan.price * MONTH_DAYS) / plan.days)
  return (
    <div class="plan-row">
      <div class="plan-name">
        <b>{plan.label}</b>
        <small class="muted">
          <span class="mono">{plan.code}</span> · {isEndless ? t.endless : common().days(plan.days)}
          {plan.node_group !== undefined && ` · ${labelOf(plan.node_group)}`}
          {limitsOf(plan).map((limit) => ` · ${limit}`)}
        </small>
      </div>
      <div class="plan-price">
        <b class="num">{money(plan.price, plan.currency)}</b>
        <small class="muted">
          {isEndless ? t.notSold : t.perMonth(money(month, plan.currency))}
        </small>
      </div>
      <small class="plan-stars muted">
        {plan.price_stars === null ? t.noStars : t.stars(number(plan.price_stars))}
      </small>
      <div class="row">
        <IconButton icon="edit" label={t.edit(plan.label)} onClick={() => edit(plan)} />
        <Menu
          label={t.actions(plan.label)}
          items={[
            {
              label: plan.archived ? t.restore : t.archiveOne,
              icon: plan.archived ? 'play' : 'pause',
              onClick: () => archive(plan),
            },
            { label: t.remove, icon: 'trash', danger: true, onClick: () => remove(plan) },
          ]}
        />
      </div>
    </div>
  )
}

/** Those on sale in their new order, then those that are archived: the service wants every plan. */
const saveOrder = (onSale: string[], all: Plan[]) =>
  ok(
    api.plans.reorder.$post({
      json: {
        codes: [...onSale, ...all.filter((plan) => plan.archived).map((plan) => plan.code)],
      },
    }),
  )

function PausedNote() {
  const t = planTexts()
  const stopped = useSales().data?.payments_enabled === false
  const unpayable = useUnpayable()
  if (!stopped && unpayable === null) return null
  return (
    <Note tone="warn">
      <div class="row between">
        {stopped ? t.paused : unpayable}
        <LinkButton small href={href('/settings/payments')}>
          {t.toPayments}
        </LinkButton>
      </div>
    </Note>
  )
}

export function Plans() {
  const t = planTexts()
  const plans = useQuery('plans', () => ok(api.plans.$get()))
  const [open, setOpen] = useState<Plan | 'new' | null>(null)
  const onSale = plans.data?.filter((plan) => !plan.archived)
  const create = (
    <Button kind="primary" icon="plus" onClick={() => setOpen('new')}>
      {t.create}
    </Button>
  )
  return (
    <>
      <PageHeader title={t.title} sub={onSale ? t.sub(onSale.length) : ' '}>
        {create}
      </PageHeader>
      <PausedNote />
      <Card title={t.onSale} sub={t.onSaleSub} flush>
        <Loaded query={plans} lines={4} tall>
          {(all) =>
            onSale?.length === 0 ? (
              <Empty title={t.none} hint={t.noneHint} icon="plans" />
            ) : (
              <Reorder
                label={t.onSale}
                items={all.filter((plan) => !plan.archived)}
                itemKey={(plan) => plan.code}
                itemName={(plan) => plan.label}
                onOrder={(codes) =>
                  saveOrder(codes, all)
                    .catch(toastError)
                    .then(() => plans.reload())
                }
              >
                {(plan) => <PlanRow plan={plan} edit={setOpen} />}
              </Reorder>
            )
          }
        </Loaded>
      </Card>
      {plans.data?.some((plan) => plan.archived) && (
        <Card title={t.archive} sub={t.archiveSub} flush>
          <ul class="archived-plans">
            {plans.data
              .filter((plan) => plan.archived)
              .map((plan) => (
                <li key={plan.code}>
                  <PlanRow plan={plan} edit={setOpen} />
                </li>
              ))}
          </ul>
        </Card>
      )}
      <Packs wanted={plans.data?.some((plan) => plan.quota_gb !== undefined) ?? false} />
      {open === 'new' && <CreatePlan close={() => setOpen(null)} />}
      {open !== null && open !== 'new' && <EditPlan plan={open} close={() => setOpen(null)} />}
    </>
  )
}
