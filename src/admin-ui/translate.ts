/** Texts of others in other words, by a table. */

/** Texts by text; `{}` stands for anything. */
export type Table = Record<string, string>

interface Pattern {
  expression: RegExp
  text: string
}

const escaped = (text: string) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')

/** Gives the other words of a text, or null where it has none. */
export function translator(table: Table): (text: string) => string | null {
  const patterns: Pattern[] = Object.entries(table)
    .filter(([text]) => text.includes('{}'))
    .map(([text, other]) => ({
      expression: new RegExp(`^${text.split('{}').map(escaped).join('(.+)')}$`, 's'),
      text: other,
    }))
  return (text) => {
    const exact = Object.hasOwn(table, text) ? table[text] : undefined
    if (exact !== undefined) return exact
    for (const pattern of patterns) {
      const found = pattern.expression.exec(text)
      if (!found) continue
      let at = 0
      return pattern.text.replaceAll('{}', () => found[++at] ?? '')
    }
    return null
  }
}

/** A text that names its field first: `port must be …`. */
const NAMED = /^([a-zA-Z0-9_.]+) ((?:must|may|has|is|would|leads) .+)$/s

/** A refusal of the service in other words; as it is where they have none. */
export function translated(translate: (text: string) => string | null, message: string): string {
  const whole = translate(message)
  if (whole !== null) return whole
  const [, name = '', fault = ''] = NAMED.exec(message) ?? []
  const text = translate(fault)
  return text === null ? message : `${name}: ${text}`
}
