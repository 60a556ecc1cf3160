/** The login of whoever is logged in: password, second factor, sessions. */
import { type Answer, api, ok, type Row } from '#src/admin-ui/api.ts'
import { relative } from '#src/admin-ui/format.ts'
import { Badge } from '#src/admin-ui/kit/badge.tsx'
import { Button } from '#src/admin-ui/kit/button.tsx'
import { confirm } from '#src/admin-ui/kit/dialog.tsx'
import { SecretField, Switch } from '#src/admin-ui/kit/field.tsx'
import { FormBox, useForm } from '#src/admin-ui/kit/form.tsx'
import { Card, PageHeader } from '#src/admin-ui/kit/page.tsx'
import { Loaded } from '#src/admin-ui/kit/state.tsx'
import { type Column, Table } from '#src/admin-ui/kit/table.tsx'
import { toast } from '#src/admin-ui/kit/toast.tsx'
import { invalidate, useAction, useQuery } from '#src/admin-ui/query.ts'
import { common } from '#src/admin-ui/texts.ts'
import { accountTexts } from './texts.ts'
import { TwoFactor } from './two-factor.tsx'

type Rule = Answer<(typeof api)['settings']['security']['$get']>
type Session = Row<(typeof api)['sessions']['$get']>

const EMPTY = { current_password: '', password: '' }

function Password() {
  const t = accountTexts().security
  const form = useForm({
    initial: EMPTY,
    send: (json) => ok(api.password.$post({ json })),
    done: () => {
      toast(t.changed)
      form.reset(EMPTY)
      invalidate('sessions')
    },
  })
  return (
    <Card title={t.password} sub={t.passwordSub}>
      <FormBox form={form} action={t.change}>
        <SecretField
          label={t.current}
          autoComplete="current-password"
          {...form.field('current_password')}
        />
        <SecretField label={t.next} autoComplete="new-password" {...form.field('password')} />
      </FormBox>
    </Card>
  )
}

function End({ session }: { session: Session }) {
  const t = accountTexts().security
  const end = useAction(async () => {
    const param = { session_id: String(session.id) }
    await ok(api.sessions[':session_id'].$delete({ param }))
    toast(t.ended)
    invalidate('sessions')
  })
  if (session.current) return <Badge tone="ok">{t.thisOne}</Badge>
  return (
    <Button small label={t.endOne(session.ip)} busy={end.busy} onClick={end.run}>
      {t.end}
    </Button>
  )
}

function columnsOf(): Column<Session>[] {
  const t = accountTexts().security
  return [
    {
      key: 'device',
      title: t.device,
      phone: 'lead',
      cell: ({ user_agent }) => <span class="break">{user_agent ?? t.unknown}</span>,
    },
    { key: 'ip', title: t.from, cell: ({ ip }) => <span class="num">{ip}</span> },
    { key: 'seen', title: t.seen, end: true, cell: (one) => relative(one.last_seen_at) },
    { key: 'end', title: '', phone: 'state', end: true, cell: (one) => <End session={one} /> },
  ]
}

function Sessions() {
  const t = accountTexts().security
  const sessions = useQuery('sessions', () => ok(api.sessions.$get()))
  const endOthers = useAction(async () => {
    const asked = { title: t.endOthersTitle, text: t.endOthersText, action: t.endOthers }
    if (!(await confirm({ ...asked, danger: true }))) return
    await ok(api.sessions.$delete())
    toast(t.endedOthers)
    invalidate('sessions')
  })
  const actions = (
    <Button
      small
      busy={endOthers.busy}
      disabled={(sessions.data?.length ?? 0) < 2}
      onClick={endOthers.run}
    >
      {t.endOthers}
    </Button>
  )
  return (
    <Card title={t.sessions} sub={t.sessionsSub} actions={actions} flush>
      <Loaded query={sessions}>
        {(rows) => (
          <Table
            caption={t.sessions}
            columns={columnsOf()}
            rows={rows}
            rowKey={(one) => String(one.id)}
            empty={null}
          />
        )}
      </Loaded>
    </Card>
  )
}

function RuleForm({ data }: { data: Rule }) {
  const t = accountTexts().security
  const form = useForm({
    initial: data,
    send: (json) => ok(api.settings.security.$post({ json })),
    done: () => {
      toast(common().saved)
      invalidate('security rule')
    },
  })
  return (
    <FormBox form={form}>
      <Switch label={t.require} {...form.field('require_2fa')} />
    </FormBox>
  )
}

function ForAll() {
  const t = accountTexts().security
  const rule = useQuery('security rule', () => ok(api.settings.security.$get()))
  return (
    <Card title={t.forAll} sub={t.forAllSub}>
      <Loaded query={rule} lines={1}>
        {(data) => <RuleForm data={data} />}
      </Loaded>
    </Card>
  )
}

export function Security() {
  const t = accountTexts().security
  return (
    <>
      <PageHeader title={t.title} sub={t.sub} />
      <TwoFactor />
      <ForAll />
      <Password />
      <Sessions />
    </>
  )
}
