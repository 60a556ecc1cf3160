/** Traffic by day. */
import { TimeChart } from '#src/admin-ui/charts/time-chart.tsx'
import { bytes } from '#src/admin-ui/format.ts'
import { trafficTexts } from './texts.ts'

const words = { say: bytes, tick: bytes }

/** Round numbers of bytes to petabytes. */
const BYTE_STEPS = Array.from({ length: 6 }, (_, power) =>
  [1, 2, 5, 10, 20, 50, 100, 200, 500].map((n) => n * 1024 ** power),
).flat()

export function TrafficChart(p: { days: string[]; rows: { up: number; down: number }[] }) {
  const t = trafficTexts()
  return (
    <TimeChart
      label={t.byDay}
      days={p.days}
      bars={{ ...words, label: t.down, values: p.rows.map((row) => row.down), steps: BYTE_STEPS }}
      line={{ ...words, label: t.up, values: p.rows.map((row) => row.up), onScaleOfBars: true }}
    />
  )
}
