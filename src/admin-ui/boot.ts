/** What the service tells the panel with its page, before any request. */
import type { PanelBoot } from '#src/web/panel-page.ts'

const element = document.getElementById('panel') as HTMLElement

export const boot = JSON.parse(element.dataset.boot as string) as PanelBoot

/** Where the panel is drawn. */
export const root = element

/** Remembers a choice of this browser for a year; the service reads it when it makes the page. */
export function remember(name: 'panel_theme' | 'panel_lang', value: string): void {
  // biome-ignore lint/suspicious/noDocumentCookie: the Cookie Store API is missing in Firefox before 140
  document.cookie = `${name}=${value}; Path=${boot.basePath}; Max-Age=31536000; SameSite=Strict`
}
