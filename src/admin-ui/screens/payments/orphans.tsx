/** Money that a provider has and no payment accounts for; nothing where there is none. */
import { api, ok, type Row } from '#src/admin-ui/api.ts'
import { dateTime, money } from '#src/admin-ui/format.ts'
import { Button } from '#src/admin-ui/kit/button.tsx'
import { confirm } from '#src/admin-ui/kit/dialog.tsx'
import { Card } from '#src/admin-ui/kit/page.tsx'
import { type Column, Table } from '#src/admin-ui/kit/table.tsx'
import { toast } from '#src/admin-ui/kit/toast.tsx'
import { invalidate, useAction, useQuery } from '#src/admin-ui/query.ts'
import { paymentTexts } from './texts.ts'

type Orphan = Row<typeof api.payments.orphans.$get>

function Resolve({ orphan }: { orphan: Orphan }) {
  const t = paymentTexts()
  const resolve = useAction(async () => {
    const title = t.resolveTitle(orphan.external_id)
    if (!(await confirm({ title, text: t.resolveText, action: t.resolve }))) return
    const param = { orphan_id: String(orphan.id) }
    await ok(api.payments.orphans[':orphan_id'].resolve.$post({ param }))
    toast(t.resolved)
    invalidate('payment orphans', 'stats')
  })
  return (
    <Button small busy={resolve.busy} onClick={resolve.run}>
      {t.resolve}
    </Button>
  )
}

/** As the provider writes it, unless it is whole and can be written as other amounts are. */
const amountOf = (amount: string, currency: string) =>
  /^\d{1,15}(?:\.0+)?$/.test(amount) ? money(Number(amount), currency) : `${amount} ${currency}`

function columnsOf(): Column<Orphan>[] {
  const t = paymentTexts()
  return [
    {
      key: 'id',
      title: t.externalId,
      phone: 'lead',
      cell: (row) => <span class="mono">{row.external_id}</span>,
    },
    { key: 'provider', title: t.provider, cell: (row) => row.provider_label },
    {
      key: 'amount',
      title: t.amount,
      end: true,
      cell: (row) =>
        row.amount === null ? t.unknownAmount : amountOf(row.amount, row.currency ?? ''),
    },
    { key: 'found', title: t.found, end: true, cell: (row) => dateTime(row.found_at) },
    { key: 'actions', title: '', phone: 'state', cell: (row) => <Resolve orphan={row} /> },
  ]
}

export function Orphans() {
  const t = paymentTexts()
  const { data } = useQuery('payment orphans', () => ok(api.payments.orphans.$get()))
  if (!data || data.length === 0) return null
  return (
    <Card title={t.orphans} sub={t.orphansText} flush>
      <Table
        caption={t.orphans}
        columns={columnsOf()}
        rows={data}
        rowKey={(row) => String(row.id)}
        empty={null}
      />
    </Card>
  )
}
