/** What a chart over days is made of. */

export interface Series {
  label: string
  values: number[]
  /** A value in words, for the tip. */
  say: (value: number) => string
  /** A value on the axis. */
  tick: (value: number) => string
  /** How far apart the values on the axis may be; steps of tens if absent. */
  steps?: number[]
}

export interface Line extends Series {
  /** What is counted in the same unit shares the scale of the bars. */
  onScaleOfBars?: boolean
}

export interface PlotInput {
  days: string[]
  bars: Series
  line: Line | null
}
