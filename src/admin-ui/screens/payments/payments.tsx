/** The payments: found and filtered by the service, asked about again, granted, refunded, reviewed. */

import { useState } from 'preact/hooks'
import { api, paged, type QueryOf } from '#src/admin-ui/api.ts'
import { dateTime, money, number, userName } from '#src/admin-ui/format.ts'
import { Person } from '#src/admin-ui/kit/badge.tsx'
import { Button } from '#src/admin-ui/kit/button.tsx'
import { SearchBox, Segments } from '#src/admin-ui/kit/field.tsx'
import { FilterSelect } from '#src/admin-ui/kit/filter.tsx'
import { ListView } from '#src/admin-ui/kit/list-view.tsx'
import { Menu } from '#src/admin-ui/kit/menu.tsx'
import { PageHeader } from '#src/admin-ui/kit/page.tsx'
import { Empty } from '#src/admin-ui/kit/state.tsx'
import type { Column } from '#src/admin-ui/kit/table.tsx'
import { useList } from '#src/admin-ui/list.ts'
import { useNodeGroups } from '#src/admin-ui/node-groups.ts'
import { setQuery } from '#src/admin-ui/router.ts'
import { useProviders } from '#src/admin-ui/sales.ts'
import { PaymentBadge } from '#src/admin-ui/states.tsx'
import { common } from '#src/admin-ui/texts.ts'
import { PayLinkDialog } from '../access/pay-link.tsx'
import { PlaceFilters } from '../access/place-filters.tsx'
import { access } from '../access/texts.ts'
import { UserFilter } from '../access/user-filter.tsx'
import { RefundDialog, usePaymentActions } from './actions.tsx'
import { allowed } from './allowed.ts'
import { PaymentCard } from './card.tsx'
import { Orphans } from './orphans.tsx'
import { goodsOf, namesOf, type Payment, paymentTexts } from './texts.ts'

type PaymentQuery = QueryOf<typeof api.payments.$get>

const FILTERS = ['all', 'pending', 'paid', 'failed', 'review'] as const
const DEFAULTS = {
  q: '',
  status: 'all',
  review: '',
  provider: '',
  node: '',
  plan: '',
  tg_id: '',
}

function usePayments() {
  return useList({
    key: 'payments',
    defaults: DEFAULTS,
    load: (query) => paged(api.payments.$get({ query: query as PaymentQuery })),
  })
}

function RowMenu({ payment }: { payment: Payment }) {
  const t = paymentTexts()
  const [refunding, setRefunding] = useState(false)
  const { check, grant, keep } = usePaymentActions()
  const can = allowed(payment)
  return (
    <>
      <Menu
        label={t.actionsOf(...namesOf(payment))}
        items={[
          can.check && { label: t.check, icon: 'refresh', onClick: () => check.run(payment) },
          can.grant && { label: t.grant, icon: 'check', onClick: () => grant.run(payment) },
          can.keep && { label: t.keep, icon: 'check', onClick: () => keep.run(payment) },
          can.refund && { label: t.refund, icon: 'wallet', onClick: () => setRefunding(true) },
          !payment.deleted_user && {
            label: t.openUser,
            icon: 'user',
            onClick: () => setQuery({ user: payment.tg_id }),
          },
        ]}
      />
      {refunding && <RefundDialog payment={payment} close={() => setRefunding(false)} />}
    </>
  )
}

function Bought({ payment }: { payment: Payment }) {
  const { placeOf } = useNodeGroups()
  return (
    <>
      {placeOf(payment)}, {goodsOf(payment)}
    </>
  )
}

function columnsOf(): Column<Payment>[] {
  const t = paymentTexts()
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
      cell: (row) => <PaymentBadge payment={row} />,
    },
    {
      key: 'amount',
      title: t.amount,
      end: true,
      cell: (row) => money(row.amount, row.currency),
    },
    { key: 'what', title: t.what, cell: (row) => <Bought payment={row} /> },
    { key: 'provider', title: t.provider, phone: 'off', cell: (row) => row.provider_label },
    {
      key: 'created',
      title: common().created,
      end: true,
      cell: (row) => dateTime(row.created_at),
    },
    { key: 'actions', title: '', phone: 'state', cell: (row) => <RowMenu payment={row} /> },
  ]
}

function Tools({ list }: { list: ReturnType<typeof usePayments> }) {
  const t = paymentTexts()
  const providers = useProviders()
  const { filters, change } = list
  const status = filters.review === '1' ? 'review' : filters.status
  return (
    <>
      <SearchBox
        label={t.search}
        value={filters.q}
        onValue={(q) => change({ q }, { replace: true })}
      />
      <Segments
        label={t.filterState}
        value={status as (typeof FILTERS)[number]}
        options={FILTERS.map((value) => ({ value, label: t.filters[value] }))}
        onValue={(value) =>
          change(
            value === 'review' ? { status: 'all', review: '1' } : { status: value, review: '' },
          )
        }
      />
      <FilterSelect
        label={t.provider}
        all={t.allProviders}
        value={filters.provider}
        options={(providers.data ?? []).map(({ id, label }) => ({ value: id, label }))}
        onValue={(provider) => change({ provider })}
      />
      <PlaceFilters filters={filters} change={change} />
      <UserFilter tgId={filters.tg_id} clear={() => change({ tg_id: '' })} />
    </>
  )
}

/** Asks about all that are pending on this page. */
function CheckPending({ rows }: { rows: Payment[] | undefined }) {
  const { many } = usePaymentActions()
  const pending = (rows ?? []).filter((row) => row.status === 'pending')
  if (pending.length === 0) return null
  return (
    <Button icon="refresh" busy={many.busy} onClick={() => many.run(pending)}>
      {paymentTexts().checkPending(pending.length)}
    </Button>
  )
}

export function Payments() {
  const t = paymentTexts()
  const [linking, setLinking] = useState(false)
  const [open, setOpen] = useState<Payment | null>(null)
  const list = usePayments()
  const { rows, total } = list
  const link = (
    <Button kind="primary" icon="link" onClick={() => setLinking(true)}>
      {access().payLink}
    </Button>
  )
  return (
    <>
      <PageHeader
        title={t.title}
        sub={total === undefined ? ' ' : t.sub(number(total), list.capped)}
      >
        <CheckPending rows={rows} />
        {link}
      </PageHeader>
      <div class="stack">
        <Orphans />
        <ListView
          list={list}
          caption={t.title}
          columns={columnsOf()}
          rowKey={(row) => row.id}
          rowName={(row) => t.details(...namesOf(row))}
          onOpen={setOpen}
          openKey={open?.id ?? null}
          tools={<Tools list={list} />}
          empty={
            <Empty title={t.noneYet} hint={t.noneYetHint} icon="payments">
              {link}
            </Empty>
          }
        />
      </div>
      {open && (
        <PaymentCard
          payment={rows?.find((row) => row.id === open.id) ?? open}
          close={() => setOpen(null)}
        />
      )}
      {linking && <PayLinkDialog close={() => setLinking(false)} />}
    </>
  )
}
