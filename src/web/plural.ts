/** Counted words in the forms of a language. */

export type Forms = Partial<Record<Intl.LDMLPluralRule, string>> & { other: string }

/** What a language makes of a count: the word alone, and the word with its number in that language's digits. */
export function counted(tag: string, forms: Forms) {
  const rules = new Intl.PluralRules(tag)
  const digits = new Intl.NumberFormat(tag)
  const word = (count: number): string => forms[rules.select(count)] ?? forms.other
  const number = (count: number): string => digits.format(count)
  return { word, number, phrase: (count: number): string => `${number(count)} ${word(count)}` }
}
