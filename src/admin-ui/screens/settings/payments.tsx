/** What can be paid with, and whether anything is sold at all. */
import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { type Answer, api, ok, type Row } from '#src/admin-ui/api.ts'
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

function FormA({
  data,
  close,
}: {
  data: { shop_id: string; has_secret: boolean }
  close: () => void
}) {
  const t = settingsTexts()
  const form = useForm({
    initial: { shop_id: data.shop_id, secret_key: '' },
    send: (json) => ok(api.payments['provider-a-settings'].$post({ json })),
    done: () => {
      refresh()
      close()
    },
  })
  return (
    <FormBox form={form}>
      {data.has_secret && <Note>{t.secretKept}</Note>}
      <TextField label={t.shopId} focus {...form.field('shop_id')} />
      <SecretField label={t.secretKey} {...form.field('secret_key')} />
    </FormBox>
  )
}

type DataB = Answer<(typeof api)['payments']['provider-b-settings']['$get']>

const PRESETS = ['platega', 'cispay', 'generic'] as const

function FormB({ data, close }: { data: DataB; close: () => void }) {
  const t = settingsTexts()
  const { merchant_id, api_url, has_secret } = data
  const preset = PRESETS.find((one) => one === data.preset) ?? 'platega'
  const form = useForm({
    initial: { preset, merchant_id, api_url, secret: '' },
    send: (json) => ok(api.payments['provider-b-settings'].$post({ json })),
    done: () => {
      refresh()
      close()
    },
  })
  return (
    <FormBox form={form}>
      {has_secret && <Note>{t.secretKept}</Note>}
      <SelectField
        label={t.preset}
        options={PRESETS.map((value) => ({ value, label: t.presets[value] }))}
        {...form.field('preset')}
      />
      <TextField label={t.merchantId} {...form.field('merchant_id')} />
      <TextField label={t.apiUrl} mono inputMode="url" {...form.field('api_url')} />
      <SecretField label={t.secretKey} {...form.field('secret')} />
    </FormBox>
  )
}

const SetUpA = ({ close }: { close: () => void }) => {
  const query = useQuery('provider a', () => ok(api.payments['provider-a-settings'].$get()))
  return <Loaded query={query}>{(data) => <FormA data={data} close={close} />}</Loaded>
}

const SetUpB = ({ close }: { close: () => void }) => {
  const query = useQuery('provider b', () => ok(api.payments['provider-b-settings'].$get()))
  return <Loaded query={query}>{(data) => <FormB data={data} close={close} />}</Loaded>
}

function SetUpCryptobot({ close }: { close: () => void }) {
  const t = settingsTexts()
  const param = { provider_id: 'cryptobot' }
  const form = useForm({
    initial: { token: '' },
    send: (json) => ok(api.payments.providers[':provider_id'].$post({ param, json })),
    done: () => {
      refresh()
      close()
    },
  })
  return (
    <FormBox form={form}>
      <SecretField label={t.cryptoToken} focus {...form.field('token')} />
    </FormBox>
  )
}

const StarsNote = () => <p class="t2">{settingsTexts().starsText}</p>

const SET_UP: Record<string, (props: { close: () => void }) => ComponentChildren> = {
  provider_a: SetUpA,
  provider_b: SetUpB,
  cryptobot: SetUpCryptobot,
  stars: StarsNote,
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

export function PaymentSettings() {
  const t = settingsTexts()
  const providers = useProviders()
  const unpayable = useUnpayable()
  const [open, setOpen] = useState<Provider | null>(null)
  const SetUp = open && SET_UP[open.id]
  const close = () => setOpen(null)
  return (
    <>
      {unpayable && <Note tone="warn">{unpayable}</Note>}
      <Sales />
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
      {open && SetUp && (
        <Dialog title={t.setUp(open.label)} onClose={close}>
          <SetUp close={close} />
        </Dialog>
      )}
    </>
  )
}
