/** Adds a host to a node, or changes one. */
import { api, ok } from '#src/admin-ui/api.ts'
import { Button } from '#src/admin-ui/kit/button.tsx'
import { Checklist } from '#src/admin-ui/kit/checklist.tsx'
import { Dialog } from '#src/admin-ui/kit/dialog.tsx'
import { NumberField, SelectField, TextField } from '#src/admin-ui/kit/field.tsx'
import { type Form, FormBox, useForm } from '#src/admin-ui/kit/form.tsx'
import { Note } from '#src/admin-ui/kit/page.tsx'
import { toast } from '#src/admin-ui/kit/toast.tsx'
import { common } from '#src/admin-ui/texts.ts'
import { type HostRow, hostsChanged, type NodeRow, nodeTexts, transportNames } from './texts.ts'

type Transport = HostRow['transport']
type Way = Pick<HostRow, 'label' | 'address' | 'port' | 'sni' | 'host' | 'path' | 'formats'> & {
  fingerprint: '' | 'chrome' | 'firefox' | 'safari' | 'ios' | 'edge' | 'random'
}
type Values = Way & { transport: Transport }

const FINGERPRINTS = ['firefox', 'safari', 'ios', 'edge', 'random'] as const

const NEW: Way = {
  ...{ label: '', address: '', port: null, sni: '', host: '', path: '', fingerprint: '' },
  formats: [],
}

/** Whether a CDN may be before it: it is the web's own. */
const isWeb = (transport: Transport) => transport === 'ws' || transport === 'xhttp'

/** Whether a host may have a server name of its own: a node of ours lets in by its own alone. */
const hasName = (transport: Transport, kind: NodeRow['kind']) =>
  isWeb(transport) || kind === 'external'

interface FieldsProps {
  kind: NodeRow['kind']
  form: Form<Way> & { values: Values }
}

function Names({ kind, form }: FieldsProps) {
  const t = nodeTexts().hosts
  const { transport, sni } = form.values
  return (
    <>
      {hasName(transport, kind) && (
        <TextField
          label={nodeTexts().sni}
          hint={isWeb(transport) ? t.sniWeb : t.empty}
          mono
          {...form.field('sni')}
        />
      )}
      {isWeb(transport) && (
        <>
          {sni.trim() !== '' && <Note>{t.cdn[transport as 'ws' | 'xhttp']}</Note>}
          <div class="cols">
            <TextField label={t.host} hint={t.hostHint} mono {...form.field('host')} />
            <TextField label={t.path} hint={t.empty} mono {...form.field('path')} />
          </div>
        </>
      )}
    </>
  )
}

function Fields({ kind, form }: FieldsProps) {
  const t = nodeTexts().hosts
  return (
    <>
      <div class="cols">
        <TextField
          label={nodeTexts().address}
          hint={t.addressHint}
          mono
          required
          {...form.field('address')}
        />
        <NumberField
          label={nodeTexts().port}
          hint={t.empty}
          min={1}
          max={65535}
          {...form.field('port')}
        />
      </div>
      <TextField label={t.label} hint={t.labelHint} maxLength={128} {...form.field('label')} />
      <Names kind={kind} form={form} />
      {form.values.transport !== 'hysteria2' && (
        <SelectField
          label={t.fingerprint}
          hint={t.fingerprintHint}
          options={[
            { value: '', label: 'Chrome' },
            ...FINGERPRINTS.map((value) => ({ value, label: t.fingerprints[value] })),
          ]}
          {...form.field('fingerprint')}
        />
      )}
      <Checklist
        label={t.formats}
        hint={t.formatsHint}
        options={Object.entries(t.formatNames).map(([value, label]) => ({ value, label }))}
        {...form.field('formats')}
      />
    </>
  )
}

/** What a row is told: the formats of a form are those that it offers. */
type Formats = ('base64' | 'links' | 'mihomo' | 'singbox' | 'xray')[]

const cancel = (close: () => void) => <Button onClick={close}>{common().cancel}</Button>

export function AddHost({ node, close }: { node: NodeRow; close: () => void }) {
  const t = nodeTexts().hosts
  const names = transportNames()
  const offered = ['reality', ...node.transports_json.map(({ type }) => type)] as Transport[]
  const form = useForm({
    initial: { transport: 'reality', ...NEW } as Values,
    send: ({ formats, ...values }) =>
      ok(
        api.nodes[':code'].hosts.$post({
          param: { code: node.code },
          json: {
            ...values,
            formats: formats as Formats,
            ...(hasName(values.transport, node.kind) ? {} : { sni: '' }),
          },
        }),
      ),
    done: ({ address }) => {
      toast(t.added(address))
      hostsChanged(node.code)
      close()
    },
    once: true,
  })
  return (
    <Dialog title={t.addTitle(node.label)} onClose={close}>
      <FormBox form={form} action={t.addAction} extra={cancel(close)}>
        {offered.length > 1 && (
          <SelectField
            label={t.transport}
            options={offered.map((value) => ({ value, label: names[value] }))}
            {...form.field('transport')}
            onValue={(transport) =>
              // What the other one has no field for goes with it.
              form.set({ transport, host: '', path: '', fingerprint: '' })
            }
          />
        )}
        <Fields kind={node.kind} form={form as unknown as Form<Way> & { values: Values }} />
      </FormBox>
    </Dialog>
  )
}

interface EditProps {
  host: HostRow
  /** Of its node. */
  kind: NodeRow['kind']
  close: () => void
}

export function EditHost({ host, kind, close }: EditProps) {
  const t = nodeTexts().hosts
  const { id, node, enabled, sort_order, ...initial } = host
  const form = useForm({
    initial: initial as Values,
    send: (_values, { formats, transport, ...changes }) =>
      ok(
        api.nodes[':code'].hosts[':id'].$patch({
          param: { code: node, id: String(id) },
          json: { ...changes, ...(formats && { formats: formats as Formats }) },
        }),
      ),
    done: () => {
      toast(common().saved)
      hostsChanged(node)
      close()
    },
  })
  return (
    <Dialog title={t.edit(host.label || host.address)} onClose={close}>
      <FormBox form={form} extra={cancel(close)}>
        <p class="muted">{transportNames()[host.transport]}</p>
        <Fields kind={kind} form={form as unknown as Form<Way> & { values: Values }} />
      </FormBox>
    </Dialog>
  )
}
