/** Refusals and faults, for people. */
import { type PageBase, page } from './layout.ts'
import { html } from './markup.ts'
import { type Strings, stringsOf } from './strings.ts'

export interface ErrorPageInput extends PageBase {
  status: number
  /** What the JSON answer would say. */
  message: string
}

export function errorPage(input: ErrorPageInput): string {
  const t = stringsOf(input.lang)
  const [title, text] = wording(t, input.status)
  const body = html`<section class="card stack center"><h1>${title}</h1><p class="muted">${text}</p><p class="muted">${input.status} · <span lang="en">${input.message}</span></p></section>`
  return page({ ...input, narrow: true, title, body })
}

function wording(t: Strings, status: number): [title: string, text: string] {
  if (status === 404) return [t.errorNotFound, t.errorNotFoundText]
  if (status === 429) return [t.errorTooMany, t.errorTooManyText]
  if (status >= 500) return [t.errorFault, t.errorFaultText]
  return [t.errorRefused, t.errorRefusedText]
}
