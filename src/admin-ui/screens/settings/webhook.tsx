/** Where events are sent, the secret that signs them, and a test. */
import { useState } from 'preact/hooks'
import { type Answer, api, ok } from '#src/admin-ui/api.ts'
import { Button, LinkButton } from '#src/admin-ui/kit/button.tsx'
import { CopyLine } from '#src/admin-ui/kit/copy-line.tsx'
import { confirm } from '#src/admin-ui/kit/dialog.tsx'
import { Switch, TextField } from '#src/admin-ui/kit/field.tsx'
import { FormBox, useForm } from '#src/admin-ui/kit/form.tsx'
import { Card, Note } from '#src/admin-ui/kit/page.tsx'
import { Loaded } from '#src/admin-ui/kit/state.tsx'
import { toast } from '#src/admin-ui/kit/toast.tsx'
import { invalidate, useAction, useQuery } from '#src/admin-ui/query.ts'
import { href } from '#src/admin-ui/router.ts'
import { common, shell } from '#src/admin-ui/texts.ts'
import { settingsTexts } from './texts.ts'

type Data = Answer<(typeof api)['settings']['webhook']['$get']>

type OptionalEvent = NonNullable<Data['events']>[number]

/** What is sent besides what always is. */
function Events(p: { values: OptionalEvent[]; set: (values: OptionalEvent[]) => void }) {
  const { moreEvents, optionalEvents } = settingsTexts()
  const all = Object.keys(optionalEvents) as OptionalEvent[]
  return (
    <fieldset class="stack ticks">
      <legend>{moreEvents}</legend>
      {all.map((event) => (
        <Switch
          key={event}
          label={optionalEvents[event]}
          name={event}
          value={p.values.includes(event)}
          onValue={(on) =>
            p.set(all.filter((one) => (one === event ? on : p.values.includes(one))))
          }
        />
      ))}
    </fieldset>
  )
}

function UrlForm({ data, made }: { data: Data; made: (secret: string) => void }) {
  const t = settingsTexts()
  const form = useForm({
    initial: { url: data.url, events: data.events ?? [] },
    send: (json) => ok(api.settings.webhook.$post({ json })),
    done: ({ secret }) => {
      toast(common().saved)
      if (secret !== undefined) made(secret)
      invalidate('webhook')
    },
  })
  return (
    <FormBox form={form}>
      <TextField
        label={t.webhookUrl}
        hint={t.webhookHint}
        inputMode="url"
        mono
        {...form.field('url')}
      />
      <Events values={form.values.events} set={(events) => form.set({ events })} />
    </FormBox>
  )
}

function Secret(p: { has: boolean; secret: string | null; made: (secret: string) => void }) {
  const t = settingsTexts()
  const rotate = useAction(async () => {
    const asked = { title: t.rotateTitle, text: t.rotateText, action: t.rotate, danger: true }
    if (p.has && !(await confirm(asked))) return
    p.made((await ok(api.settings.webhook['rotate-secret'].$post())).secret)
    invalidate('webhook')
  })
  return (
    <div class="stack">
      {p.secret === null ? (
        <p class="muted">{p.has ? t.secretSet : t.secretNone}</p>
      ) : (
        <>
          <CopyLine label={t.secret} text={p.secret} />
          <Note tone="warn">{t.secretOnce}</Note>
        </>
      )}
      <div class="row end">
        <Button icon="key" busy={rotate.busy} onClick={rotate.run}>
          {p.has ? t.rotate : t.makeSecret}
        </Button>
      </div>
    </div>
  )
}

export function Webhook() {
  const t = settingsTexts()
  const webhook = useQuery('webhook', () => ok(api.settings.webhook.$get()))
  const [secret, setSecret] = useState<string | null>(null)
  const test = useAction(async () => {
    const { ok: done, error } = await ok(api.settings.webhook.test.$post())
    if (done) toast(t.testDone)
    else toast(t.testFailed(error ?? ''), 'bad')
    invalidate('events')
  })
  const actions = (
    <>
      <LinkButton small href={href('/log/events')}>
        {t.seeEvents}
      </LinkButton>
      <Button small icon="send" busy={test.busy} disabled={!webhook.data?.url} onClick={test.run}>
        {t.test}
      </Button>
    </>
  )
  return (
    <>
      <Card title={shell().settings.webhook} sub={t.webhookSub} actions={actions}>
        <Loaded query={webhook}>{(data) => <UrlForm data={data} made={setSecret} />}</Loaded>
      </Card>
      <Card title={t.secret}>
        <Loaded query={webhook} lines={2}>
          {(data) => <Secret has={data.has_secret} secret={secret} made={setSecret} />}
        </Loaded>
      </Card>
    </>
  )
}
