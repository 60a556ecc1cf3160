/** Adds a node that exists already, or changes one. */
import { api, ok } from '#src/admin-ui/api.ts'
import { Button } from '#src/admin-ui/kit/button.tsx'
import { Dialog } from '#src/admin-ui/kit/dialog.tsx'
import { NumberField, SelectField, TextField } from '#src/admin-ui/kit/field.tsx'
import { type Form, FormBox, useForm } from '#src/admin-ui/kit/form.tsx'
import { Note } from '#src/admin-ui/kit/page.tsx'
import { toast } from '#src/admin-ui/kit/toast.tsx'
import { common } from '#src/admin-ui/texts.ts'
import { isOwn, type NodeRow, nodesChanged, nodeTexts } from './texts.ts'

interface Connection {
  label: string
  address: string
  port: number | null
  public_key: string
  short_id: string
  sni: string
  flow: string
  shared_uuid: string
}

function ConnectionFields({ form, local }: { form: Form<Connection>; local: boolean }) {
  const t = nodeTexts()
  return (
    <>
      <div class="cols">
        <TextField label={t.address} mono required {...form.field('address')} />
        <NumberField label={t.port} min={1} max={65535} required {...form.field('port')} />
      </div>
      <TextField label={t.sni} mono {...form.field('sni')} />
      {!local && <TextField label={t.publicKey} mono {...form.field('public_key')} />}
      <div class="cols">
        <TextField
          label={t.shortId}
          mono
          {...(local && { hint: t.shortIdLocal })}
          {...form.field('short_id')}
        />
        <TextField label={t.flow} mono {...form.field('flow')} />
      </div>
      {local ? (
        <Note>{t.ownKeys}</Note>
      ) : (
        <TextField
          label={t.sharedUuid}
          hint={t.sharedUuidHint}
          mono
          {...form.field('shared_uuid')}
        />
      )}
    </>
  )
}

/** For a node that needs no command. `done`: it is there. */
export function AddNode({ close, done }: { close: () => void; done: () => void }) {
  const t = nodeTexts()
  const form = useForm({
    initial: {
      kind: 'external' as 'external' | 'local',
      code: '',
      label: '',
      address: '',
      port: 443 as number | null,
      public_key: '',
      short_id: '',
      sni: '',
      flow: 'xtls-rprx-vision',
      shared_uuid: '',
    },
    send: (values) => ok(api.nodes.$post({ json: { ...values, port: values.port as number } })),
    done: (node) => {
      toast(t.added(node.label))
      nodesChanged()
      done()
    },
  })
  return (
    <Dialog title={t.add} onClose={close} wide>
      <FormBox
        form={form}
        action={t.addAction}
        extra={<Button onClick={close}>{common().cancel}</Button>}
      >
        <SelectField
          label={t.kind}
          options={[
            { value: 'external', label: t.kindExternal },
            { value: 'local', label: t.kindLocal },
          ]}
          {...form.field('kind')}
        />
        <div class="cols">
          <TextField
            label={t.code}
            hint={t.codeHint}
            mono
            focus
            required
            maxLength={32}
            {...form.field('code')}
          />
          <TextField label={t.label} hint={t.labelHint} required {...form.field('label')} />
        </div>
        <ConnectionFields
          form={form as unknown as Form<Connection>}
          local={form.values.kind === 'local'}
        />
      </FormBox>
    </Dialog>
  )
}

/** The API has the factor in hundredths. */
const HUNDREDTHS = 100

/** The service says what is wrong with a field that is empty. */
const hundredthsOf = (factor: number | null) =>
  factor === null ? (factor as unknown as number) : Math.round(factor * HUNDREDTHS)

interface Edition extends Connection {
  /** A factor. */
  traffic_ratio: number | null
  /** Empty: none. */
  hysteria_hop: string
}

function RatioField({ form }: { form: Form<Edition> }) {
  const t = nodeTexts()
  const { error, ...field } = form.field('traffic_ratio')
  return (
    <NumberField
      label={t.ratio}
      hint={t.ratioHint}
      unit="×"
      min={0}
      max={10}
      step={0.1}
      error={error && t.ratioFault}
      {...field}
    />
  )
}

export function EditNode({ node }: { node: NodeRow }) {
  const t = nodeTexts()
  const { label, address, port, public_key, short_id, sni, flow, shared_uuid } = node
  const form: Form<Edition> = useForm<Edition, unknown>({
    initial: {
      label,
      traffic_ratio: (node.traffic_ratio ?? HUNDREDTHS) / HUNDREDTHS,
      address,
      port,
      public_key,
      short_id,
      sni,
      flow,
      shared_uuid: shared_uuid ?? '',
      hysteria_hop: node.hysteria_hop ?? '',
    },
    send: (_values, { traffic_ratio: factor, hysteria_hop: hop, ...changes }) =>
      ok(
        api.nodes[':code'].$patch({
          param: { code: node.code },
          json: {
            ...(changes as Partial<Connection & { port: number }>),
            ...(factor !== undefined && { traffic_ratio: hundredthsOf(factor) }),
            ...(hop !== undefined && { hysteria_hop: hop.trim() || null }),
          },
        }),
      ),
    done: () => {
      toast(common().saved)
      nodesChanged()
    },
  })
  return (
    <FormBox form={form}>
      <TextField label={t.label} hint={t.labelHint} required {...form.field('label')} />
      {isOwn(node) ? (
        <Note>{t.onlyLabel}</Note>
      ) : (
        <ConnectionFields
          form={form as unknown as Form<Connection>}
          local={node.kind === 'local'}
        />
      )}
      {node.kind === 'managed' && node.transports_json.some(({ type }) => type === 'hysteria2') && (
        <TextField
          label={t.hop}
          hint={node.hysteria_hopping === false ? t.hopWaits : t.hopHint}
          placeholder="20000-30000"
          mono
          {...form.field('hysteria_hop')}
        />
      )}
      {node.kind === 'external' ? <Note>{t.notMeasured}</Note> : <RatioField form={form} />}
    </FormBox>
  )
}
