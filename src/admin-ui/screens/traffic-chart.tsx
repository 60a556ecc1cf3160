/** Traffic by day. */
import { TimeChart } from '#src/admin-ui/charts/time-chart.tsx'
import { bytes } from '#src/admin-ui/format.ts'
import { trafficTexts } from './traffic-texts.ts'

export function TrafficChart(p: { days: string[]; rows: { up: number; down: number }[] }) {
  const t = trafficTexts()
  return (
    <TimeChart
      label={t.byDay}
      days={p.days}
      bars={{ label: t.down, values: p.rows.map((row) => row.down), say: bytes, tick: bytes }}
      line={{ label: t.up, values: p.rows.map((row) => row.up), say: bytes, tick: bytes }}
    />
  )
}
