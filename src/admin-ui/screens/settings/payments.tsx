/** What can be paid with, and whether anything is sold at all. */
import { useState } from 'preact/hooks'
import { type Answer, api, ok, type Row } from '#src/admin-ui/api.ts'
import { lang } from '#src/admin-ui/i18n.ts'
import { Badge } from '#src/admin-ui/kit/badge.tsx'
import { Button } from '#src/admin-ui/kit/button.tsx'
import { confirm, Dialog } from '#src/admin-ui/kit/dialog.tsx'
import { SecretField, SelectField, Switch, TextField } from '#src/admin-ui/kit/field.tsx'
import { FormBox, useForm } from '#src/admin-ui/kit/form.tsx'
import { Card, Note } from '#src/admin-ui/kit/page.tsx'
import { Loaded } from '#src/admin-ui/kit/state.tsx'
import { toast } from '#src/admin-ui/kit/toast.tsx'
import { invalidate, useAction, useQuery } from '#src/admin-ui/query.ts'
import { useProviders, useSales, useUnpayable } from '#src/admin-ui/sales.ts'
import { common, shell } from '#src/admin-ui/texts.ts'
import { settingsTexts } from './texts.ts'

type Provider = Row<(typeof api)['payments']['providers']['$get']>

const refresh = () => {
  toast(common().saved)
  // Saving credentials switches sales on.
  invalidate('payment providers', 'provider ', 'plan-settings', 'bot')
}

type Settings = Answer<(typeof api)['payments']['providers'][':provider_id']['settings']['$get']>

/** The form that a provider says it has. */
function SettingsForm({ data, close }: { data: Settings; close: () => void }) {
  const { id, fields } = data
  const form = useForm({
    initial: Object.fromEntries(fields.map(({ name, value }) => [name, value])),
    send: (json) =>
      ok(
        api.payments.providers[':provider_id'].settings.$post({ param: { provider_id: id }, json }),
      ),
    done: () => {
      refresh()
      close()
    },
  })
  return (
    <FormBox form={form}>
      {fields.length > 1 && fields.some(({ secret, is_set }) => secret && is_set) && (
        <Note>{settingsTexts().secretKept}</Note>
      )}
      {fields.map(({ name, label, secret, options, is_address }, i) => {
        const shared = { key: name, label: label[lang()], ...form.field(name) }
        if (options) {
          const choices = options.map((one) => ({ value: one.value, label: one.label[lang()] }))
          return <SelectField {...shared} options={choices} />
        }
        if (secret) return <SecretField {...shared} focus={i === 0} />
        return is_address ? (
          <TextField {...shared} mono inputMode="url" />
        ) : (
          <TextField {...shared} focus={i === 0} />
        )
      })}
    </FormBox>
  )
}

function SetUp({ id, close }: { id: string; close: () => void }) {
  const param = { provider_id: id }
  const query = useQuery(`provider ${id}`, () =>
    ok(api.payments.providers[':provider_id'].settings.$get({ param })),
  )
  return (
    <Loaded query={query}>
      {(data) =>
        data.note ? (
          <p class="t2">{data.note[lang()]}</p>
        ) : (
          <SettingsForm data={data} close={close} />
        )
      }
    </Loaded>
  )
}

function ProviderLine({ provider, setUp }: { provider: Provider; setUp: () => void }) {
  const t = settingsTexts()
  const { id, label, enabled, configured } = provider
  const turn = useAction(async (on: boolean) => {
    const param = { provider_id: id }
    await ok(api.payments.providers[':provider_id'].$post({ param, json: { enabled: on } }))
    refresh()
  })
  return (
    <li class="setting-line">
      <b>{label}</b>
      <Badge tone={configured ? 'ok' : 'muted'}>
        {configured ? t.configured : t.notConfigured}
      </Badge>
      <Button small label={`${common().edit}: ${label}`} onClick={setUp}>
        {common().edit}
      </Button>
      <label class="switch">
        <input
          type="checkbox"
          role="switch"
          aria-label={t.switchOn(label)}
          aria-checked={enabled}
          checked={enabled}
          disabled={turn.busy}
          onChange={(event) => {
            // The service has the last word.
            event.currentTarget.checked = enabled
            void turn.run(!enabled)
          }}
        />
      </label>
    </li>
  )
}

function Sales() {
  const t = settingsTexts()
  const settings = useSales()
  const turn = useAction(async (payments_enabled: boolean) => {
    const asked = { title: t.salesOffTitle, text: t.salesOffText, action: t.salesOffAction }
    if (!payments_enabled && !(await confirm({ ...asked, danger: true }))) return
    await ok(api.payments['plan-settings'].$post({ json: { payments_enabled } }))
    toast(common().saved)
    invalidate('plan-settings')
  })
  return (
    <Card title={shell().settings.payments}>
      <Loaded query={settings} lines={1}>
        {({ payments_enabled }) => (
          <Switch
            key={`${payments_enabled} ${turn.busy}`}
            label={t.salesOn}
            hint={t.salesHint}
            name="payments_enabled"
            value={payments_enabled}
            onValue={turn.run}
            disabled={turn.busy}
          />
        )}
      </Loaded>
    </Card>
  )
}

/** Who may buy without a link or the bot. */
function GuestSales() {
  const t = settingsTexts()
  const sales = useQuery('sales', () => ok(api.settings.sales.$get()))
  const turn = useAction(async (guest_sales: boolean) => {
    await ok(api.settings.sales.$post({ json: { guest_sales } }))
    toast(common().saved)
    invalidate('sales')
  })
  return (
    <Card title={t.guests}>
      <Loaded query={sales} lines={1}>
        {({ guest_sales }) => (
          <Switch
            key={`${guest_sales} ${turn.busy}`}
            label={t.guestsOn}
            hint={t.guestsHint}
            name="guest_sales"
            value={guest_sales}
            onValue={turn.run}
            disabled={turn.busy}
          />
        )}
      </Loaded>
    </Card>
  )
}

export function PaymentSettings() {
  const t = settingsTexts()
  const providers = useProviders()
  const unpayable = useUnpayable()
  const [open, setOpen] = useState<Provider | null>(null)
  const close = () => setOpen(null)
  return (
    <>
      {unpayable && <Note tone="warn">{unpayable}</Note>}
      <Sales />
      <GuestSales />
      <Card title={t.providers} sub={t.providersSub} flush>
        <Loaded query={providers}>
          {(rows) => (
            <ul class="setting-lines">
              {rows.map((provider) => (
                <ProviderLine
                  key={provider.id}
                  provider={provider}
                  setUp={() => setOpen(provider)}
                />
              ))}
            </ul>
          )}
        </Loaded>
      </Card>
      {open && (
        <Dialog title={t.setUp(open.label)} onClose={close}>
          <SetUp id={open.id} close={close} />
        </Dialog>
      )}
    </>
  )
}
