/** SQL text as it is written for both engines, in the form that PostgreSQL's protocol takes. */

export interface Numbered {
  text: string
  /** The names of its parameters, in the order of their numbers. */
  names: string[]
}

/** With `$1` where `@name` stands. */
export function numbered(text: string): Numbered {
  const names: string[] = []
  const withNumbers = text.replace(/@(\w+)/g, (_, name: string) => {
    if (!names.includes(name)) names.push(name)
    return `$${names.indexOf(name) + 1}`
  })
  return { text: withNumbers, names }
}

/** PostgreSQL has no NUL in texts, so nothing that is looked for by one is there, and nothing may be kept with one. */
export const sound = (value: unknown): unknown =>
  typeof value === 'string' && value.includes('\0') ? value.replaceAll('\0', '\u{fffd}') : value
