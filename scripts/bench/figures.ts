/** Figures with their targets, and the one table that they end in. */

export interface Figure {
  part: string
  runtime: string
  name: string
  value: number
  unit: string
  /** What the value should be at most or at least; absent where the figure only explains another. */
  atMost?: number
  atLeast?: number
}

export const median = (values: number[]): number => {
  const sorted = [...values].sort((a, b) => a - b)
  const middle = sorted.length >> 1
  const upper = sorted[middle] ?? Number.NaN
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? Number.NaN) + upper) / 2
}

/** Whether a figure reaches its target; null without one. */
export function isReached({ value, atMost, atLeast }: Figure): boolean | null {
  if (atMost !== undefined) return value <= atMost
  if (atLeast !== undefined) return value >= atLeast
  return null
}

const short = (value: number): string =>
  Math.abs(value) >= 100 ? value.toFixed(0) : String(Number(value.toPrecision(3)))

function cells(figure: Figure): string[] {
  const { atMost, atLeast } = figure
  const target =
    atMost !== undefined ? `<= ${atMost}` : atLeast !== undefined ? `>= ${atLeast}` : ''
  const reached = isReached(figure)
  const verdict = reached === null ? '' : reached ? 'yes' : 'NO'
  const value = `${short(figure.value)} ${figure.unit}`.trim()
  return [figure.part, figure.runtime, figure.name, value, target, verdict]
}

/** The figures as a table of Markdown. */
export function formatTable(figures: Figure[]): string {
  const head = ['part', 'runtime', 'figure', 'value', 'target', 'reached']
  const rows = [head, ...figures.map(cells)]
  const widths = head.map((_, i) => Math.max(...rows.map((row) => (row[i] as string).length)))
  const lines = rows.map(
    (row) => `| ${row.map((cell, i) => cell.padEnd(widths[i] as number)).join(' | ')} |`,
  )
  const rule = `| ${widths.map((width) => '-'.repeat(width)).join(' | ')} |`
  return [lines[0], rule, ...lines.slice(1)].join('\n')
}
