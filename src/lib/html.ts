/** HTML as text that is put into other text: messages of the bot. Pages have web/markup.ts. */

const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }

/** Text as HTML that shows it, also inside a quoted attribute. */
export const escapeHtml = (text: string): string =>
  text.replace(/[&<>"]/g, (character) => ENTITIES[character] as string)

/** HTML of a template: its own text stays as it is, what is put into it is escaped. */
export const html = (parts: TemplateStringsArray, ...values: (string | number)[]): string =>
  String.raw({ raw: parts }, ...values.map((value) => escapeHtml(String(value))))

const CHARACTERS = Object.fromEntries(
  Object.entries(ENTITIES).map(([text, entity]) => [entity, text]),
)

/** The text that `escapeHtml` and tags made HTML of, without its tags. */
export const plainOfHtml = (html: string): string =>
  html
    .replace(/<[^<>]*>/g, '')
    .replace(/&(?:amp|lt|gt|quot);/g, (entity) => CHARACTERS[entity] as string)
