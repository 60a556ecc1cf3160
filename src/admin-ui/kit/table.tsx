/** Tables of records: sorted by the service, rows that open, a selection, cards on phones. */
import type { ComponentChildren } from 'preact'
import { common } from '#src/admin-ui/texts.ts'
import { Icon } from './icons.tsx'
import { Skeleton } from './state.tsx'

export interface Column<T> {
  key: string
  title: string
  cell: (row: T) => ComponentChildren
  /** The service's name of this order; the head then sorts. */
  sort?: string
  /** Numbers and dates stand at the end. */
  end?: boolean
  /** On phones: `lead` is the first line, `state` beside it; others become a second line, `off` is left out. */
  phone?: 'lead' | 'state' | 'line' | 'off'
}

export interface Selection {
  keys: ReadonlySet<string>
  toggle: (key: string) => void
  /** All of these, or none of them. */
  setAll: (keys: string[], on: boolean) => void
  clear: () => void
}

export interface TableProps<T> {
  /** What the table holds, for those who don't see the page. */
  caption: string
  columns: Column<T>[]
  /** undefined: on their way. */
  rows: readonly T[] | undefined
  rowKey: (row: T) => string
  /** The name of a row, where it must be told from others. */
  rowName?: (row: T) => string
  sort?: string
  order?: string
  onSort?: (sort: string, order: 'asc' | 'desc') => void
  selection?: Selection | undefined
  /** Opens a row: its lead cell becomes a button, and a click anywhere in it opens. */
  onOpen?: ((row: T) => void) | undefined
  /** The row that is open. */
  openKey?: string | null
  /** Stands in the table's place when there are no rows. */
  empty: ComponentChildren
}

const classes = (column: Column<unknown>) =>
  `${column.end ? 'end ' : ''}p-${column.phone ?? 'line'}`

function Head<T>({ p }: { p: TableProps<T> }) {
  const t = common()
  const keys = (p.rows ?? []).map(p.rowKey)
  const chosen = keys.filter((key) => p.selection?.keys.has(key)).length
  return (
    <thead>
      <tr>
        {p.selection && (
          <th class="pick">
            <input
              type="checkbox"
              aria-label={t.selectAll}
              checked={chosen > 0 && chosen === keys.length}
              indeterminate={chosen > 0 && chosen < keys.length}
              onChange={(event) => p.selection?.setAll(keys, event.currentTarget.checked)}
            />
          </th>
        )}
        {p.columns.map((column) => (
          <HeadCell key={column.key} p={p} column={column as Column<unknown>} />
        ))}
      </tr>
    </thead>
  )
}

function HeadCell<T>({ p, column }: { p: TableProps<T>; column: Column<unknown> }) {
  const { sort } = column
  // A head without a name would be read as one.
  if (column.title === '') return <td class={classes(column)} />
  if (!sort || !p.onSort) {
    return (
      <th scope="col" class={classes(column)}>
        {column.title}
      </th>
    )
  }
  const sorted = p.sort === sort
  const down = sorted && p.order === 'desc'
  return (
    <th
      scope="col"
      class={classes(column)}
      aria-sort={sorted ? (down ? 'descending' : 'ascending') : 'none'}
    >
      <button
        type="button"
        class="th"
        onClick={() => p.onSort?.(sort, sorted && down ? 'asc' : 'desc')}
      >
        {column.title}
        {sorted && <Icon name={down ? 'down' : 'up'} />}
      </button>
    </th>
  )
}

/** A click into a row opens it, unless it was meant for something in it or marks text. */
function opens(event: MouseEvent): boolean {
  const target = event.target as Element
  return !target.closest('a, button, input, label') && getSelection()?.type !== 'Range'
}

function Row<T>({ p, row }: { p: TableProps<T>; row: T }) {
  const t = common()
  const key = p.rowKey(row)
  const name = p.rowName?.(row) ?? key
  const { onOpen } = p
  const lead = p.columns.find((column) => column.phone === 'lead') ?? p.columns[0]
  return (
    <tr
      class={onOpen ? 'opens' : undefined}
      aria-selected={p.selection ? p.selection.keys.has(key) : undefined}
      data-open={p.openKey === key || undefined}
      onClick={onOpen && ((event) => opens(event) && onOpen(row))}
    >
      {p.selection && (
        <td class="pick">
          <input
            type="checkbox"
            aria-label={t.selectRow(name)}
            checked={p.selection.keys.has(key)}
            onChange={() => p.selection?.toggle(key)}
          />
        </td>
      )}
      {p.columns.map((column) => (
        <td
          key={column.key}
          class={classes(column as Column<unknown>)}
          data-title={column.title || undefined}
        >
          {onOpen && column === lead ? (
            <button type="button" class="cell-open" onClick={() => onOpen(row)}>
              {column.cell(row)}
            </button>
          ) : (
            column.cell(row)
          )}
        </td>
      ))}
    </tr>
  )
}

const LOADING_ROWS = 6

export function Table<T>(p: TableProps<T>) {
  if (p.rows === undefined) return <Skeleton lines={LOADING_ROWS} tall />
  if (p.rows.length === 0) return <>{p.empty}</>
  return (
    <div class="table-box">
      <table class="table">
        <caption class="sr">{p.caption}</caption>
        <Head p={p} />
        <tbody>
          {p.rows.map((row) => (
            <Row key={p.rowKey(row)} p={p} row={row} />
          ))}
        </tbody>
      </table>
    </div>
  )
}
