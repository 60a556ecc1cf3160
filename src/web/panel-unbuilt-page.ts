/** What stands at the panel's address while it is not built. */

import { html } from './markup.ts'
import { messagePage } from './message-page.ts'
import type { PageBase } from './page-base.ts'
import { stringsOf } from './strings.ts'

/** It holds nothing secret. */
export function panelUnbuiltPage(base: PageBase): string {
  const t = stringsOf(base.lang)
  return messagePage(base, {
    badge: 'alert',
    title: t.panelUnbuilt,
    text: t.panelUnbuiltText,
    detail: html`<p class="code"><code dir="ltr">npm ci &amp;&amp; npm run build</code></p>`,
    actions: [],
  })
}
