/** A paged list as a card: tools, table, bar of the selection, pager; its failure and its emptiness. */
import type { ComponentChildren } from 'preact'
import { number } from '#src/admin-ui/format.ts'
import type { List } from '#src/admin-ui/list.ts'
import { common } from '#src/admin-ui/texts.ts'
import { Button } from './button.tsx'
import { Empty, Failed } from './state.tsx'
import { type Selection, Table, type TableProps } from './table.tsx'

/** `empty` is for a list that nothing was looked for in: what filters leave empty says so by itself. */
export interface ListViewProps<T> extends Omit<TableProps<T>, 'rows'> {
  list: List<T>
  /** A heading, where the screen has more than the list. */
  title?: string
  /** Search box, filters. */
  tools?: ComponentChildren
  /** Buttons for what is chosen. */
  bulk?: ComponentChildren
}

export function ListView<T>({ list, title, tools, bulk, empty, ...table }: ListViewProps<T>) {
  return (
    <section class="card" aria-label={table.caption}>
      {title && (
        <div class="card-h">
          <h2>{title}</h2>
        </div>
      )}
      {tools && <div class="toolbar">{tools}</div>}
      {table.selection && table.selection.keys.size > 0 && (
        <BulkBar selection={table.selection} shown={list.rows?.map(table.rowKey)}>
          {bulk}
        </BulkBar>
      )}
      {list.error && list.rows === undefined ? (
        <Failed error={list.error} retry={list.reload} />
      ) : (
        <Table
          {...table}
          rows={list.rows}
          empty={list.filtered ? <NoneFound clear={list.clear} /> : empty}
        />
      )}
      <Pager list={list} />
    </section>
  )
}

function NoneFound(p: { clear: () => void }) {
  const t = common()
  return (
    <Empty title={t.none} hint={t.noneHint} icon="search">
      <Button onClick={p.clear}>{t.clear}</Button>
    </Empty>
  )
}

function BulkBar(p: {
  selection: Selection
  shown: string[] | undefined
  children: ComponentChildren
}) {
  const t = common()
  const { keys } = p.selection
  const hidden = p.shown ? keys.size - p.shown.filter((key) => keys.has(key)).length : 0
  return (
    <div class="bulk" role="status">
      <b>{t.selected(keys.size, hidden)}</b>
      <div class="row">{p.children}</div>
      <Button small kind="ghost" onClick={p.selection.clear}>
        {t.unselect}
      </Button>
    </div>
  )
}

function Pager<T>({ list }: { list: List<T> }) {
  const t = common()
  if (list.rows === undefined || list.rows.length === 0) return null
  return (
    <div class="pager">
      <span class="muted num">{t.total(number(list.total ?? list.rows.length), list.capped)}</span>
      {(list.next || list.previous) && (
        <div class="row">
          <Button small icon="left" disabled={!list.previous} onClick={() => list.previous?.()}>
            {t.previous}
          </Button>
          <Button small disabled={!list.next} onClick={() => list.next?.()}>
            {t.next}
          </Button>
        </div>
      )}
    </div>
  )
}
