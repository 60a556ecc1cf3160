/** Text as a word of a POSIX shell. */

/** The text between single quotes (POSIX, Shell Command Language 2.2.2): one word, nothing in it is expanded. */
export const shellQuote = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`
