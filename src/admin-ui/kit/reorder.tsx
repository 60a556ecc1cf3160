/** A list put in order by hand: dragged by its grips, or moved by arrow keys on them. */
import type { ComponentChildren } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { common } from '#src/admin-ui/texts.ts'
import { Icon } from './icons.tsx'
import './reorder.css'

export interface ReorderProps<T> {
  label: string
  items: readonly T[]
  itemKey: (item: T) => string
  itemName: (item: T) => string
  /** Saves the order; one after the other, also when keys are pressed faster. */
  onOrder: (keys: string[]) => Promise<unknown>
  children: (item: T) => ComponentChildren
}

const moved = (keys: string[], key: string, to: number): string[] => {
  const others = keys.filter((other) => other !== key)
  return [...others.slice(0, to), key, ...others.slice(to)]
}

/** Where in the list a pointer is: so many middles of other rows are above it. */
function placeAt(list: HTMLElement, key: string, y: number): number {
  const others = [...list.children].filter((row) => (row as HTMLElement).dataset.key !== key)
  return others.filter((row) => {
    const { top, height } = row.getBoundingClientRect()
    return top + height / 2 < y
  }).length
}

export function Reorder<T>(p: ReorderProps<T>) {
  const list = useRef<HTMLUListElement>(null)
  const [order, setOrder] = useState<string[] | null>(null)
  const [dragged, setDragged] = useState<string | null>(null)
  const [said, setSaid] = useState('')
  const focus = useRef<string | null>(null)
  const saving = useRef({ tail: Promise.resolve(), last: 0 })
  const given = p.items.map(p.itemKey)
  const byKey = new Map(p.items.map((item) => [p.itemKey(item), item]))
  const keys = order?.length === given.length ? order.filter((key) => byKey.has(key)) : given

  useEffect(() => {
    if (focus.current === null) return
    const row = [...(list.current?.children ?? [])].find(
      (one) => (one as HTMLElement).dataset.key === focus.current,
    )
    focus.current = null
    row?.querySelector<HTMLElement>('.grip')?.focus()
  })

  const save = (next: string[]) => {
    setOrder(next)
    saving.current.last++
    const turn = saving.current.last
    saving.current.tail = saving.current.tail
      .then(() => p.onOrder(next))
      .then(() => {
        if (turn === saving.current.last) setOrder(null)
      })
  }
  const tell = (key: string, at: number) => {
    const item = byKey.get(key)
    if (item) setSaid(common().movedTo(p.itemName(item), at + 1, keys.length))
  }
  const onKey = (event: KeyboardEvent, key: string) => {
    const step = { ArrowUp: -1, ArrowDown: 1 }[event.key]
    if (step === undefined) return
    event.preventDefault()
    const to = keys.indexOf(key) + step
    if (to < 0 || to >= keys.length) return
    focus.current = key
    save(moved(keys, key, to))
    tell(key, to)
  }
  // On window: moving the row in the document would cancel a pointer captured by it.
  const onGrab = (event: PointerEvent, key: string) => {
    if (event.button !== 0) return
    event.preventDefault()
    ;(event.currentTarget as HTMLElement).focus()
    let now = keys
    setDragged(key)
    const follow = (move: PointerEvent) => {
      if (!list.current) return
      const next = moved(now, key, placeAt(list.current, key, move.clientY))
      if (next.join(' ') === now.join(' ')) return
      now = next
      focus.current = key
      setOrder(next)
    }
    const drop = () => {
      removeEventListener('pointermove', follow)
      removeEventListener('pointerup', drop)
      removeEventListener('pointercancel', drop)
      setDragged(null)
      if (now.join(' ') === keys.join(' ')) return
      save(now)
      tell(key, now.indexOf(key))
    }
    addEventListener('pointermove', follow)
    addEventListener('pointerup', drop)
    addEventListener('pointercancel', drop)
  }

  return (
    <>
      <ul ref={list} class="reorder" aria-label={p.label}>
        {keys.map((key) => {
          const item = byKey.get(key) as T
          return (
            <li key={key} data-key={key} data-dragged={dragged === key || undefined}>
              <button
                type="button"
                class="grip"
                aria-label={common().move(p.itemName(item))}
                title={common().moveHint}
                onKeyDown={(event) => onKey(event, key)}
                onPointerDown={(event) => onGrab(event, key)}
              >
                <Icon name="grip" />
              </button>
              {p.children(item)}
            </li>
          )
        })}
      </ul>
      <div class="sr" role="status" aria-live="polite">
        {said}
      </div>
    </>
  )
}
