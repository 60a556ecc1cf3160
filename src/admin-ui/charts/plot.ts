/** uPlot dressed as the panel: a chunk of its own. */
import uPlot from 'uplot'
import 'uplot/dist/uPlot.min.css'
import './plot.css'
import { shortDay } from '#src/admin-ui/format.ts'
import type { PlotInput } from './series.ts'

const DAY_S = 86_400
/** Half a bar on both sides, or the first and the last are cut. */
const MARGIN_S = 0.6 * DAY_S

/** A colour of the theme, as a canvas takes it. */
function colourOf(host: HTMLElement, name: string): string {
  const probe = document.createElement('i')
  probe.style.color = `var(${name})`
  host.append(probe)
  const { color } = getComputedStyle(probe)
  probe.remove()
  return color
}

function tipLine(name: string, text: string, value?: string): HTMLElement {
  const line = document.createElement('div')
  line.className = name
  const label = document.createElement('span')
  label.textContent = text
  line.append(label)
  if (value !== undefined) {
    const strong = document.createElement('b')
    strong.textContent = value
    line.append(strong)
  }
  return line
}

/** The box that follows the pointer. */
function tipPlugin(input: PlotInput, times: number[]): uPlot.Plugin {
  const tip = document.createElement('div')
  tip.className = 'plot-tip'
  tip.hidden = true
  const show = (plot: uPlot, at: number) => {
    const lines = [tipLine('day', shortDay(input.days[at] as string))]
    for (const [name, series] of [
      ['bars', input.bars],
      ['line', input.line],
    ] as const) {
      if (series) lines.push(tipLine(name, series.label, series.say(series.values[at] ?? 0)))
    }
    tip.replaceChildren(...lines)
    tip.hidden = false
    const x = plot.valToPos(times[at] as number, 'x')
    const toLeft = x > plot.over.clientWidth / 2
    tip.style.transform = `translateX(${toLeft ? x - tip.offsetWidth - 14 : x + 14}px)`
  }
  return {
    hooks: {
      init: (plot) => plot.over.append(tip),
      setCursor: (plot) => {
        const { idx, left } = plot.cursor
        if (idx === null || idx === undefined || left === undefined || left < 0) tip.hidden = true
        else show(plot, idx)
      },
    },
  }
}

const top =
  (room: number): uPlot.Range.Function =>
  (_plot, _min, max) => [0, Math.max(1, max * room)]

function optionsOf(host: HTMLElement, input: PlotInput, times: number[]): uPlot.Options {
  const { bars, line } = input
  const hasOwnScale = line !== null && !line.onScaleOfBars
  const colour = (name: string) => colourOf(host, name)
  const font = '11px "Onest Variable", system-ui, sans-serif'
  const axis = { stroke: colour('--text-3'), font, ticks: { show: false } }
  const range: uPlot.Range.MinMax = [
    (times[0] as number) - MARGIN_S,
    (times.at(-1) as number) + MARGIN_S,
  ]
  const dayOf = (time: number) => shortDay(new Date(time * 1000).toISOString().slice(0, 10))
  return {
    width: host.clientWidth,
    height: host.clientHeight,
    padding: [10, hasOwnScale ? 0 : 12, 0, 0],
    legend: { show: false },
    cursor: { y: false, points: { show: false }, drag: { x: false, y: false } },
    tzDate: (time) => uPlot.tzDate(new Date(time * 1000), 'UTC'),
    scales: {
      x: { time: true, range: () => range },
      y: { range: top(1.12) },
      right: { range: top(1.3) },
    },
    axes: [
      {
        ...axis,
        grid: { show: false },
        space: 64,
        gap: 8,
        size: 30,
        values: (_plot, values) => values.map(dayOf),
      },
      {
        ...axis,
        size: 58,
        grid: { stroke: colour('--grid'), width: 1, dash: [3, 4] },
        values: (_plot, values) => values.map(bars.tick),
        ...(bars.steps && { incrs: bars.steps }),
      },
      ...(hasOwnScale
        ? [
            {
              ...axis,
              scale: 'right',
              side: 1 as const,
              size: 50,
              grid: { show: false },
              values: (_plot: uPlot, values: number[]) =>
                values.map((value) => (Number.isInteger(value) ? line.tick(value) : '')),
            },
          ]
        : []),
    ],
    series: [
      {},
      {
        scale: 'y',
        fill: colour('--chart-1'),
        width: 0,
        paths: uPlot.paths.bars?.({ size: [0.6, 22], radius: 0.25 }) as uPlot.Series.PathBuilder,
        points: { show: false },
      },
      ...(line
        ? [
            {
              scale: hasOwnScale ? 'right' : 'y',
              stroke: colour('--chart-2'),
              width: 2.25,
              points: { show: false },
            },
          ]
        : []),
    ],
    plugins: [tipPlugin(input, times)],
  }
}

/** Draws into `host`; the answer takes the drawing away again. */
export function drawPlot(host: HTMLElement, input: PlotInput): () => void {
  const times = input.days.map((day) => Date.parse(`${day}T00:00:00Z`) / 1000)
  if (times.length === 0) return () => {}
  const data = [times, input.bars.values, ...(input.line ? [input.line.values] : [])]
  const plot = new uPlot(optionsOf(host, input, times), data as uPlot.AlignedData, host)
  const observer = new ResizeObserver(() =>
    plot.setSize({ width: host.clientWidth, height: host.clientHeight }),
  )
  observer.observe(host)
  return () => {
    observer.disconnect()
    plot.destroy()
  }
}
