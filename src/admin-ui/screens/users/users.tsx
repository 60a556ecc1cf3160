/** The users: found, filtered and sorted by the service, a page at a time; actions on many. */
import { useState } from 'preact/hooks'
import { api, type Page, paged, type QueryOf, type Row } from '#src/admin-ui/api.ts'
import { daysUntil, ENDLESS } from '#src/admin-ui/days-left.ts'
import { date, number, userName } from '#src/admin-ui/format.ts'
import { Person } from '#src/admin-ui/kit/badge.tsx'
import { Button, LinkButton } from '#src/admin-ui/kit/button.tsx'
import { SearchBox, Segments } from '#src/admin-ui/kit/field.tsx'
import { FilterSelect } from '#src/admin-ui/kit/filter.tsx'
import { ListView } from '#src/admin-ui/kit/list-view.tsx'
import { PageHeader } from '#src/admin-ui/kit/page.tsx'
import { Empty } from '#src/admin-ui/kit/state.tsx'
import type { Column } from '#src/admin-ui/kit/table.tsx'
import { useList, useSelection } from '#src/admin-ui/list.ts'
import { type Route, setQuery } from '#src/admin-ui/router.ts'
import { common } from '#src/admin-ui/texts.ts'
import { GrantDialog } from '../access/grant-dialog.tsx'
import { UserBadge } from '../access/state.tsx'
import { access } from '../access/texts.ts'
import { BulkActions } from './bulk.tsx'
import { NewCustomerDialog } from './new.tsx'
import { usersTexts } from './texts.ts'

type User = Row<typeof api.users.$get>
type UserQuery = QueryOf<typeof api.users.$get>

const DEFAULTS = { q: '', status: 'all', banned: '', tag: '', sort: 'created_at', order: 'desc' }
const STATES = ['all', 'active', 'held', 'disabled', 'expired', 'none'] as const

/** The number, and the name where Telegram's stands above it. */
const subOf = ({ username, name, tg_id }: User) =>
  username && name ? `${name} · ${tg_id}` : String(tg_id)

/** Tags have a column where somebody has one. */
function columnsOf(tagged: boolean): Column<User>[] {
  const t = usersTexts()
  const words = common()
  return [
    {
      key: 'user',
      title: words.user,
      sort: 'tg_id',
      phone: 'lead',
      cell: (user) => <Person name={userName(user)} sub={subOf(user)} />,
    },
    {
      key: 'status',
      title: words.status,
      phone: 'state',
      cell: (user) => <UserBadge user={user} />,
    },
    {
      key: 'subscriptions',
      title: t.subscriptions,
      end: true,
      phone: 'off',
      cell: ({ active, held }) => t.activeAndHeld(active, held),
    },
    {
      key: 'next',
      title: t.nextEnd,
      end: true,
      cell: ({ next_expiry: next }) => {
        if (next === null) return null
        if (next === ENDLESS) return access().endless
        return <time title={date(next)}>{words.days(daysUntil(next))}</time>
      },
    },
    { key: 'devices', title: t.devices, end: true, cell: (user) => number(user.devices) },
    {
      key: 'note',
      title: t.note,
      phone: 'off',
      cell: (user) => user.note && <Note text={user.note} />,
    },
    ...(tagged ? [tagsColumn()] : []),
    {
      key: 'created',
      title: words.created,
      sort: 'created_at',
      end: true,
      phone: 'off',
      cell: (user) => date(user.created_at),
    },
  ]
}

const tagsColumn = (): Column<User> => ({
  key: 'tags',
  title: usersTexts().tags,
  cell: ({ tags }) => tags?.join(', '),
})

const NOTE_SHOWN = 60

const Note = ({ text }: { text: string }) => (
  <span class="muted">{text.length > NOTE_SHOWN ? `${text.slice(0, NOTE_SHOWN)}…` : text}</span>
)

/** Where everything that the filters find can be saved from. */
function csvOf(filters: typeof DEFAULTS): string {
  const query = new URLSearchParams({ format: 'csv' })
  for (const [name, value] of Object.entries(filters)) if (value !== '') query.set(name, value)
  return `/admin/api/users?${query}`
}

function Sub({ list }: { list: Pick<Page<User>, 'capped'> & { total: number | undefined } }) {
  const { total, capped } = list
  return <>{total === undefined ? ' ' : usersTexts().sub(total, number(total), capped)}</>
}

export function Users({ route }: { route: Route }) {
  const t = usersTexts()
  const [open, setOpen] = useState<'grant' | 'new' | null>(null)
  const close = () => setOpen(null)
  const list = useList({
    key: 'users',
    defaults: DEFAULTS,
    load: (query) => paged(api.users.$get({ query: query as UserQuery })),
  })
  const { filters } = list
  const tags = new Set(list.rows?.flatMap((user) => user.tags ?? []))
  if (filters.tag) tags.add(filters.tag)
  const selection = useSelection(filters)
  const grant = (
    <Button kind="primary" icon="plus" onClick={() => setOpen('grant')}>
      {access().grant}
    </Button>
  )
  const create = (
    <Button icon="user" onClick={() => setOpen('new')}>
      {t.newCustomer}
    </Button>
  )
  return (
    <>
      <PageHeader title={t.title} sub={<Sub list={list} />}>
        <LinkButton href={csvOf(filters)} download icon="download">
          {t.csv}
        </LinkButton>
        {create}
        {grant}
      </PageHeader>
      <ListView
        list={list}
        caption={t.title}
        columns={columnsOf(tags.size > 0)}
        rowKey={(user) => String(user.tg_id)}
        rowName={userName}
        sort={filters.sort}
        order={filters.order}
        onSort={(sort, order) => list.change({ sort, order })}
        selection={selection}
        bulk={<BulkActions ids={selection.list()} choose={selection} />}
        onOpen={(user) => setQuery({ user: user.tg_id })}
        openKey={route.query.get('user')}
        tools={
          <>
            <SearchBox
              label={t.search}
              value={filters.q}
              onValue={(q) => list.change({ q }, { replace: true })}
            />
            <Segments
              label={t.filterState}
              value={filters.status as (typeof STATES)[number]}
              options={STATES.map((value) => ({ value, label: t.states[value] }))}
              onValue={(status) => list.change({ status })}
            />
            <FilterSelect
              label={t.filterBan}
              all={t.anyBan}
              value={filters.banned}
              options={[
                { value: 'true', label: t.banned },
                { value: 'false', label: t.notBanned },
              ]}
              onValue={(banned) => list.change({ banned })}
            />
            {tags.size > 0 && (
              <FilterSelect
                label={t.filterTag}
                all={t.anyTag}
                value={filters.tag}
                options={[...tags].sort().map((tag) => ({ value: tag, label: tag }))}
                onValue={(tag) => list.change({ tag })}
              />
            )}
          </>
        }
        empty={
          <Empty title={t.noneYet} hint={t.noneYetHint} icon="users">
            {create}
            {grant}
          </Empty>
        }
      />
      {open === 'grant' && <GrantDialog close={close} done={(tgId) => setQuery({ user: tgId })} />}
      {open === 'new' && (
        <NewCustomerDialog close={close} done={(tgId) => setQuery({ user: tgId })} />
      )}
    </>
  )
}
