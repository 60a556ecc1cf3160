/** A menu of actions on the popover API: closes by itself, lies above everything. */
import { useEffect, useId, useRef } from 'preact/hooks'
import { IconButton } from './button.tsx'
import { Icon, type IconName } from './icons.tsx'

export interface MenuItem {
  label: string
  icon?: IconName
  onClick: () => unknown
  danger?: boolean
  disabled?: boolean
}

const GAP = 4

/** Below the button where there is room, else above; inside the window in any case. */
function place(menu: HTMLElement, button: HTMLElement): void {
  const at = button.getBoundingClientRect()
  const { offsetWidth: width, offsetHeight: height } = menu
  const below = at.bottom + GAP + height <= innerHeight || at.top < height
  menu.style.top = `${below ? at.bottom + GAP : at.top - GAP - height}px`
  menu.style.left = `${Math.max(GAP, Math.min(at.right - width, innerWidth - width - GAP))}px`
}

/** Enabled items, to walk through by arrow keys. */
const itemsOf = (menu: HTMLElement) => [
  ...menu.querySelectorAll<HTMLButtonElement>('button:not(:disabled)'),
]

function walk(menu: HTMLElement, key: string): boolean {
  const items = itemsOf(menu)
  const at = items.indexOf(document.activeElement as HTMLButtonElement)
  const to: Record<string, number> = {
    ArrowDown: (at + 1) % items.length,
    ArrowUp: (at - 1 + items.length) % items.length,
    Home: 0,
    End: items.length - 1,
  }
  const next = to[key]
  if (next === undefined) return false
  items[next]?.focus()
  return true
}

/** A button that opens a menu. `label` names what the actions are for. */
export function Menu(p: {
  label: string
  items: (MenuItem | null | false)[]
  icon?: IconName
  bordered?: boolean
}) {
  const id = useId()
  const menu = useRef<HTMLDivElement>(null)
  const holder = useRef<HTMLSpanElement>(null)
  const openedAt = useRef({ x: 0, y: 0 })
  useEffect(() => {
    const element = menu.current
    const button = holder.current?.querySelector('button')
    if (!element || !button) return
    const onToggle = (event: Event) =>
      button.setAttribute('aria-expanded', String((event as ToggleEvent).newState === 'open'))
    // What comes above may scroll the page so that nothing is seen to move.
    const close = () => {
      if (!element.matches(':popover-open')) return
      const { x, y } = button.getBoundingClientRect()
      const moved = Math.hypot(x - openedAt.current.x, y - openedAt.current.y)
      if (moved > GAP) element.hidePopover()
    }
    button.setAttribute('aria-haspopup', 'menu')
    button.setAttribute('aria-expanded', 'false')
    button.setAttribute('aria-controls', id)
    element.addEventListener('toggle', onToggle)
    addEventListener('scroll', close, { passive: true, capture: true })
    return () => {
      element.removeEventListener('toggle', onToggle)
      removeEventListener('scroll', close, { capture: true })
    }
  }, [])
  // At once, not with the event, which comes later than the next key of somebody quick.
  const toggle = () => {
    const element = menu.current
    const button = holder.current?.querySelector('button')
    element?.togglePopover()
    if (!element?.matches(':popover-open') || !button) return
    place(element, button)
    openedAt.current = button.getBoundingClientRect()
    itemsOf(element)[0]?.focus()
  }
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: keeps clicks from the row that the menu stands in
    // biome-ignore lint/a11y/useKeyWithClickEvents: the same
    <span class="menu-holder" ref={holder} onClick={(event) => event.stopPropagation()}>
      <IconButton
        icon={p.icon ?? 'more'}
        label={p.label}
        {...(p.bordered && { bordered: true })}
        onClick={toggle}
      />
      <div
        ref={menu}
        id={id}
        class="menu"
        role="menu"
        popover="auto"
        aria-label={p.label}
        tabIndex={-1}
        onKeyDown={(event) => {
          if (menu.current && walk(menu.current, event.key)) event.preventDefault()
        }}
      >
        {p.items.map(
          (item) =>
            item && (
              <button
                key={item.label}
                type="button"
                role="menuitem"
                class={item.danger ? 'danger' : undefined}
                disabled={item.disabled}
                onClick={() => {
                  menu.current?.hidePopover()
                  void item.onClick()
                }}
              >
                {item.icon && <Icon name={item.icon} />}
                {item.label}
              </button>
            ),
        )}
      </div>
    </span>
  )
}
