/** The log: what admins did, and the events that went out. */
import { api, ok, paged, type QueryOf, type Row } from '#src/admin-ui/api.ts'
import { dateTime, number, relative } from '#src/admin-ui/format.ts'
import { logEn } from '#src/admin-ui/i18n/log.en.ts'
import { logRu } from '#src/admin-ui/i18n/log.ru.ts'
import { catalogue } from '#src/admin-ui/i18n.ts'
import { Badge, type Tone } from '#src/admin-ui/kit/badge.tsx'
import { IconButton, LinkButton } from '#src/admin-ui/kit/button.tsx'
import { confirm } from '#src/admin-ui/kit/dialog.tsx'
import { FilterSelect } from '#src/admin-ui/kit/filter.tsx'
import { ListView } from '#src/admin-ui/kit/list-view.tsx'
import { PageHeader } from '#src/admin-ui/kit/page.tsx'
import { Empty } from '#src/admin-ui/kit/state.tsx'
import type { Column } from '#src/admin-ui/kit/table.tsx'
import { Tabs } from '#src/admin-ui/kit/tabs.tsx'
import { toast } from '#src/admin-ui/kit/toast.tsx'
import { useList } from '#src/admin-ui/list.ts'
import { invalidate, useAction, useQuery } from '#src/admin-ui/query.ts'
import { href, type Route } from '#src/admin-ui/router.ts'
import { common } from '#src/admin-ui/texts.ts'

const words = catalogue({ en: logEn, ru: logRu })

type Entry = Row<(typeof api)['audit']['$get']>
type Event = Row<(typeof api)['events']['$get']>

const When = ({ at }: { at: string }) => <span title={relative(at)}>{dateTime(at)}</span>

function entryColumns(): Column<Entry>[] {
  const t = words()
  return [
    {
      key: 'action',
      title: t.action,
      phone: 'lead',
      cell: ({ action }) => <b>{t.actions[action] ?? action}</b>,
    },
    { key: 'object', title: t.object, cell: ({ object }) => <span class="break">{object}</span> },
    { key: 'detail', title: t.detail, cell: ({ detail }) => <span class="break">{detail}</span> },
    { key: 'who', title: t.who, phone: 'state', cell: ({ admin }) => admin ?? t.service },
    { key: 'ip', title: t.from, phone: 'off', cell: ({ ip }) => <span class="num">{ip}</span> },
    { key: 'at', title: t.at, end: true, cell: ({ at }) => <When at={at} /> },
  ]
}

function Activity() {
  const t = words()
  const admins = useQuery('admins', () => ok(api.admins.$get()))
  const list = useList({
    key: 'audit',
    defaults: { action: '', admin: '' },
    load: (query) =>
      paged(api.audit.$get({ query: query as QueryOf<(typeof api)['audit']['$get']> })),
  })
  const actions = Object.entries(t.actions).map(([value, label]) => ({ value, label }))
  return (
    <ListView
      list={list}
      caption={t.tabs.activity}
      columns={entryColumns()}
      rowKey={(entry) => String(entry.id)}
      tools={
        <>
          <FilterSelect
            label={t.action}
            all={t.allActions}
            value={list.filters.action}
            options={actions}
            onValue={(action) => list.change({ action })}
          />
          <FilterSelect
            label={t.admin}
            all={t.allAdmins}
            value={list.filters.admin}
            options={(admins.data ?? []).map(({ username }) => ({
              value: username,
              label: username,
            }))}
            onValue={(admin) => list.change({ admin })}
          />
        </>
      }
      empty={<Empty title={t.none} hint={t.noneHint} icon="log" />}
    />
  )
}

const TONES: Record<Event['status'], Tone> = {
  ready: 'info',
  sending: 'info',
  done: 'ok',
  failed: 'bad',
  skipped: 'muted',
  interrupted: 'warn',
}

function Resend({ event }: { event: Event }) {
  const t = words()
  const resend = useAction(async () => {
    const title = t.resendTitle(event.event)
    if (!(await confirm({ title, text: t.resendText, action: t.resend }))) return
    const { ok: done, error } = await ok(
      api.events[':id'].resend.$post({ param: { id: event.id } }),
    )
    if (done) toast(t.resent)
    else toast(t.notResent(error ?? ''), 'bad')
    invalidate('events')
  })
  return (
    <IconButton
      icon="send"
      label={t.resendOne(event.id)}
      disabled={resend.busy}
      onClick={resend.run}
    />
  )
}

function eventColumns(): Column<Event>[] {
  const t = words()
  return [
    {
      key: 'event',
      title: t.event,
      phone: 'lead',
      cell: ({ event, id }) => (
        <span>
          <b>{event}</b>
          <br />
          <small class="muted mono break">{id}</small>
        </span>
      ),
    },
    {
      key: 'status',
      title: common().status,
      phone: 'state',
      cell: ({ status }) => <Badge tone={TONES[status]}>{t.states[status]}</Badge>,
    },
    {
      key: 'answer',
      title: t.answer,
      cell: ({ http_status, error }) => <span class="break">{error ?? http_status}</span>,
    },
    {
      key: 'attempts',
      title: t.attempts,
      end: true,
      phone: 'off',
      cell: ({ attempts }) => number(attempts),
    },
    { key: 'at', title: t.at, end: true, cell: (event) => <When at={event.created_at} /> },
    { key: 'resend', title: '', phone: 'state', cell: (event) => <Resend event={event} /> },
  ]
}

function Events() {
  const t = words()
  const list = useList({
    key: 'events',
    defaults: {},
    load: (query) =>
      paged(api.events.$get({ query: query as QueryOf<(typeof api)['events']['$get']> })),
    every: 15_000,
  })
  return (
    <ListView
      list={list}
      caption={t.tabs.events}
      columns={eventColumns()}
      rowKey={(event) => event.id}
      empty={
        <Empty title={t.noEvents} hint={t.noEventsHint} icon="send">
          <LinkButton href={href('/settings/webhook')}>{t.toWebhook}</LinkButton>
        </Empty>
      }
    />
  )
}

export function Log({ route }: { route: Route }) {
  const t = words()
  const events = route.segments[1] === 'events'
  return (
    <>
      <PageHeader title={t.title} sub={t.sub} />
      <Tabs
        label={t.title}
        tabs={[
          { href: href('/log'), label: t.tabs.activity, current: !events },
          { href: href('/log/events'), label: t.tabs.events, current: events },
        ]}
      />
      {events ? <Events /> : <Activity />}
    </>
  )
}
