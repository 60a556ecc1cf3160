/** Cores of client apps, where they are on this machine. */
import type { TemplateFormat } from '#db/values.ts'

/** What a core says of a list. */
export interface CoreWord {
  /** The name of the core. */
  core: string
  /** What it does not take of it; null: nothing. */
  complaint: string | null
}

export interface ClientCores {
  /** Has the core of a format read a list, where it can harm nothing. Null where there is none, or no such place. */
  check(format: TemplateFormat, list: string): Promise<CoreWord | null>
}
