/** Who may log in here. */
import { useState } from 'preact/hooks'
import { api, ok, type Row } from '#src/admin-ui/api.ts'
import { date, relative } from '#src/admin-ui/format.ts'
import { Badge, Person } from '#src/admin-ui/kit/badge.tsx'
import { Button, IconButton } from '#src/admin-ui/kit/button.tsx'
import { confirm, Dialog } from '#src/admin-ui/kit/dialog.tsx'
import { SecretField, TextField } from '#src/admin-ui/kit/field.tsx'
import { FormBox, useForm } from '#src/admin-ui/kit/form.tsx'
import { Card, PageHeader } from '#src/admin-ui/kit/page.tsx'
import { Empty, Failed } from '#src/admin-ui/kit/state.tsx'
import { type Column, Table } from '#src/admin-ui/kit/table.tsx'
import { toast } from '#src/admin-ui/kit/toast.tsx'
import { invalidate, useAction, useQuery } from '#src/admin-ui/query.ts'
import { common } from '#src/admin-ui/texts.ts'
import { accountTexts } from './security/texts.ts'

type Admin = Row<(typeof api)['admins']['$get']>

function AddAdmin({ close }: { close: () => void }) {
  const t = accountTexts().admins
  const form = useForm({
    initial: { username: '', password: '' },
    send: (json) => ok(api.admins.$post({ json })),
    done: ({ username }) => {
      toast(t.added(username))
      invalidate('admins')
      close()
    },
  })
  return (
    <Dialog title={t.add} onClose={close}>
      <FormBox
        form={form}
        action={t.addAction}
        extra={<Button onClick={close}>{common().cancel}</Button>}
      >
        <TextField label={t.name} focus required {...form.field('username')} />
        <SecretField
          label={t.password}
          hint={t.passwordHint}
          autoComplete="new-password"
          required
          {...form.field('password')}
        />
      </FormBox>
    </Dialog>
  )
}

/** One's own account, which the last one always is, stays: the service would refuse it. */
function Remove({ admin, own }: { admin: Admin; own: boolean }) {
  const t = accountTexts().admins
  const remove = useAction(async () => {
    const title = t.removeTitle(admin.username)
    const action = common().remove
    if (!(await confirm({ title, text: t.removeText, action, danger: true }))) return
    await ok(api.admins[':admin_id'].$delete({ param: { admin_id: String(admin.id) } }))
    toast(t.removed(admin.username))
    invalidate('admins')
  })
  return (
    <IconButton
      icon="trash"
      label={own ? t.selfStays : t.remove(admin.username)}
      disabled={remove.busy || own}
      onClick={remove.run}
    />
  )
}

function columnsOf(own: string | null | undefined): Column<Admin>[] {
  const t = accountTexts().admins
  return [
    {
      key: 'name',
      title: t.name,
      phone: 'lead',
      cell: ({ username }) => <Person name={username} />,
    },
    {
      key: '2fa',
      title: t.twoFactor,
      cell: ({ totp_enabled: on }) => (
        <Badge tone={on ? 'ok' : 'muted'}>{on ? common().on : common().off}</Badge>
      ),
    },
    {
      key: 'login',
      title: t.lastLogin,
      cell: ({ last_login_at: at }) => (at === null ? t.never : relative(at)),
    },
    {
      key: 'created',
      title: common().created,
      end: true,
      phone: 'off',
      cell: ({ created_at }) => date(created_at),
    },
    {
      key: 'remove',
      title: '',
      phone: 'state',
      cell: (admin) => <Remove admin={admin} own={admin.username === own} />,
    },
  ]
}

export function Admins() {
  const t = accountTexts().admins
  const admins = useQuery('admins', () => ok(api.admins.$get()))
  const me = useQuery('me', () => ok(api.me.$get()))
  const [adding, setAdding] = useState(false)
  return (
    <>
      <PageHeader title={t.title} sub={t.sub}>
        <Button kind="primary" icon="plus" onClick={() => setAdding(true)}>
          {t.add}
        </Button>
      </PageHeader>
      <Card flush>
        {admins.error && !admins.data ? (
          <Failed error={admins.error} retry={admins.reload} />
        ) : (
          <Table
            caption={t.title}
            columns={columnsOf(me.data?.username)}
            rows={admins.data}
            rowKey={(admin) => String(admin.id)}
            empty={<Empty title={t.none} icon="admins" />}
          />
        )}
      </Card>
      {adding && <AddAdmin close={() => setAdding(false)} />}
    </>
  )
}
