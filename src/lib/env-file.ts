/** The env file: `KEY=VALUE` lines, `#` comments, optional quotes. Both runtimes read it through this, never by themselves. */

const LINE = /^\s*(?:export\s+)?([A-Za-z_][A-Za-z0-9_]*)\s*=\s*(.*?)\s*$/

function unquote(value: string): string {
  const quote = value[0]
  if (value.length >= 2 && (quote === '"' || quote === "'") && value.endsWith(quote)) {
    return value.slice(1, -1)
  }
  return value
}

/** The keys and values of an env file's text; a later line wins over an earlier one. */
export function parseEnvFile(text: string): Record<string, string> {
  const values: Record<string, string> = {}
  for (const line of text.split(/\r?\n/)) {
    const match = LINE.exec(line)
    if (match) values[match[1] as string] = unquote(match[2] as string)
  }
  return values
}

/** The text with `key` set to `value`: the line that counts replaced, or a new one at the end. */
export function setEnvLine(text: string, key: string, value: string): string {
  const lines = text.split('\n')
  const own = lines.findLastIndex((line) => LINE.exec(line)?.[1] === key)
  if (own >= 0) lines[own] = `${key}=${value}`
  else {
    while (lines.at(-1) === '') lines.pop()
    lines.push(`${key}=${value}`, '')
  }
  return lines.join('\n')
}
