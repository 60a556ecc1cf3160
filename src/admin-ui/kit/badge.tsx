/** States in words; the colour only helps. */
import type { ComponentChildren } from 'preact'

export type Tone = 'ok' | 'warn' | 'bad' | 'info' | 'muted'

/** `● Active` */
export const Badge = (p: { tone: Tone; children: ComponentChildren }) => (
  <span class={`badge ${p.tone}`}>{p.children}</span>
)

const TONES: Tone[] = ['info', 'ok', 'warn', 'bad', 'muted']

/** Two letters of a name, in a colour that follows from it. */
export function Avatar({ name }: { name: string }) {
  const letters = name.replace(/^@/, '').slice(0, 2).toUpperCase()
  let sum = 0
  for (const letter of name) sum += letter.charCodeAt(0)
  return (
    <span class={`avatar ${TONES[sum % TONES.length]}`} aria-hidden="true">
      {letters}
    </span>
  )
}

/** A person in a table: avatar, name, a line below. */
export const Person = (p: { name: string; sub?: ComponentChildren }) => (
  <span class="person">
    <Avatar name={p.name} />
    <span class="person-text">
      <b>{p.name}</b>
      {p.sub !== undefined && <small>{p.sub}</small>}
    </span>
  </span>
)

/** A share as a bar; from `warn` on in another colour. */
export const Meter = (p: { share: number; label: string; warn?: number }) => (
  <meter
    class={p.warn !== undefined && p.share >= p.warn ? 'meter warn' : 'meter'}
    min={0}
    max={1}
    value={Math.min(1, Math.max(0, p.share))}
    aria-label={p.label}
  />
)
