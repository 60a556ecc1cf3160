/** HTML templates that escape every value: `hono/html` narrowed to what is known at once, so the result is never a promise. */
import { html as template } from 'hono/html'
import type { HtmlEscapedString } from 'hono/utils/html'

export type Markup = HtmlEscapedString
type Value = string | number | boolean | null | undefined | Markup | Value[]

/** Markup of a template; strings in it are escaped, for text and for quoted attribute values alike. */
export const html = template as (strings: TemplateStringsArray, ...values: Value[]) => Markup
