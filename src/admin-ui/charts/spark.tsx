/** A line without axes, beside a number that says what it is. */
import './spark.css'

const WIDTH = 76
const HEIGHT = 34

export function Spark({ values }: { values: number[] }) {
  if (values.length < 2) return null
  const top = Math.max(...values, 1)
  const points = values.map((value, at) => [
    (at * WIDTH) / (values.length - 1),
    HEIGHT - 2 - (value / top) * (HEIGHT - 6),
  ])
  const line = points.map(([x, y]) => `${x?.toFixed(1)} ${y?.toFixed(1)}`).join('L')
  return (
    <svg class="spark" viewBox={`0 0 ${WIDTH} ${HEIGHT}`} aria-hidden="true">
      <path class="spark-area" d={`M0 ${HEIGHT}L${line}L${WIDTH} ${HEIGHT}z`} />
      <path class="spark-line" d={`M${line}`} />
    </svg>
  )
}
