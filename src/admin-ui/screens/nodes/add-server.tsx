/** The first half of the wizard: what the new node is like. At its end there is a pending node with a command. */
import { useEffect, useState } from 'preact/hooks'
import { api, ok } from '#src/admin-ui/api.ts'
import { lacksCore } from '#src/admin-ui/core-missing.ts'
import { Button } from '#src/admin-ui/kit/button.tsx'
import { NumberField, Switch, TextField } from '#src/admin-ui/kit/field.tsx'
import { type Form, FormBox, useForm } from '#src/admin-ui/kit/form.tsx'
import { Card, Note, PageHeader } from '#src/admin-ui/kit/page.tsx'
import { go, href } from '#src/admin-ui/router.ts'
import { AddNode } from './form.tsx'
import { keepCommand } from './install.ts'
import { Steps, takeFocus } from './steps.tsx'
import { nodesChanged, nodeTexts, setupHref, useNodes } from './texts.ts'

interface Wanted {
  label: string
  address: string
  port: number | null
  sni: string
  include_xhttp: boolean
  include_grpc: boolean
  include_ws: boolean
  include_hysteria2: boolean
  hysteria_port: number | null
}

const INITIAL: Wanted = {
  label: '',
  address: '',
  port: 443,
  sni: 'dl.google.com',
  include_xhttp: false,
  include_grpc: false,
  include_ws: false,
  include_hysteria2: false,
  hysteria_port: 443,
}

/** The ports that the service tries first for WebSocket. */
const WS_PORTS = [8443, 2053]

function ServerStep({ form, next }: { form: Form<Wanted>; next: () => void }) {
  const t = nodeTexts()
  const [asked, setAsked] = useState(false)
  const missing = (name: 'label' | 'address') => form.values[name].trim() === ''
  const fieldOf = (name: 'label' | 'address') => {
    const field = form.field(name)
    return { ...field, error: asked && missing(name) ? t.setup.missing : field.error }
  }
  return (
    <form
      class="stack"
      noValidate
      data-changed={form.changed || undefined}
      onSubmit={(event) => {
        event.preventDefault()
        setAsked(true)
        if (!missing('label') && !missing('address')) return next()
        const name = missing('label') ? 'label' : 'address'
        event.currentTarget.querySelector<HTMLInputElement>(`[name="${name}"]`)?.focus()
      }}
    >
      <p class="t2">{t.setup.needs}</p>
      <TextField
        label={t.label}
        hint={t.labelHint}
        focus
        required
        maxLength={128}
        {...fieldOf('label')}
      />
      <TextField
        label={t.address}
        hint={t.setup.addressHint}
        mono
        required
        inputMode="url"
        {...fieldOf('address')}
      />
      <p class="hint">
        {t.setup.priceNote}{' '}
        <a class="link" href={href('/plans')}>
          {t.setup.prices}
        </a>
      </p>
      <div class="row end">
        <Button kind="primary">{t.setup.next}</Button>
      </div>
    </form>
  )
}

function TransportStep({ form, back }: { form: Form<Wanted>; back: () => void }) {
  const t = nodeTexts()
  const w = t.setup
  const { port, include_hysteria2 } = form.values
  const wsPort = WS_PORTS.find((one) => one !== port) as number
  return (
    <FormBox
      form={form}
      action={w.create}
      always
      extra={
        <Button kind="ghost" onClick={back}>
          {w.back}
        </Button>
      }
    >
      <p class="t2" tabIndex={-1} ref={takeFocus}>
        {w.ways}
      </p>
      <fieldset class="transport">
        <legend>{w.main}</legend>
        <p class="hint">{w.mainHint}</p>
        <div class="cols">
          <TextField label={t.sni} hint={w.sniHint} mono {...form.field('sni')} />
          <NumberField label={t.port} min={1} max={65535} {...form.field('port')} />
        </div>
      </fieldset>
      <div class="transport">
        <Switch
          label={w.xhttp}
          hint={w.xhttpHint}
          {...form.field('include_xhttp')}
          onValue={(on) => form.set({ include_xhttp: on, ...(on && { include_grpc: false }) })}
        />
      </div>
      <div class="transport">
        <Switch
          label={w.grpc}
          hint={w.grpcHint}
          {...form.field('include_grpc')}
          onValue={(on) => form.set({ include_grpc: on, ...(on && { include_xhttp: false }) })}
        />
      </div>
      <div class="transport">
        <Switch label={w.ws} hint={w.wsHint(wsPort)} {...form.field('include_ws')} />
      </div>
      <div class="transport">
        <Switch label={w.hysteria} hint={w.hysteriaHint} {...form.field('include_hysteria2')} />
        {include_hysteria2 && (
          <NumberField
            label={w.hysteriaPort}
            min={1}
            max={65535}
            {...form.field('hysteria_port')}
          />
        )}
      </div>
    </FormBox>
  )
}

export function AddServer() {
  const t = nodeTexts()
  const [step, setStep] = useState<0 | 1>(0)
  const [external, setExternal] = useState(false)
  const coreless = useNodes().data?.some((node) => node.kind === 'local' && lacksCore(node))
  const form = useForm({
    initial: INITIAL,
    once: true,
    send: ({ port, hysteria_port, ...rest }) =>
      ok(
        api.nodes['provision-guide'].$post({
          json: {
            ...rest,
            port: port as number,
            // What is not drawn must not be refused.
            ...(rest.include_hysteria2 && { hysteria_port: hysteria_port as number }),
          },
        }),
      ),
    done: ({ code, command }) => {
      keepCommand(code, { command, end: null, before: null })
      nodesChanged()
      // Back leads to the list: the form has done its work.
      location.replace(setupHref(code))
    },
  })
  const refused = form.field('label').error ?? form.field('address').error
  useEffect(() => {
    if (refused !== undefined) setStep(0)
  }, [refused])
  return (
    <>
      <PageHeader title={t.setup.title} sub={t.setup.sub} />
      <div class="setup stack">
        <Steps now={step} />
        {coreless && <Note tone="warn">{t.setup.noCores}</Note>}
        <Card title={step === 0 ? t.setup.stepServer : t.setup.stepTransports}>
          {step === 0 ? (
            <ServerStep form={form} next={() => setStep(1)} />
          ) : (
            <TransportStep form={form} back={() => setStep(0)} />
          )}
        </Card>
        <div class="row between">
          <small class="muted">{t.setup.externalHint}</small>
          <Button small onClick={() => setExternal(true)}>
            {t.addExternal}
          </Button>
        </div>
      </div>
      {external && <AddNode close={() => setExternal(false)} done={() => go('/nodes')} />}
    </>
  )
}
