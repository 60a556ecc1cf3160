/** The only place that reads the time. Tests pass a clock set by hand. */

export interface Clock {
  /** Wall clock. */
  now(): Date
  /** Milliseconds that never jump; only differences mean anything. */
  monotonicMs(): number
}

export const systemClock: Clock = {
  now: () => new Date(),
  monotonicMs: () => performance.now(),
}
