/** Lists paged by key: filters, order and place live in the address; rows come one page at a time. */
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks'
import type { Page } from './api.ts'
import type { Selection } from './kit/table.tsx'
import { useQuery } from './query.ts'
import { setQuery, useRoute } from './router.ts'

export const PAGE_SIZE = 50

type Filters = Record<string, string>

export interface ListOptions<P extends Page<unknown>, F extends Filters> {
  /** What `invalidate` calls it. */
  key: string
  /** Every filter with the value that counts as not given; `sort` and `order` among them where the list has them. */
  defaults: F
  /** Asks for a page: all filters that are set, `limit` and `cursor`. */
  load: (query: Partial<F> & { limit: string; cursor?: string }) => Promise<P>
  every?: number
  size?: number
}

/** A list whose state is in the address. Other parameters there (an open drawer) stay as they are. */
export function useList<P extends Page<unknown>, F extends Filters>(options: ListOptions<P, F>) {
  const { query } = useRoute()
  const names = Object.keys(options.defaults) as (keyof F & string)[]
  const filters = Object.fromEntries(
    names.map((name) => [name, query.get(name) ?? options.defaults[name]]),
  ) as F
  const set = Object.fromEntries(
    names.flatMap((name) => (filters[name] === '' ? [] : [[name, filters[name]]])),
  ) as Partial<F>
  const cursor = query.get('cursor')
  const limit = String(options.size ?? PAGE_SIZE)
  const asked = { ...set, limit, ...(cursor !== null && { cursor }) }
  const key = `${options.key} ${JSON.stringify(asked)}`
  const answer = useQuery(
    key,
    () => options.load(asked),
    options.every === undefined ? {} : { every: options.every },
  )
  // Where this tab came from; a page reached by its address has only the first one before it.
  const before = useRef<(string | null)[]>([])
  const shown = JSON.stringify(set)
  useEffect(() => {
    if (cursor === null) before.current = []
  }, [shown, cursor])
  const change = (changes: Partial<F>, how: { replace?: boolean } = {}) => {
    const values = Object.entries(changes).map(([name, value]) => [
      name,
      value === options.defaults[name] ? '' : value,
    ])
    setQuery({ ...Object.fromEntries(values), cursor: '' }, how)
  }
  return {
    /** All that came with the rows. */
    page: answer.data,
    rows: answer.data?.rows as P['rows'] | undefined,
    total: answer.data?.total,
    capped: answer.data?.capped ?? false,
    error: answer.error,
    busy: answer.busy,
    reload: answer.reload,
    filters,
    /** Something but the order was asked for. */
    filtered: names.some(
      (name) => name !== 'sort' && name !== 'order' && filters[name] !== options.defaults[name],
    ),
    /** Sets filters and goes back to the first page. */
    change,
    clear: () => change(options.defaults),
    next: answer.data?.next
      ? () => {
          before.current.push(cursor)
          setQuery({ cursor: answer.data?.next ?? '' })
        }
      : null,
    previous: cursor === null ? null : () => setQuery({ cursor: before.current.pop() ?? '' }),
  }
}

export type List<T> = Pick<
  ReturnType<typeof useList<Page<T>, Filters>>,
  'rows' | 'total' | 'capped' | 'error' | 'reload' | 'next' | 'previous' | 'filtered' | 'clear'
>

/** Rows chosen by hand. They stay chosen on other pages and in another order, until the list looks for others. */
export function useSelection({
  sort: _sort,
  order: _order,
  ...sought
}: Filters): Selection & { size: number; list: () => string[] } {
  const [keys, setKeys] = useState<ReadonlySet<string>>(new Set())
  useLayoutEffect(() => setKeys(new Set()), [JSON.stringify(sought)])
  return useMemo(
    () => ({
      keys,
      size: keys.size,
      list: () => [...keys],
      toggle: (key) =>
        setKeys((now) => {
          const next = new Set(now)
          if (!next.delete(key)) next.add(key)
          return next
        }),
      setAll: (all, on) =>
        setKeys((now) => {
          const next = new Set(now)
          for (const key of all) {
            if (on) next.add(key)
            else next.delete(key)
          }
          return next
        }),
      clear: () => setKeys(new Set()),
    }),
    [keys],
  )
}
