/** What screens are made of. */
import type { ComponentChildren } from 'preact'

/** The head of a screen: its one `h1`, a line below, buttons at the end. */
export const PageHeader = (p: {
  title: string
  sub?: ComponentChildren
  children?: ComponentChildren
}) => (
  <div class="page-h">
    <div>
      <h1>{p.title}</h1>
      {p.sub !== undefined && <p>{p.sub}</p>}
    </div>
    {p.children && <div class="page-actions">{p.children}</div>}
  </div>
)

/** A box with a heading. `flush`: its content reaches the edges (tables). */
export const Card = (p: {
  title?: string
  sub?: ComponentChildren
  actions?: ComponentChildren
  flush?: boolean
  class?: string
  children: ComponentChildren
}) => (
  <section class={`card ${p.class ?? ''}`} aria-label={p.title}>
    {(p.title || p.actions) && (
      <div class="card-h">
        <div>
          {p.title && <h2>{p.title}</h2>}
          {p.sub !== undefined && <p class="muted">{p.sub}</p>}
        </div>
        {p.actions && <div class="card-actions">{p.actions}</div>}
      </div>
    )}
    {p.flush ? p.children : <div class="card-b">{p.children}</div>}
  </section>
)

/** Names and values, one pair a line; pairs with null are left out. */
export const Facts = (p: { list: (readonly [string, ComponentChildren] | null | false)[] }) => (
  <dl class="facts">
    {p.list.map(
      (pair) =>
        pair && (
          <div key={pair[0]}>
            <dt>{pair[0]}</dt>
            <dd>{pair[1]}</dd>
          </div>
        ),
    )}
  </dl>
)

/** A remark that stays: what follows from a setting, what to be careful with. */
export const Note = (p: { tone?: 'info' | 'warn' | 'bad' | 'ok'; children: ComponentChildren }) => (
  <div class={`note ${p.tone ?? 'info'}`} role={p.tone === 'bad' ? 'alert' : 'note'}>
    {p.children}
  </div>
)
