/** What the service says of refusals and faults, in the language of the panel. Its own words are English; those of others are loaded when one is met. */
import { useEffect, useState } from 'preact/hooks'
import { lang } from './i18n.ts'
import { translated, translator } from './translate.ts'

let russian: ((text: string) => string | null) | null = null

/** Gets the words for what is about to be shown. */
export async function loadRefusals(): Promise<void> {
  if (lang() !== 'ru' || russian) return
  // Without them the service's own words are shown.
  const module = await import('./i18n/refusals.ru.ts').catch(() => null)
  if (module) russian = translator(module.refusalsRu)
}

/** A text of the service for reading. */
export const inWords = (message: string): string =>
  lang() === 'ru' && russian ? translated(russian, message) : message

/** What stands at a field: the refusal without the field's name, unless it is a sentence of its own. */
export const faultInWords = (message: string, fault: string): string =>
  (lang() === 'ru' && russian && (russian(message) ?? russian(fault))) || fault

/** A text of the service that is shown without having been refused: drawn anew once its words are there. */
export function Said({ text }: { text: string }): string {
  const [, setLoaded] = useState(false)
  useEffect(() => {
    void loadRefusals().then(() => setLoaded(true))
  }, [])
  return inWords(text)
}
