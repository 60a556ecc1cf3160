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
