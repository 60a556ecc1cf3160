/** Templates of lists, written behind the service's back. */
import { MIHOMO_TEMPLATE } from '#test/fixtures/lists/templates.ts'
import type { World } from '#test/support/worlds/world.ts'

export function putTemplate(w: World, format: 'mihomo' | 'singbox', body: string): void {
  w.change('delete from list_templates where format = ?', format)
  w.change(
    "insert into list_templates (format, body, updated_at) values (?, ?, '2026-01-01T00:00:00')",
    format,
    body,
  )
}

/** As a stranger would write one: whoever has the list can be told what to do. */
export const HOSTILE_TEMPLATE = `${MIHOMO_TEMPLATE}external-controller: 0.0.0.0:9090\nsecret: stranger\n`
/** What is wrong with it. */
export const HOSTILE_FAULT =
  "mihomo: external-controller can't be in a template: it reaches beyond the list"
