/** Servers of deleted nodes that could not be cleaned yet; nothing where there are none. */
import { api, ok, type Row } from '#src/admin-ui/api.ts'
import { date, number, relative } from '#src/admin-ui/format.ts'
import { Card } from '#src/admin-ui/kit/page.tsx'
import { type Column, Table } from '#src/admin-ui/kit/table.tsx'
import { useQuery } from '#src/admin-ui/query.ts'
import { Said } from '#src/admin-ui/refusals.ts'
import { nodeTexts } from './texts.ts'

type RetiredRow = Row<typeof api.nodes.retired.$get>

const placeOf = (row: RetiredRow) => `${row.address}:${row.ssh_port}`

function columns(): Column<RetiredRow>[] {
  const t = nodeTexts().retired
  return [
    {
      key: 'server',
      title: t.server,
      phone: 'lead',
      cell: (row) => (
        <span class="retired-server">
          <b>{row.code}</b>
          <small class="muted mono break">{placeOf(row)}</small>
        </span>
      ),
    },
    {
      key: 'reason',
      title: t.reason,
      cell: (row) => (
        <span class="break">
          {row.last_error === null ? t.first : <Said text={row.last_error} />}
        </span>
      ),
    },
    { key: 'tries', title: t.tries, end: true, cell: (row) => number(row.tries) },
    { key: 'next', title: t.next, end: true, cell: (row) => relative(row.next_try_at) },
    { key: 'deleted', title: t.deleted, end: true, cell: (row) => date(row.created_at) },
  ]
}

export function Retired() {
  const t = nodeTexts().retired
  const retired = useQuery('nodes retired', () => ok(api.nodes.retired.$get()), { every: 30_000 })
  const rows = retired.data ?? []
  if (rows.length === 0) return null
  return (
    <Card title={t.title} sub={t.sub} flush>
      <Table caption={t.title} columns={columns()} rows={rows} rowKey={placeOf} empty={null} />
    </Card>
  )
}
