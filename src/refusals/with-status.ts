/** A refusal as it is declared. */
export interface Declared {
  status: number
  sentence: string
}

/** Refusals of one status, by their codes. */
export const withStatus = <const T extends Record<string, string>, const S extends number>(
  status: S,
  sentences: T,
): { [C in keyof T]: { status: S; sentence: T[C] } } =>
  Object.fromEntries(
    Object.entries(sentences).map(([code, sentence]) => [code, { status, sentence }]),
  ) as { [C in keyof T]: { status: S; sentence: T[C] } }
