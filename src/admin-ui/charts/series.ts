/** What a chart over days is made of. */

export interface Series {
  label: string
  values: number[]
  /** A value in words, for the tip. */
  say: (value: number) => string
  /** A value on the axis. */
  tick: (value: number) => string
}

export interface PlotInput {
  days: string[]
  bars: Series
  line: Series | null
}
