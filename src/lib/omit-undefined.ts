/** The fields of an object that are given. */

export type Given<T> = { [K in keyof T]?: Exclude<T[K], undefined> }

/** A copy without the fields that are undefined. */
export function omitUndefined<T extends object>(fields: T): Given<T> {
  return Object.fromEntries(
    Object.entries(fields).filter(([, value]) => value !== undefined),
  ) as Given<T>
}
