/** Parts of a whole: a ring, and the same as a list. */
import type { ComponentChildren } from 'preact'
import { number, percent } from '#src/admin-ui/format.ts'

export interface Slice {
  key: string
  label: string
  value: number
}

const RADIUS = 42
const AROUND = 2 * Math.PI * RADIUS
const GAP = 2.5
const COLOURS = 5

/** At most five slices have colours of their own; put the rest together before. */
export function Donut(p: { slices: Slice[]; children?: ComponentChildren }) {
  const total = p.slices.reduce((sum, slice) => sum + slice.value, 0)
  let before = 0
  return (
    <div class="donut">
      <div class="donut-ring">
        <svg viewBox="0 0 100 100" aria-hidden="true">
          <circle class="c-none" cx="50" cy="50" r={RADIUS} />
          {p.slices.map((slice, at) => {
            const length = (slice.value / total) * AROUND
            const start = before
            before += length
            const gap = p.slices.length > 1 ? GAP : 0
            return (
              <circle
                key={slice.key}
                class={`c-${(at % COLOURS) + 1}`}
                cx="50"
                cy="50"
                r={RADIUS}
                stroke-dasharray={`${Math.max(0.1, length - gap)} ${AROUND}`}
                stroke-dashoffset={-start}
                transform="rotate(-90 50 50)"
              />
            )
          })}
        </svg>
        <div class="donut-middle">{p.children}</div>
      </div>
      <ul>
        {p.slices.map((slice, at) => (
          <li key={slice.key}>
            <i class={`c-${(at % COLOURS) + 1}`} />
            <span>{slice.label}</span>
            <b class="num">{number(slice.value)}</b>
            <small class="num">{percent(slice.value / total)}</small>
          </li>
        ))}
      </ul>
    </div>
  )
}
