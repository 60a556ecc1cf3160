/** Makes a link by which a user pays. */
import { useState } from 'preact/hooks'
import { api, ok, paged } from '#src/admin-ui/api.ts'
import { userName } from '#src/admin-ui/format.ts'
import { Button, LinkButton } from '#src/admin-ui/kit/button.tsx'
import { CopyLine } from '#src/admin-ui/kit/copy-line.tsx'
import { Dialog } from '#src/admin-ui/kit/dialog.tsx'
import { SelectField, TextField } from '#src/admin-ui/kit/field.tsx'
import { FormBox, useForm } from '#src/admin-ui/kit/form.tsx'
import { Note } from '#src/admin-ui/kit/page.tsx'
import { QrCode } from '#src/admin-ui/kit/qr.tsx'
import { invalidate, useQuery } from '#src/admin-ui/query.ts'
import { useWorkingProviders } from '#src/admin-ui/sales.ts'
import { common } from '#src/admin-ui/texts.ts'
import { useChoices } from './choices.ts'
import { PlaceFields } from './place-fields.tsx'
import { placeOf } from './subscription.ts'
import { access } from './texts.ts'

/** The user's subscriptions that a payment can lengthen. */
function useRenewable(tgId: string) {
  const known = /^-?[1-9]\d*$/.test(tgId)
  const { data } = useQuery(`subscriptions to renew ${known ? tgId : ''}`, async () =>
    known
      ? (await paged(api.subscriptions.$get({ query: { tg_id: tgId, limit: '100' } }))).rows
      : [],
  )
  if (!known) return []
  return (data ?? []).filter((row) => row.active && !row.endless && String(row.tg_id) === tgId)
}

const nothing = { tg_id: '', node: '', plan: '', provider: '', renews: '' }

function LinkForm(p: { tgId: number | undefined; close: () => void; made: (url: string) => void }) {
  const t = access()
  const { placed } = useChoices()
  const providers = useWorkingProviders()
  const form = useForm({
    initial: { ...nothing, tg_id: String(p.tgId ?? '') },
    send: ({ tg_id, node, plan, provider, renews }) =>
      ok(
        api.payments.$post({
          json: {
            tg_id: Number(tg_id),
            provider: provider || (providers?.[0]?.id ?? ''),
            ...(renews ? { plan, renews } : placed({ node, plan })),
          },
        }),
      ),
    done: ({ pay_url }) => {
      invalidate('payments', 'users', 'stats')
      p.made(pay_url)
    },
  })
  const renewable = useRenewable(form.values.tg_id.trim())
  return (
    <FormBox
      form={form}
      action={t.create}
      always
      extra={<Button onClick={p.close}>{common().cancel}</Button>}
    >
      <p class="t2">{t.payLinkText}</p>
      {providers?.length === 0 && <Note tone="warn">{t.noProviders}</Note>}
      {p.tgId === undefined && (
        <TextField
          label={t.tgId}
          hint={t.tgIdHint}
          focus
          required
          {...form.field('tg_id')}
          onValue={(tg_id) => form.set({ tg_id, renews: '' })}
        />
      )}
      {renewable.length > 0 && (
        <SelectField
          label={t.renews}
          empty={t.renewsNothing}
          options={renewable.map((row) => ({
            value: row.uuid,
            label: `${placeOf(row)}, ${row.plan_label} (${userName(row)})`,
          }))}
          {...form.field('renews')}
        />
      )}
      <div class="cols">
        <PlaceFields field={form.field} withoutNode={form.values.renews !== ''} />
      </div>
      {providers && providers.length > 1 && (
        <SelectField
          label={t.provider}
          options={providers.map(({ id, label }) => ({ value: id, label }))}
          {...form.field('provider')}
          value={form.values.provider || (providers[0]?.id ?? '')}
        />
      )}
    </FormBox>
  )
}

/** Without `tgId` it asks for whom. */
export function PayLinkDialog(p: { tgId?: number; close: () => void }) {
  const t = access()
  const [url, setUrl] = useState<string | null>(null)
  return (
    <Dialog title={url === null ? t.payLinkTitle : t.payLinkReady} onClose={p.close}>
      {url === null ? (
        <LinkForm tgId={p.tgId} close={p.close} made={setUrl} />
      ) : (
        <div class="stack">
          <CopyLine label={t.payUrl} text={url} />
          <QrCode text={url} label={t.payUrl} />
          <div class="row end">
            <Button onClick={() => setUrl(null)}>{t.another}</Button>
            <LinkButton href={url} external icon="external">
              {t.open}
            </LinkButton>
            <Button kind="primary" onClick={p.close}>
              {t.done}
            </Button>
          </div>
        </div>
      )}
    </Dialog>
  )
}
