/** Where a text stops being JSON, which runtimes say in words of their own, or not at all. */

const TOKEN =
  /([{}[\],:])|("(?:[^"\\\p{Cc}]|[\x7f-\x9f]|\\(?:["\\/bfnrt]|u[\da-fA-F]{4}))*")|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/uy
const REST = /[ \t\r\n]*/y

/** What may come next, by the signs of it: `s` is a string, `v` another value. `first…`: or the end of what was just opened. */
const MAY = {
  value: '{[sv',
  'first value': '{[sv]',
  key: 's',
  'first key': 's}',
  colon: ':',
  more: ',}]',
}
type Next = keyof typeof MAY

/** What comes after a token; null where it can't stand there. */
function after([, sign, text]: RegExpExecArray, next: Next, open: string[]): Next | null {
  const kind = sign ?? (text === undefined ? 'v' : 's')
  if (!MAY[next].includes(kind)) return null
  switch (kind) {
    case '{':
      open.push('}')
      return 'first key'
    case '[':
      open.push(']')
      return 'first value'
    case '}':
    case ']':
      return open.pop() === kind ? 'more' : null
    case ':':
      return 'value'
    case ',':
      return open.at(-1) === '}' ? 'key' : 'value'
    default:
      return next.endsWith('key') ? 'colon' : 'more'
  }
}

/** The offset of the first thing in a text that makes it no JSON: its length where something is missing at its end. */
export function jsonFault(text: string): number {
  const open: string[] = []
  let next: Next = 'value'
  let at = 0
  for (;;) {
    REST.lastIndex = at
    at += REST.exec(text)?.[0].length ?? 0
    TOKEN.lastIndex = at
    const token: RegExpExecArray | null =
      next === 'more' && open.length === 0 ? null : TOKEN.exec(text)
    const then: Next | null = token && after(token, next, open)
    if (!token || !then) return at
    next = then
    at = TOKEN.lastIndex
  }
}
