/** Settings of what buyers see: brand, bot, receipts, legal texts, alerts. */
import { useEffect, useId, useRef } from 'preact/hooks'
import { type Answer, api, ok } from '#src/admin-ui/api.ts'
import { boot } from '#src/admin-ui/boot.ts'
import { LinkButton } from '#src/admin-ui/kit/button.tsx'
import {
  NumberField,
  SecretField,
  SelectField,
  TextArea,
  TextField,
} from '#src/admin-ui/kit/field.tsx'
import { type Form, FormBox, useForm } from '#src/admin-ui/kit/form.tsx'
import { Card, Facts } from '#src/admin-ui/kit/page.tsx'
import { Loaded } from '#src/admin-ui/kit/state.tsx'
import { toast } from '#src/admin-ui/kit/toast.tsx'
import { invalidate, useQuery } from '#src/admin-ui/query.ts'
import { common, shell } from '#src/admin-ui/texts.ts'
import { settingsTexts } from './texts.ts'

const saved = (key: string) => () => {
  toast(common().saved)
  invalidate(key)
}

function HueField(p: { label: string; hint: string; value: number; onValue: (n: number) => void }) {
  const id = useId()
  const swatch = useRef<HTMLSpanElement>(null)
  useEffect(() => {
    if (swatch.current) swatch.current.style.background = `oklch(0.55 0.19 ${p.value})`
  }, [p.value])
  return (
    <div class="fld">
      <label for={id}>{p.label}</label>
      <span class="hue">
        <input
          id={id}
          name="brand_hue"
          type="range"
          min={0}
          max={359}
          value={p.value}
          aria-describedby={`${id}-hint`}
          onInput={(event) => p.onValue(event.currentTarget.valueAsNumber)}
        />
        <span ref={swatch} class="swatch" aria-hidden="true" />
        <output class="num" for={id}>
          {p.value}°
        </output>
      </span>
      <small id={`${id}-hint`} class="hint">
        {p.hint}
      </small>
    </div>
  )
}

type Data<K extends 'brand' | 'bot' | 'receipts' | 'alerts'> = Answer<
  (typeof api)['settings'][K]['$get']
>

function BrandForm({ data }: { data: Data<'brand'> }) {
  const t = settingsTexts()
  const form: Form<Data<'brand'>> = useForm({
    initial: data,
    send: () => ok(api.settings.brand.$post({ json: form.changes() })),
    done: saved('brand'),
  })
  return (
    <FormBox form={form}>
      <TextField label={t.brandName} required maxLength={64} {...form.field('brand_name')} />
      <HueField label={t.brandHue} hint={t.brandHint} {...form.field('brand_hue')} />
    </FormBox>
  )
}

export function Brand() {
  const t = settingsTexts()
  const brand = useQuery('brand', () => ok(api.settings.brand.$get()))
  return (
    <Card title={shell().settings.brand} sub={t.brandSub}>
      <Loaded query={brand}>{(data) => <BrandForm data={data} />}</Loaded>
    </Card>
  )
}

function BotForm() {
  const t = settingsTexts()
  const form = useForm({
    initial: { token: '' },
    send: (json) => ok(api.settings.bot.$post({ json })),
    done: ({ username }) => {
      toast(t.botSaved(username))
      form.reset({ token: '' })
      invalidate('bot')
    },
  })
  return (
    <FormBox form={form} action={t.replace}>
      <SecretField label={t.botNewToken} hint={t.botHint} {...form.field('token')} />
    </FormBox>
  )
}

export function Bot() {
  const t = settingsTexts()
  const bot = useQuery('bot', () => ok(api.settings.bot.$get()))
  return (
    <Card title={shell().settings.bot} sub={t.botSub}>
      <Loaded query={bot}>
        {({ username, token_masked }) => (
          <div class="stack">
            <Facts
              list={[
                [t.botName, username === '' ? t.botNone : `@${username}`],
                // What is told of no token.
                token_masked !== '***' && [t.botToken, <span class="mono">{token_masked}</span>],
              ]}
            />
            <BotForm />
          </div>
        )}
      </Loaded>
    </Card>
  )
}

const MODES = ['off', 'auto', 'on'] as const
type Mode = (typeof MODES)[number]

interface ReceiptValues {
  mode: Mode
  email: string
  vat_code: number | null
}

function ReceiptForm({ data }: { data: Data<'receipts'> }) {
  const t = settingsTexts()
  const form: Form<ReceiptValues> = useForm<ReceiptValues, unknown>({
    initial: { ...data, mode: data.mode as Mode, vat_code: data.vat_code as number | null },
    send: () => {
      const { vat_code, ...changes } = form.changes()
      const json = { ...changes, ...(vat_code !== undefined && { vat_code: vat_code as number }) }
      return ok(api.settings.receipts.$post({ json }))
    },
    done: saved('receipts'),
  })
  return (
    <FormBox form={form}>
      <SelectField
        label={t.receiptMode}
        options={MODES.map((value) => ({ value, label: t.receiptModes[value] }))}
        {...form.field('mode')}
      />
      <TextField label={t.receiptEmail} inputMode="email" {...form.field('email')} />
      <NumberField label={t.vat} hint={t.vatHint} min={1} max={12} {...form.field('vat_code')} />
    </FormBox>
  )
}

export function Receipts() {
  const t = settingsTexts()
  const receipts = useQuery('receipts', () => ok(api.settings.receipts.$get()))
  return (
    <Card title={shell().settings.receipts} sub={t.receiptsSub}>
      <Loaded query={receipts}>{(data) => <ReceiptForm data={data} />}</Loaded>
    </Card>
  )
}

type LegalData = Answer<(typeof api)['payments']['legal-settings']['$get']>

/** The service keeps any text, and it stands in the offer as it is. */
const LIKELY = {
  LEGAL_INN: /^(?:\d{10}|\d{12})?$/,
  REFUND_HOURS: /^\d{0,4}$/,
  SUPPORT_EMAIL: /^(?:\S+@\S+\.\S+)?$/,
}

function LegalForm({ data }: { data: LegalData }) {
  const t = settingsTexts()
  const { OFFER_EFFECTIVE_DATE: day, ...initial } = data
  const form: Form<typeof initial> = useForm<typeof initial, unknown>({
    initial,
    send: () => ok(api.payments['legal-settings'].$post({ json: form.changes() })),
    done: saved('legal'),
  })
  /** A field whose hint says when it does not look right. */
  const likely = (name: keyof typeof LIKELY) => {
    const field = form.field(name)
    const odd = !LIKELY[name].test(field.value?.trim() ?? '')
    return { ...field, hint: odd && <span class="fault">{t.unlikely}</span> }
  }
  return (
    <FormBox form={form}>
      {day !== '' && <p class="muted">{t.effective(day)}</p>}
      <TextField label={t.legalName} {...form.field('LEGAL_NAME')} />
      <div class="cols">
        <TextField label={t.legalInn} {...likely('LEGAL_INN')} />
        <TextField label={t.refundHours} {...likely('REFUND_HOURS')} />
      </div>
      <div class="cols">
        <TextField label={t.supportContact} {...form.field('SUPPORT_CONTACT')} />
        <TextField label={t.supportEmail} {...likely('SUPPORT_EMAIL')} />
      </div>
    </FormBox>
  )
}

export function Legal() {
  const t = settingsTexts()
  const legal = useQuery('legal', () => ok(api.payments['legal-settings'].$get()))
  const actions = (
    <>
      <LinkButton small external icon="external" href={`${boot.siteUrl}/offer`}>
        {t.seeOffer}
      </LinkButton>
      <LinkButton small external icon="external" href={`${boot.siteUrl}/privacy`}>
        {t.seePrivacy}
      </LinkButton>
    </>
  )
  return (
    <Card title={shell().settings.legal} sub={t.legalSub} actions={actions}>
      <Loaded query={legal} lines={5}>
        {(data) => <LegalForm data={data} />}
      </Loaded>
    </Card>
  )
}

const BETWEEN_IDS = /[\s,]+/

/** What is no number goes along as it is: the service says so at the field. */
const idsOf = (text: string) =>
  text
    .split(BETWEEN_IDS)
    .filter((part) => part !== '')
    .map((part) => (/^\d+$/.test(part) ? Number(part) : part)) as number[]

function AlertForm({ data }: { data: Data<'alerts'> }) {
  const t = settingsTexts()
  const form = useForm({
    initial: { admin_tg_ids: data.admin_tg_ids.join('\n') },
    send: ({ admin_tg_ids: text }) =>
      ok(api.settings.alerts.$post({ json: { admin_tg_ids: idsOf(text) } })),
    between: BETWEEN_IDS,
    done: saved('alerts'),
  })
  return (
    <FormBox form={form}>
      <TextArea label={t.alertIds} hint={t.alertHint} mono {...form.field('admin_tg_ids')} />
    </FormBox>
  )
}

export function Alerts() {
  const t = settingsTexts()
  const alerts = useQuery('alerts', () => ok(api.settings.alerts.$get()))
  return (
    <Card title={shell().settings.alerts} sub={t.alertsSub}>
      <Loaded query={alerts}>{(data) => <AlertForm data={data} />}</Loaded>
    </Card>
  )
}
