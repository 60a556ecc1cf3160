/** Short notices in a corner, above everything, dialogs included. */
import { useEffect, useRef } from 'preact/hooks'
import { ApiError } from '#src/admin-ui/api-error.ts'
import { inWords } from '#src/admin-ui/refusals.ts'
import { createStore } from '#src/admin-ui/store.ts'
import { common } from '#src/admin-ui/texts.ts'
import { Icon } from './icons.tsx'

type Kind = 'ok' | 'bad'

interface Toast {
  id: number
  text: string
  kind: Kind
}

const toasts = createStore<Toast[]>([])
let lastId = 0

const SHOWN_MS: Record<Kind, number> = { ok: 4000, bad: 9000 }
const MOST = 4

const remove = (id: number) => toasts.set(toasts.get().filter((toast) => toast.id !== id))

/** Says something for some seconds. */
export function toast(text: string, kind: Kind = 'ok'): void {
  const id = ++lastId
  const others = toasts.get().filter((other) => other.text !== text)
  toasts.set([...others.slice(1 - MOST), { id, text, kind }])
  setTimeout(() => remove(id), SHOWN_MS[kind])
}

/** What a thrown value says to the user; a lost session speaks for itself. */
export function messageOf(error: unknown): string {
  return error instanceof ApiError ? inWords(error) : common().noAnswer
}

export function toastError(error: unknown): void {
  if (error instanceof ApiError && error.code === 'unauthorized') return
  toast(messageOf(error), 'bad')
}

/** Drawn once, by the root. */
export function Toasts() {
  const list = toasts.use()
  const ref = useRef<HTMLDivElement>(null)
  useEffect(() => {
    const element = ref.current
    // Shown anew each time: of what is above the page the last shown is on top.
    if (!element?.showPopover) return
    if (element.matches(':popover-open')) element.hidePopover()
    if (list.length > 0) element.showPopover()
  }, [list])
  return (
    <div ref={ref} class="toasts" popover="manual" role="status" aria-live="polite">
      {list.map((one) => (
        <div key={one.id} class={`toast ${one.kind}`}>
          <Icon name={one.kind === 'ok' ? 'check' : 'alert'} />
          <span>{one.text}</span>
          <button type="button" aria-label={common().close} onClick={() => remove(one.id)}>
            <Icon name="x" />
          </button>
        </div>
      ))}
    </div>
  )
}
