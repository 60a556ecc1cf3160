/** What an admin does to one subscription: a menu's items and the dialogs behind them. */
import { useState } from 'preact/hooks'
import { api, ok } from '#src/admin-ui/api.ts'
import { boot } from '#src/admin-ui/boot.ts'
import { ENDLESS, isWaiting } from '#src/admin-ui/days-left.ts'
import { bytes, date } from '#src/admin-ui/format.ts'
import { Button } from '#src/admin-ui/kit/button.tsx'
import { confirm, Dialog } from '#src/admin-ui/kit/dialog.tsx'
import { NumberField, Segments, Switch, TextField } from '#src/admin-ui/kit/field.tsx'
import { FormBox, useForm } from '#src/admin-ui/kit/form.tsx'
import { Menu, type MenuItem } from '#src/admin-ui/kit/menu.tsx'
import { Note } from '#src/admin-ui/kit/page.tsx'
import { toast } from '#src/admin-ui/kit/toast.tsx'
import { useNodeGroups } from '#src/admin-ui/node-groups.ts'
import { useAction } from '#src/admin-ui/query.ts'
import { common } from '#src/admin-ui/texts.ts'
import { fieldTime, timestampOfField } from '#src/admin-ui/zone.ts'
import { GroupDialog } from './group-dialog.tsx'
import { MoveDialog } from './move-dialog.tsx'
import { PlanDialog } from './plan-dialog.tsx'
import { isRunning, stateOf } from './state.tsx'
import { accessChanged, nameOf, type Subscription } from './subscription.ts'
import { access } from './texts.ts'
import { TrafficDialog } from './traffic-dialog.tsx'

const one = api.subscriptions[':uuid']

interface DialogProps {
  subscription: Subscription
  close: () => void
}

const USUAL_DAYS = ['7', '30', '90', '365'] as const

function ExtendDialog({ subscription, close }: DialogProps) {
  const t = access()
  const form = useForm({
    initial: { days: 30 as number | null },
    once: true,
    send: ({ days }) =>
      ok(one.extend.$post({ param: { uuid: subscription.uuid }, json: { days: days as number } })),
    done: (extended) => {
      toast(isWaiting(extended) ? t.extendedLater : t.extended(date(extended.expires_at)))
      accessChanged()
      close()
    },
  })
  return (
    <Dialog title={t.extendTitle(nameOf(subscription))} onClose={close}>
      <FormBox
        form={form}
        action={t.extend}
        always
        extra={<Button onClick={close}>{common().cancel}</Button>}
      >
        <NumberField label={t.days} min={1} max={3650} unit={t.daysUnit} {...form.field('days')} />
        <Segments
          label={t.quick}
          value={String(form.values.days) as (typeof USUAL_DAYS)[number]}
          options={USUAL_DAYS.map((n) => ({ value: n, label: common().days(Number(n)) }))}
          onValue={(n) => form.set({ days: Number(n) })}
        />
      </FormBox>
    </Dialog>
  )
}

function EndDialog({ subscription, close }: DialogProps) {
  const t = access()
  const form = useForm({
    initial: {
      endless: subscription.endless === true,
      expires_at: subscription.endless ? '' : fieldTime(subscription.expires_at),
    },
    send: ({ endless, expires_at }) =>
      ok(
        one.$patch({
          param: { uuid: subscription.uuid },
          json: { expires_at: endless ? ENDLESS : timestampOfField(expires_at) },
        }),
      ),
    done: ({ expires_at, endless }) => {
      toast(endless ? t.endRemoved : t.endChanged(date(expires_at)))
      accessChanged()
      close()
    },
  })
  const { endless, expires_at: end } = form.values
  const isPast = !endless && Date.parse(`${timestampOfField(end)}Z`) <= Date.now()
  return (
    <Dialog title={t.editTitle(nameOf(subscription))} onClose={close}>
      <FormBox
        form={form}
        {...(isPast && { danger: true, action: t.endNow })}
        extra={<Button onClick={close}>{common().cancel}</Button>}
      >
        {!endless && (
          <TextField
            label={t.endsAt}
            hint={t.endsHint(boot.timezone)}
            type="datetime-local"
            focus
            {...form.field('expires_at')}
          />
        )}
        <Switch label={t.endless} {...form.field('endless')} />
        {isPast && <Note tone="warn">{t.endPast}</Note>}
      </FormBox>
    </Dialog>
  )
}

async function hold(subscription: Subscription) {
  const t = access()
  const text = t.holdText
  if (!(await confirm({ title: t.holdTitle(nameOf(subscription)), text, action: t.hold }))) return
  await ok(one.hold.$post({ param: { uuid: subscription.uuid } }))
  toast(t.held)
  accessChanged()
}

async function resume(subscription: Subscription) {
  const t = access()
  const { expires_at } = await ok(one.resume.$post({ param: { uuid: subscription.uuid } }))
  if (subscription.endless) toast(t.resumedEndless)
  else toast(isWaiting(subscription) ? t.resumedLater : t.resumed(date(expires_at)))
  accessChanged()
}

async function disable(subscription: Subscription) {
  const t = access()
  const title = t.disableTitle(nameOf(subscription))
  if (!(await confirm({ title, text: t.disableText, action: t.disable }))) return
  await ok(one.disable.$post({ param: { uuid: subscription.uuid } }))
  toast(t.disabled)
  accessChanged()
}

async function enable({ uuid }: Subscription) {
  await ok(one.enable.$post({ param: { uuid } }))
  toast(access().enabled)
  accessChanged()
}

async function reset(subscription: Subscription) {
  const t = access()
  const { uuid, up, down, used_bytes } = subscription
  const all = bytes(up + down)
  const title = t.resetTitle(nameOf(subscription))
  const text =
    used_bytes === undefined ? t.resetText(all) : t.resetQuotaText(all, bytes(used_bytes))
  if (!(await confirm({ title, text, action: t.reset }))) return
  const answered = await ok(one['reset-traffic'].$post({ param: { uuid } }))
  toast(answered.ok ? t.resetDone : t.resetLater)
  accessChanged()
}

async function revoke(subscription: Subscription) {
  const t = access()
  const title = t.revokeTitle(nameOf(subscription))
  if (!(await confirm({ title, text: t.revokeText, action: t.revoke, danger: true }))) return
  await ok(one.revoke.$post({ param: { uuid: subscription.uuid } }))
  toast(t.revoked)
  accessChanged()
}

/** The button with all that can be done to a subscription in its state; nothing once it is revoked. */
export function SubscriptionMenu({ subscription }: { subscription: Subscription }) {
  const t = access()
  const [open, setOpen] = useState<'extend' | 'end' | 'plan' | 'move' | 'group' | 'traffic' | null>(
    null,
  )
  const { groups } = useNodeGroups()
  const act = useAction((work: (s: Subscription) => Promise<void>) => work(subscription))
  const state = stateOf(subscription)
  if (state === 'revoked') return null
  const close = () => setOpen(null)
  const hasBegun = !subscription.endless && !isWaiting(subscription)
  const mayChangePlan = isRunning(subscription) && hasBegun
  const items: (MenuItem | false)[] = [
    !subscription.endless && {
      label: t.extend,
      icon: 'plus',
      onClick: () => setOpen('extend'),
    },
    { label: t.edit, icon: 'calendar', onClick: () => setOpen('end') },
    mayChangePlan && { label: t.plan, icon: 'plans', onClick: () => setOpen('plan') },
    isRunning(subscription) && { label: t.hold, icon: 'pause', onClick: () => act.run(hold) },
    state === 'held' && { label: t.resume, icon: 'play', onClick: () => act.run(resume) },
    state === 'disabled'
      ? { label: t.enable, icon: 'play', onClick: () => act.run(enable) }
      : { label: t.disable, icon: 'lock', onClick: () => act.run(disable) },
    { label: t.move, icon: 'nodes', onClick: () => setOpen('move') },
    groups.length > 0 && { label: t.group, icon: 'nodes', onClick: () => setOpen('group') },
    { label: t.traffic, icon: 'traffic', onClick: () => setOpen('traffic') },
    { label: t.reset, icon: 'refresh', onClick: () => act.run(reset) },
    { label: t.revoke, icon: 'ban', danger: true, onClick: () => act.run(revoke) },
  ]
  return (
    <>
      <Menu label={t.actionsOf(nameOf(subscription))} items={items} />
      {open === 'extend' && <ExtendDialog subscription={subscription} close={close} />}
      {open === 'end' && <EndDialog subscription={subscription} close={close} />}
      {open === 'plan' && <PlanDialog subscription={subscription} close={close} />}
      {open === 'move' && <MoveDialog subscription={subscription} close={close} />}
      {open === 'traffic' && <TrafficDialog subscription={subscription} close={close} />}
      {open === 'group' && <GroupDialog subscription={subscription} close={close} />}
    </>
  )
}
