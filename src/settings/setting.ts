/** What a setting is: declared once, and all that reads, writes, checks or describes it is made from that. */
import type * as v from 'valibot'

/** A setting of the service: its name in the environment, and what a start makes of its text. */
export interface Setting {
  /** Its name in the environment; a live setting's row has it too. */
  key: string
  /** What a start makes of the environment's text; a refusal is the name with the message. Left out: the text, whatever it is. */
  start?: v.GenericSchema<string, unknown>
  /** The text that counts where there is none. */
  fallback?: string
  /** What the table of docs/deploying.md says of it, and of its default where that is no fixed text. */
  docs: string
  docsDefault?: string
}

/** Where the API has a setting: a field of a form, which is a pair of routes (http/settings-form.ts). */
export interface Place {
  form: string
  name: string
}

/** A setting as a field of the API. */
export interface Field extends Place {
  /** What a request may bring; left out: answers have it, requests don't. */
  given?: v.GenericSchema
  /** What answers show. */
  shown: v.GenericSchema
  /** What is shown of a text; `fallback`: the setting's, for a text that is no value. */
  view(text: string, fallback: string): unknown
  /** The row of what a request has brought; left out where a rule of its own saves it. */
  toRow?(given: unknown): string
}

/** One that applies live: a row of `settings` wins over the environment, the environment over the fallback. */
export interface LiveSetting extends Setting {
  /** What its row may hold, whether the panel or a backup brings it. */
  value: v.GenericSchema<unknown, string>
  /** Never shown: answers say only whether there is one, or a part of it. */
  secret?: true
  /** The secret that is sent where this setting says: a backup brings the one only with the other, or it would lead ours there. */
  leads?: string
  field?: Field
}
