/** What a world answers. */

export interface Answer {
  status: number
  headers: Headers
  bytes: Uint8Array
  text: string
  /** The parsed body; undefined when it is no JSON. */
  // biome-ignore lint/suspicious/noExplicitAny: tests read fields of unknown shape
  json: any
}
