/** Rows that no rule has looked at, for what renderers make of what came past the rules all the same. */
import type { Sound } from '#src/domain/nodes/sound.ts'

/** A row or a value as one that was looked at. */
export const unchecked = <T>(value: T): Sound<T> => value as Sound<T>
