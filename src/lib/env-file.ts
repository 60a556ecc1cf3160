/** The env file: `KEY=VALUE` lines, `#` comments, optional quotes. Both runtimes read it through this, never by themselves. */

const LINE = /^\s*(?:export\s+)?([A-Za-z_][A-Za-z0-9_]*)\s*=\s*(.*?)\s*$/

function unquote(value: string): string {
  const quote = value[0]
  if (value.length >= 2 && (quote === '"' || quote === "'") && value.endsWith(quote)) {
    return value.slice(1, -1)
  }
  return value
}

const KEY = /^\s*(?:export\s+)?([A-Za-z_][A-Za-z0-9_]*)\s*=/

/** Every line that sets something, in order; null is a value that no line can have: with a line break of another kind inside. */
export function listEnvLines(text: string): [key: string, value: string | null][] {
  const found: [string, string | null][] = []
  for (const line of text.split(/\r?\n/)) {
    const match = LINE.exec(line)
    const key = KEY.exec(line)?.[1]
    if (match) found.push([match[1] as string, unquote(match[2] as string)])
    else if (key !== undefined) found.push([key, null])
  }
  return found
}

/** The keys and values of an env file's text; a later line wins over an earlier one. */
export function parseEnvFile(text: string): Record<string, string> {
  const values: Record<string, string> = {}
  for (const [key, value] of listEnvLines(text)) if (value !== null) values[key] = value
  return values
}

/** A value as a line must have it to be read back the same: quoted where it would lose spaces or quotes of its own. */
const quote = (value: string) => (/^["'\s]|\s$/.test(value) ? `"${value}"` : value)

/** The text without any line for `key`. */
export function removeEnvLines(text: string, key: string): string {
  const lines = text.split('\n')
  return lines.filter((line) => LINE.exec(line)?.[1] !== key).join('\n')
}

/** The text with `key` set to `value`: the line that counts replaced and others of that key taken out, or a new one at the end. */
export function setEnvLine(text: string, key: string, value: string): string {
  const isOwn = (line: string) => LINE.exec(line)?.[1] === key
  const lines = text.split('\n')
  const last = lines.findLastIndex(isOwn)
  if (last >= 0) {
    lines[last] = `${key}=${quote(value)}`
    return lines.filter((line, i) => i === last || !isOwn(line)).join('\n')
  }
  while (lines.at(-1) === '') lines.pop()
  lines.push(`${key}=${quote(value)}`, '')
  return lines.join('\n')
}
