/** The client apps that pages and bot offer: their order, links and stores. */
import { useState } from 'preact/hooks'
import { type Answer, api, ok } from '#src/admin-ui/api.ts'
import { Button } from '#src/admin-ui/kit/button.tsx'
import { confirm, Dialog } from '#src/admin-ui/kit/dialog.tsx'
import { Switch, TextArea, TextField } from '#src/admin-ui/kit/field.tsx'
import { FormBox, useForm } from '#src/admin-ui/kit/form.tsx'
import { Menu } from '#src/admin-ui/kit/menu.tsx'
import { Card } from '#src/admin-ui/kit/page.tsx'
import { Reorder } from '#src/admin-ui/kit/reorder.tsx'
import { Loaded } from '#src/admin-ui/kit/state.tsx'
import { toast, toastError } from '#src/admin-ui/kit/toast.tsx'
import { invalidate, useAction, useQuery } from '#src/admin-ui/query.ts'
import { common, shell } from '#src/admin-ui/texts.ts'
import { type App, linesOf, SYSTEMS, storesOf } from './stores.ts'
import { settingsTexts } from './texts.ts'

type Data = Answer<(typeof api)['settings']['apps']['$get']>

const save = (apps: App[] | null) => ok(api.settings.apps.$post({ json: { apps } }))

function AppForm(p: { app: App | null; data: Data; close: () => void }) {
  const t = settingsTexts()
  const { app, data } = p
  const texts = Object.fromEntries(
    SYSTEMS.map((system) => [system, linesOf(app?.stores[system] ?? [])]),
  ) as Record<(typeof SYSTEMS)[number], string>
  const form = useForm({
    initial: {
      id: app?.id ?? '',
      name: app?.name ?? '',
      link: app?.link ?? '',
      deviceId: app?.device_id !== false,
      ...texts,
    },
    send: ({ id, name, link, deviceId, ...lines }) => {
      const next = {
        id,
        name,
        link,
        stores: storesOf(lines),
        ...(deviceId ? {} : { device_id: false }),
      }
      return save(
        app ? data.apps.map((one) => (one.id === app.id ? next : one)) : [...data.apps, next],
      )
    },
    between: /\n/,
    done: () => {
      toast(common().saved)
      invalidate('apps')
      p.close()
    },
  })
  return (
    <FormBox form={form} extra={<Button onClick={p.close}>{common().cancel}</Button>}>
      <div class="cols">
        <TextField label={t.appName} focus required {...form.field('name')} />
        <TextField label={t.appId} mono required {...form.field('id')} />
      </div>
      <TextField
        label={t.appLink}
        hint={t.appLinkHint(data.schemes.join(', '))}
        mono
        required
        {...form.field('link')}
      />
      <Switch label={t.appDeviceId} hint={t.appDeviceIdHint} {...form.field('deviceId')} />
      <h3>{t.appStores}</h3>
      <p class="muted">{t.appStoresHint}</p>
      {SYSTEMS.map((system) => (
        <TextArea key={system} label={t.systems[system]} rows={2} mono {...form.field(system)} />
      ))}
    </FormBox>
  )
}

function AppLine(p: { app: App; data: Data; edit: () => void }) {
  const t = settingsTexts()
  const { app, data } = p
  const remove = useAction(async () => {
    const title = t.appRemoveTitle(app.name)
    const action = common().remove
    if (!(await confirm({ title, text: t.appRemoveText, action, danger: true }))) return
    await save(data.apps.filter((one) => one.id !== app.id))
    toast(common().saved)
    invalidate('apps')
  })
  const systems = SYSTEMS.filter((system) => app.stores[system]).map((one) => t.systems[one])
  return (
    <>
      <div class="app-line">
        <b>{app.name}</b>
        <small class="muted">{systems.join(' · ')}</small>
      </div>
      <Menu
        label={t.appActions(app.name)}
        items={[
          { label: t.appEdit(app.name), icon: 'edit', onClick: p.edit },
          { label: t.appRemove(app.name), icon: 'trash', danger: true, onClick: remove.run },
        ]}
      />
    </>
  )
}

export function Apps() {
  const t = settingsTexts()
  const apps = useQuery('apps', () => ok(api.settings.apps.$get()))
  const [open, setOpen] = useState<App | 'new' | null>(null)
  const reset = useAction(async () => {
    const asked = { title: t.appsResetTitle, text: t.appsResetText, action: t.appsResetAction }
    if (!(await confirm({ ...asked, danger: true }))) return
    await save(null)
    toast(common().saved)
    invalidate('apps')
  })
  const close = () => setOpen(null)
  return (
    <Card
      title={shell().settings.apps}
      sub={t.appsSub}
      flush
      actions={
        <Button small icon="plus" disabled={!apps.data} onClick={() => setOpen('new')}>
          {t.appAdd}
        </Button>
      }
    >
      <Loaded query={apps} lines={5} tall>
        {(data) => (
          <>
            <Reorder
              label={shell().settings.apps}
              items={data.apps}
              itemKey={(app) => app.id}
              itemName={(app) => app.name}
              onOrder={(ids) =>
                save(ids.flatMap((id) => data.apps.find((app) => app.id === id) ?? []))
                  .catch(toastError)
                  .then(() => apps.reload())
              }
            >
              {(app) => <AppLine app={app} data={data} edit={() => setOpen(app)} />}
            </Reorder>
            {data.changed && (
              <div class="apps-own row between">
                <span class="muted">{t.appsOwn}</span>
                <Button small busy={reset.busy} onClick={reset.run}>
                  {t.appsReset}
                </Button>
              </div>
            )}
            {open !== null && (
              <Dialog title={open === 'new' ? t.appAdd : t.appEdit(open.name)} onClose={close} wide>
                <AppForm app={open === 'new' ? null : open} data={data} close={close} />
              </Dialog>
            )}
          </>
        )}
      </Loaded>
    </Card>
  )
}
