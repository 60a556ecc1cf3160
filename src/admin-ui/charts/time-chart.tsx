/** Two series by day: bars on the left scale, a line on the same or on the right one. uPlot is loaded when it is first drawn. */
import { useEffect, useRef, useState } from 'preact/hooks'
import { shortDay } from '#src/admin-ui/format.ts'
import { Skeleton } from '#src/admin-ui/kit/state.tsx'
import { theme } from '#src/admin-ui/theme.ts'
import type { Line, PlotInput, Series } from './series.ts'

export interface TimeChartProps {
  /** What it shows, for those who don't see it. */
  label: string
  /** `YYYY-MM-DD`, oldest first. */
  days: string[]
  bars: Series
  line?: Line
}

type Draw = (host: HTMLElement, input: PlotInput) => () => void

export function TimeChart(p: TimeChartProps) {
  const host = useRef<HTMLDivElement>(null)
  const [draw, setDraw] = useState<{ with: Draw } | null>(null)
  const shownTheme = theme.use()
  useEffect(() => {
    let left = false
    void import('./plot.ts').then((module) => {
      if (!left) setDraw({ with: module.drawPlot })
    })
    return () => {
      left = true
    }
  }, [])
  const key = JSON.stringify([p.days, p.bars.values, p.line?.values, p.bars.label, shownTheme])
  useEffect(() => {
    if (!host.current || !draw) return
    return draw.with(host.current, { days: p.days, bars: p.bars, line: p.line ?? null })
  }, [draw, key])
  return (
    <figure class="time-chart">
      {p.line && (
        <ul class="legend" aria-hidden="true">
          <li>{p.bars.label}</li>
          <li class="line">{p.line.label}</li>
        </ul>
      )}
      {!draw && <Skeleton lines={5} tall />}
      <div ref={host} class="plot" aria-hidden="true" />
      <div class="sr">
        <table>
          <caption>{p.label}</caption>
          <thead>
            <tr>
              <td />
              <th scope="col">{p.bars.label}</th>
              {p.line && <th scope="col">{p.line.label}</th>}
            </tr>
          </thead>
          <tbody>
            {p.days.map((day, at) => (
              <tr key={day}>
                <th scope="row">{shortDay(day)}</th>
                <td>{p.bars.say(p.bars.values[at] ?? 0)}</td>
                {p.line && <td>{p.line.say(p.line.values[at] ?? 0)}</td>}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </figure>
  )
}
