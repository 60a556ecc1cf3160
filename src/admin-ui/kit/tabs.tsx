/** Tabs that are links: each has an address. */
import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'

export interface Tab {
  href: string
  label: string
  current: boolean
}

/** The row of tabs; the content of the current one goes below it. */
export function Tabs(p: { label: string; tabs: Tab[]; children?: ComponentChildren }) {
  const ref = useRef<HTMLElement>(null)
  const current = p.tabs.find((tab) => tab.current)?.href
  useEffect(() => {
    ref.current?.querySelector('[aria-current]')?.scrollIntoView({ block: 'nearest' })
  }, [current])
  return (
    <nav ref={ref} class="tabs" aria-label={p.label}>
      {p.tabs.map((tab) => (
        <a key={tab.href} href={tab.href} aria-current={tab.current ? 'page' : undefined}>
          {tab.label}
        </a>
      ))}
    </nav>
  )
}
