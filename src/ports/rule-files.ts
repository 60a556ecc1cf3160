/** Files of rules that lists name and clients load. */
export interface RuleFiles {
  /** One of ours, by its name; null where it is not there. */
  read(name: string): Uint8Array<ArrayBuffer> | null
  /** Which of these can't be had, of ours or from an address, as it was found lately. Asks nobody itself: a look at an address is begun, and counts later. */
  missing(names: readonly string[], address: string | null): string[]
  /** The same by a look at each now. */
  look(names: readonly string[], address: string | null): Promise<string[]>
}
