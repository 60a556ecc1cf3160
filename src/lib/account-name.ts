/** Names of accounts: one name has one spelling, and none can pass for another by its letters. */

/** A name as it is kept: characters that are the same but for their form become one (NFKC, Unicode Annex 15). */
export const normalName = (name: string): string => name.normalize('NFKC')

/** Names with the same key are the same name. */
export const nameKey = (name: string): string => normalName(name.trim()).toLowerCase()

/** Scripts with letters that look like those of another one, and those that people of one language write together. */
const SCRIPTS = [
  ['Latin'],
  ['Cyrillic'],
  ['Greek'],
  ['Armenian'],
  ['Georgian'],
  ['Cherokee'],
  ['Coptic'],
  ['Hebrew'],
  ['Arabic'],
  ['Han', 'Hiragana', 'Katakana', 'Hangul', 'Bopomofo'],
].map((names) => new RegExp(`[${names.map((name) => `\\p{Script=${name}}`).join('')}]`, 'u'))

/** Whether the letters of a name are of one script: `admin` with a Cyrillic `а` is not (Unicode Technical Standard 39, 5.1). */
export const isOfOneScript = (name: string): boolean =>
  SCRIPTS.filter((script) => script.test(name)).length <= 1
