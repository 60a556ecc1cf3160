import { describe, expect, test } from 'vitest'
import { createLog, LOG_LEVELS, type LogFields, type LogLevel } from '#src/lib/log.ts'

function logged(level: LogLevel, write: (log: ReturnType<typeof createLog>) => void): string[] {
  const lines: string[] = []
  const now = () => new Date('2026-03-01T12:00:00.500Z')
  write(createLog(level, now, (line) => lines.push(line)))
  return lines
}

const line = (message: string, fields?: LogFields) =>
  logged('debug', (log) => log.info(message, fields))[0]

test.each(LOG_LEVELS.map((level, i) => [level, LOG_LEVELS.slice(i)] as const))(
  'level %s writes %j',
  (level, written) => {
    const lines = logged(level, (log) => {
      for (const own of LOG_LEVELS) log[own]('x')
    })
    expect(lines).toEqual(written.map((own) => `2026-03-01T12:00:00 ${own} x`))
  },
)

describe('a line', () => {
  test.each<[LogFields, string]>([
    [{}, ''],
    [{ a: 1, b: true, c: null }, ' a=1 b=true c=null'],
    [{ a: undefined, b: 0 }, ' b=0'],
    [{ path: '/sub/:token', host: 'a.b:443' }, ' path=/sub/:token host=a.b:443'],
    [{ a: '' }, ' a=""'],
    [{ a: 'two words' }, ' a="two words"'],
    [{ a: 'say "x"' }, ' a="say \\"x\\""'],
    [{ a: 'x=y' }, ' a="x=y"'],
    [{ a: 'Бренд' }, ' a="Бренд"'],
  ])('has the fields %j', (fields, text) => {
    expect(line('message', fields)).toBe(`2026-03-01T12:00:00 info message${text}`)
  })

  const HOSTILE = ['\n', '\r', '\0', '\x1b[2J', '\x7f', '\x85', '\x9b2J', '\u2028', '\u2029']
  HOSTILE.push('\u202e', '\u2066', '\u200f', '\ud800')

  test.each(HOSTILE)('is never broken or turned by %j', (text) => {
    for (const own of [line('m', { a: `x${text}y` }), line(`x${text}y`)]) {
      expect(own).not.toMatch(/[\p{Cc}\p{Zl}\p{Zp}\u200e\u200f\u202a-\u202e\u2066-\u2069]/u)
      expect(own?.isWellFormed()).toBe(true)
      expect(own).toMatch(/x\\.+y/)
    }
  })

  test('cuts long values', () => {
    expect(line('m', { a: ' '.repeat(5000) })?.length).toBeLessThan(1100)
    expect(line('m', { a: 'x'.repeat(5000) })?.length).toBeLessThan(1100)
  })
})
