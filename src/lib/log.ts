/** The operator's log: a line per event, `time level message key=value …`, UTC. Values never break the line. */
import { formatTimestamp } from './time.ts'

export const LOG_LEVELS = ['debug', 'info', 'warn', 'error'] as const
export type LogLevel = (typeof LOG_LEVELS)[number]
export type LogFields = Record<string, string | number | boolean | null | undefined>

export type Log = Record<LogLevel, (message: string, fields?: LogFields) => void>

const PLAIN = /^[\w.:/@+-]{1,200}$/

/** What JSON leaves as it is and a terminal obeys: C1 controls, line separators, direction marks. */
const OBEYED = /[\u007f-\u009f\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069]/g

const quote = (text: string): string =>
  JSON.stringify(text).replace(OBEYED, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`)

function formatField([key, value]: [string, LogFields[string]]): string {
  const text = String(value)
  return `${key}=${PLAIN.test(text) ? text : quote(text.slice(0, 1000))}`
}

/** A log that writes lines of `level` and above with `write`. `now` gives the time of a line. */
export function createLog(level: LogLevel, now: () => Date, write: (line: string) => void): Log {
  const lowest = LOG_LEVELS.indexOf(level)
  const at =
    (own: LogLevel) =>
    (message: string, fields: LogFields = {}) => {
      if (LOG_LEVELS.indexOf(own) < lowest) return
      const pairs = Object.entries(fields).filter(([, value]) => value !== undefined)
      const text = quote(message).slice(1, -1)
      write([formatTimestamp(now()), own, text, ...pairs.map(formatField)].join(' '))
    }
  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') }
}

export const silentLog: Log = { debug() {}, info() {}, warn() {}, error() {} }
