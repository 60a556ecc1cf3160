/** One small bar a day, with the day's number below; a table for those who don't see it. */
import { number, shortDay } from '#src/admin-ui/format.ts'

export interface Day {
  /** `YYYY-MM-DD` */
  date: string
  count: number
}

const HEIGHT = 52
const STEP = 24
const BAR = 14

export function DayBars(p: {
  label: string
  days: Day[] /** So many of the first stand out. */
  near?: number
}) {
  const top = Math.max(1, ...p.days.map((day) => day.count))
  return (
    <figure class="day-bars">
      <svg viewBox={`0 0 ${p.days.length * STEP} ${HEIGHT + 16}`} aria-hidden="true">
        {p.days.map((day, at) => {
          const height = Math.max(2, (day.count / top) * HEIGHT)
          return (
            <g key={day.date}>
              <rect
                class={at < (p.near ?? 0) ? 'near' : undefined}
                x={at * STEP + (STEP - BAR) / 2}
                y={HEIGHT - height}
                width={BAR}
                height={height}
                rx="3"
              >
                <title>{`${shortDay(day.date)}: ${number(day.count)}`}</title>
              </rect>
              <text x={at * STEP + STEP / 2} y={HEIGHT + 13} text-anchor="middle">
                {Number(day.date.slice(8))}
              </text>
            </g>
          )
        })}
      </svg>
      <div class="sr">
        <table>
          <caption>{p.label}</caption>
          <tbody>
            {p.days.map((day) => (
              <tr key={day.date}>
                <th scope="row">{shortDay(day.date)}</th>
                <td>{day.count}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </figure>
  )
}
