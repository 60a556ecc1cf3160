/** The env file: `KEY=VALUE` lines, `#` comments, optional quotes. Both runtimes read it through this, never by themselves. */

/** A line that sets something. Nothing in it can be read in two ways: a backup brings lines of any length. */
const LINE = /^\s*(?:export\s+)?([A-Za-z_][A-Za-z0-9_]*)\s*=/
/** Line breaks that end no line here. */
const OTHER_BREAK = /[\r\u2028\u2029]/

function unquote(value: string): string {
  const quote = value[0]
  if (value.length >= 2 && (quote === '"' || quote === "'") && value.endsWith(quote)) {
    return value.slice(1, -1)
  }
  return value
}

/** What a line sets; null for one that sets nothing. A value that no line can have is null: with a line break of another kind inside. */
function readLine(line: string): [key: string, value: string | null] | null {
  const match = LINE.exec(line)
  if (!match) return null
  const value = line.slice(match[0].length).trim()
  return [match[1] as string, OTHER_BREAK.test(value) ? null : unquote(value)]
}

/** Every line that sets something, in order, and what `readLine` finds there. */
export function listEnvLines(text: string): [key: string, value: string | null][] {
  return text.split(/\r?\n/).flatMap((line) => {
    const found = readLine(line)
    return found ? [found] : []
  })
}

/** The keys and values of an env file's text; a later line wins over an earlier one. */
export function parseEnvFile(text: string): Record<string, string> {
  const values: Record<string, string> = {}
  for (const [key, value] of listEnvLines(text)) if (value !== null) values[key] = value
  return values
}

/** A value as a line must have it to be read back the same: quoted where it would lose spaces or quotes of its own. */
const quote = (value: string) => (/^["'\s]|\s$/.test(value) ? `"${value}"` : value)

/** Whether a line gives the key a value. */
function sets(line: string, key: string): boolean {
  const [found, value] = readLine(line) ?? []
  return found === key && value !== null
}

/** The text without any line for `key`. */
export function removeEnvLines(text: string, key: string): string {
  const lines = text.split('\n')
  return lines.filter((line) => !sets(line, key)).join('\n')
}

/** The text with `key` set to `value`: the line that counts replaced and others of that key taken out, or a new one at the end. */
export function setEnvLine(text: string, key: string, value: string): string {
  const isOwn = (line: string) => sets(line, key)
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
