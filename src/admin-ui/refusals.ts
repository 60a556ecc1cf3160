/** What the service says of refusals and faults, in the language of the panel. Its own words are English; those of others are loaded when one is met. */
import { useEffect, useState } from 'preact/hooks'
import type { ApiError } from './api-error.ts'
import { lang } from './i18n.ts'
import { translator } from './translate.ts'

interface Words {
  /** Refusals, by their codes. */
  refusals: Record<string, string>
  /** What is noted of things, by its own words. */
  said: (text: string) => string | null
}

let russian: Words | null = null

/** Gets the words for what is about to be shown. */
export async function loadRefusals(): Promise<void> {
  if (lang() !== 'ru' || russian) return
  // Without them the service's own words are shown.
  const modules = [import('./i18n/refusals.ru.ts'), import('./i18n/said.ru.ts')] as const
  const found = await Promise.all(modules).catch(() => null)
  if (!found) return
  const [{ refusalsRu }, { saidRu }] = found
  russian = { refusals: refusalsRu, said: translator(saidRu) }
}

const words = () => (lang() === 'ru' ? russian : null)

/** The sentence of a refusal without its field, or null: the service's own words will do. */
function sentenceOf({ code, values }: ApiError): string | null {
  const sentence = words()?.refusals[code ?? '']
  return sentence?.replace(/\{(\w+)\}/g, (whole, name: string) => values[name] ?? whole) ?? null
}

/** A refusal for reading. */
export function inWords(error: ApiError): string {
  const sentence = sentenceOf(error)
  if (sentence === null) return error.message
  const { field } = error.values
  return field === undefined ? sentence : `${field}: ${sentence}`
}

/** What stands at a field: the refusal without the field's name. */
export const faultInWords = (error: ApiError, fault: string): string => sentenceOf(error) ?? fault

/** A note of the service for reading. */
export const noteInWords = (text: string): string => words()?.said(text) ?? text

/** The same, drawn anew once its words are there. */
export function Said({ text }: { text: string }): string {
  const [, setLoaded] = useState(false)
  useEffect(() => {
    void loadRefusals().then(() => setLoaded(true))
  }, [])
  return noteInWords(text)
}
