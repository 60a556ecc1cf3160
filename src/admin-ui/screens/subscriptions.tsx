/** All subscriptions: by state, node, plan, end; the same actions as in the user's card. */
import { api, paged, type QueryOf } from '#src/admin-ui/api.ts'
import { daysToGo } from '#src/admin-ui/days-left.ts'
import { date, number, toTimestamp, userName } from '#src/admin-ui/format.ts'
import { subscriptionsEn } from '#src/admin-ui/i18n/subscriptions.en.ts'
import { subscriptionsRu } from '#src/admin-ui/i18n/subscriptions.ru.ts'
import { catalogue } from '#src/admin-ui/i18n.ts'
import { Person } from '#src/admin-ui/kit/badge.tsx'
import { SearchBox, Segments } from '#src/admin-ui/kit/field.tsx'
import { FilterSelect } from '#src/admin-ui/kit/filter.tsx'
import { ListView } from '#src/admin-ui/kit/list-view.tsx'
import { PageHeader } from '#src/admin-ui/kit/page.tsx'
import { Empty } from '#src/admin-ui/kit/state.tsx'
import type { Column } from '#src/admin-ui/kit/table.tsx'
import { useList } from '#src/admin-ui/list.ts'
import { useNodeGroups } from '#src/admin-ui/node-groups.ts'
import { Usage } from '#src/admin-ui/quotas.tsx'
import { setQuery } from '#src/admin-ui/router.ts'
import { common } from '#src/admin-ui/texts.ts'
import { useChoices } from './access/choices.ts'
import { PlaceFilters } from './access/place-filters.tsx'
import { SubscriptionBadge } from './access/state.tsx'
import { endText, placeOf, type Subscription } from './access/subscription.ts'
import { SubscriptionMenu } from './access/subscription-actions.tsx'
import { access } from './access/texts.ts'
import { UserFilter } from './access/user-filter.tsx'

const words = catalogue({ en: subscriptionsEn, ru: subscriptionsRu })

type SubscriptionQuery = QueryOf<typeof api.subscriptions.$get>

const DAY_MS = 86_400_000
const STATES = ['all', 'active', 'limited', 'held', 'disabled', 'expired', 'revoked'] as const
/** Ends to look for, in days from now. */
const ENDS = [1, 3, 7, 14, 30]
const DEFAULTS = {
  q: '',
  status: 'all',
  node: '',
  node_group: '',
  plan: '',
  tg_id: '',
  ends: '',
  sort: 'created_at',
  order: 'desc',
}

/** `ends` is the panel's own filter: so many days from now, whenever the address is opened. */
function queryOf({ ends, ...query }: Partial<typeof DEFAULTS> & { limit: string }) {
  const days = Number(ends)
  const before = days > 0 && toTimestamp(new Date(Date.now() + days * DAY_MS))
  return { ...query, ...(before && { expires_before: before }) } as SubscriptionQuery
}

function columnsOf(): Column<Subscription>[] {
  const t = words()
  return [
    {
      key: 'user',
      title: common().user,
      phone: 'lead',
      cell: (row) => <Person name={userName(row)} sub={row.tg_id} />,
    },
    {
      key: 'status',
      title: common().status,
      phone: 'state',
      cell: (row) => <SubscriptionBadge subscription={row} />,
    },
    { key: 'node', title: common().node, cell: placeOf },
    { key: 'plan', title: common().plan, cell: (row) => row.plan_label },
    {
      key: 'left',
      title: t.left,
      end: true,
      cell: (row) => (row.endless ? '∞' : number(daysToGo(row))),
    },
    {
      key: 'traffic',
      title: t.traffic,
      end: true,
      cell: (row) => <Usage subscription={row} />,
    },
    {
      key: 'end',
      title: t.end,
      end: true,
      sort: 'expires_at',
      cell: (row) => endText(row),
    },
    {
      key: 'created',
      title: common().created,
      end: true,
      sort: 'created_at',
      phone: 'off',
      cell: (row) => date(row.created_at),
    },
    {
      key: 'actions',
      title: '',
      phone: 'state',
      cell: (row) => <SubscriptionMenu subscription={row} />,
    },
  ]
}

function useSubscriptions() {
  return useList({
    key: 'subscriptions',
    defaults: DEFAULTS,
    load: (query) => paged(api.subscriptions.$get({ query: queryOf(query) })),
  })
}

function Tools({ list }: { list: ReturnType<typeof useSubscriptions> }) {
  const t = words()
  const { filters, change } = list
  const { options: groups } = useNodeGroups()
  const { quotas } = useChoices()
  const isLimited = ({ quota_bytes }: Subscription) => quota_bytes !== undefined
  const withLimits = quotas || filters.status === 'limited' || list.rows?.some(isLimited)
  const states = STATES.filter((state) => state !== 'limited' || withLimits)
  return (
    <>
      <SearchBox
        label={t.search}
        value={filters.q}
        onValue={(q) => change({ q }, { replace: true })}
      />
      <Segments
        label={t.filterState}
        value={filters.status as (typeof STATES)[number]}
        options={states.map((value) => ({ value, label: t.states[value] }))}
        onValue={(status) => change({ status })}
      />
      <PlaceFilters filters={filters} change={change} />
      {groups.length > 0 && (
        <FilterSelect
          label={access().group}
          all={access().allGroups}
          value={filters.node_group}
          options={groups}
          onValue={(node_group) => change({ node_group })}
        />
      )}
      <FilterSelect
        label={t.filterEnd}
        all={t.anyEnd}
        value={filters.ends}
        options={ENDS.map((n) => ({ value: String(n), label: t.endsWithin(common().days(n)) }))}
        onValue={(ends) =>
          change({
            ends,
            ...(ends !== '' && { status: 'active', sort: 'expires_at', order: 'asc' }),
          })
        }
      />
      <UserFilter tgId={filters.tg_id} clear={() => change({ tg_id: '' })} />
    </>
  )
}

export function Subscriptions() {
  const t = words()
  const list = useSubscriptions()
  const { filters, total } = list
  return (
    <>
      <PageHeader
        title={t.title}
        sub={total === undefined ? ' ' : t.sub(number(total), list.capped)}
      />
      <ListView
        list={list}
        caption={t.title}
        columns={columnsOf()}
        rowKey={(row) => row.uuid}
        rowName={userName}
        sort={filters.sort}
        order={filters.order}
        onSort={(sort, order) => list.change({ sort, order })}
        onOpen={(row) => setQuery({ user: row.tg_id })}
        tools={<Tools list={list} />}
        empty={<Empty title={t.noneYet} hint={t.noneYetHint} icon="subscriptions" />}
      />
    </>
  )
}
