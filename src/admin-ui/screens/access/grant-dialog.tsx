/** Gives a user a plan on a node. */
import { api, ok } from '#src/admin-ui/api.ts'
import { date } from '#src/admin-ui/format.ts'
import { Button } from '#src/admin-ui/kit/button.tsx'
import { Dialog } from '#src/admin-ui/kit/dialog.tsx'
import { TextField } from '#src/admin-ui/kit/field.tsx'
import { FormBox, useForm } from '#src/admin-ui/kit/form.tsx'
import { toast } from '#src/admin-ui/kit/toast.tsx'
import { common } from '#src/admin-ui/texts.ts'
import { useChoices } from './choices.ts'
import { PlaceFields } from './place-fields.tsx'
import { accessChanged, placeOf, type Subscription } from './subscription.ts'
import { OF_PLAN, TermFields, termOf } from './term-fields.tsx'
import { access } from './texts.ts'

function grantedText(granted: Subscription, place: string, isGroup: boolean): string {
  const t = access()
  if (granted.endless) return t.grantedEndless(place, isGroup)
  if (granted.start) return t.grantedLater(place, isGroup)
  return t.granted(place, date(granted.expires_at), isGroup)
}

/** Without `tgId` it asks for whom; `done` is told. */
export function GrantDialog(p: {
  tgId?: number
  close: () => void
  done?: (tgId: string) => void
}) {
  const t = access()
  const { placed } = useChoices()
  const form = useForm({
    initial: { tg_id: String(p.tgId ?? ''), node: '', plan: '', ...OF_PLAN },
    once: true,
    send: ({ tg_id, endless, first_use, start_by, ...place }) =>
      ok(
        api.users[':tg_id'].grant.$post({
          param: { tg_id: encodeURIComponent(tg_id.trim() || '-') },
          json: { ...placed(place), ...termOf({ endless, first_use, start_by }) },
        }),
      ),
    done: (granted) => {
      const { node_group } = granted
      const place = placeOf(granted)
      const isGroup = node_group !== undefined
      toast(grantedText(granted, place, isGroup))
      accessChanged()
      p.close()
      p.done?.(String(granted.tg_id))
    },
  })
  return (
    <Dialog title={t.grant} onClose={p.close}>
      <FormBox
        form={form}
        action={t.grant}
        always
        extra={<Button onClick={p.close}>{common().cancel}</Button>}
      >
        {p.tgId === undefined && (
          <TextField label={t.tgId} hint={t.tgIdHint} focus required {...form.field('tg_id')} />
        )}
        <div class="cols">
          <PlaceFields field={form.field} />
        </div>
        <TermFields form={form} />
      </FormBox>
    </Dialog>
  )
}
