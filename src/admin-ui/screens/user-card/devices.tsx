/** The devices of a user, and how many they may have. */
import { api, ok } from '#src/admin-ui/api.ts'
import { number, relative, userName } from '#src/admin-ui/format.ts'
import { Button, IconButton } from '#src/admin-ui/kit/button.tsx'
import { confirm } from '#src/admin-ui/kit/dialog.tsx'
import { NumberField } from '#src/admin-ui/kit/field.tsx'
import { useForm } from '#src/admin-ui/kit/form.tsx'
import { Note } from '#src/admin-ui/kit/page.tsx'
import { toast } from '#src/admin-ui/kit/toast.tsx'
import { invalidate, useAction } from '#src/admin-ui/query.ts'
import { useChoices } from '#src/admin-ui/screens/access/choices.ts'
import { isRunning } from '#src/admin-ui/screens/access/state.tsx'
import { common } from '#src/admin-ui/texts.ts'
import { type CardUser, cardTexts } from './texts.ts'

const one = api.users[':tg_id']
type Device = CardUser['devices'][number]

function nameOf(device: Device): string {
  const { device_model, device_os } = device
  return [device_model, device_os].filter(Boolean).join(', ') || cardTexts().unknownDevice
}

function Line({ user, device }: { user: CardUser; device: Device }) {
  const t = cardTexts()
  const name = nameOf(device)
  const remove = useAction(async () => {
    const title = t.removeDeviceTitle(name, userName(user))
    const asked = { title, text: t.removeDeviceText, action: t.removeAction, danger: true }
    if (!(await confirm(asked))) return
    const param = { tg_id: String(user.tg_id), device_id: String(device.id) }
    await ok(one.devices[':device_id'].$delete({ param }))
    toast(t.deviceRemoved)
    invalidate('user ', 'users')
  })
  return (
    <li>
      <div>
        <b>{name}</b>
        <small>
          {[device.user_agent, t.seen(relative(device.last_seen_at))].filter(Boolean).join(' · ')}
        </small>
        <small class="mono">{device.hwid}</small>
      </div>
      <IconButton
        icon="trash"
        label={t.removeDevice(name)}
        disabled={remove.busy}
        onClick={remove.run}
      />
    </li>
  )
}

/** The largest limit of the plans that a user has now; null where none of them has one. */
function useLimitOfPlans({ subscriptions }: CardUser): number | null {
  const { limitOf } = useChoices()
  const limits = subscriptions.filter(isRunning).map(({ plan }) => limitOf(plan))
  return Math.max(0, ...limits) || null
}

function LimitForm({ user, ofPlans }: { user: CardUser; ofPlans: number | null }) {
  const t = cardTexts()
  const form = useForm({
    initial: { limit: user.hwid_limit },
    send: ({ limit }) =>
      ok(one['hwid-limit'].$post({ param: { tg_id: String(user.tg_id) }, json: { limit } })),
    done: () => {
      toast(t.limitSaved)
      invalidate('user ')
    },
  })
  // Set by a backup of another panel: saving 0 here means the general limit.
  const hint = user.hwid_limit === 0 ? t.limitNone : ofPlans === null ? t.limitHint : t.limitOfPlan
  return (
    <form
      class="row limit"
      noValidate
      data-changed={form.changed || undefined}
      onSubmit={(event) => {
        event.preventDefault()
        void form.submit()
      }}
    >
      <NumberField
        label={t.limit}
        hint={hint(ofPlans ?? user.hwid_fallback_limit)}
        min={1}
        {...form.field('limit')}
      />
      <span class="beside-field">
        <Button busy={form.busy} disabled={!form.changed}>
          {common().save}
        </Button>
      </span>
      {form.error !== null && <Note tone="bad">{form.error}</Note>}
    </form>
  )
}

export function Devices({ user }: { user: CardUser }) {
  const t = cardTexts()
  const ofPlans = useLimitOfPlans(user)
  const limit = user.hwid_limit ?? ofPlans ?? user.hwid_fallback_limit
  return (
    <section aria-label={t.devices}>
      <div class="row between">
        <h3>{t.devices}</h3>
        <span class="muted num">{t.deviceCount(number(user.devices.length), number(limit))}</span>
      </div>
      {user.devices.length === 0 ? (
        <p class="t2">{t.noDevices}</p>
      ) : (
        <ul class="lines">
          {user.devices.map((device) => (
            <Line key={device.id} user={user} device={device} />
          ))}
        </ul>
      )}
      <LimitForm key={String(user.hwid_limit)} user={user} ofPlans={ofPlans} />
    </section>
  )
}
