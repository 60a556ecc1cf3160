/** What may stand as JSON in a row that a backup brings. */
import * as v from 'valibot'
import { isJsonObject, type JsonObject } from '#src/lib/json.ts'
import { decode } from './stored-table.ts'

/** Ours have two levels. What has thousands can't be handed from one thread to another, nor written as JSON: it ended the thread that read it. */
const MOST_LEVELS = 16
const hasLevels = (value: unknown, most: number): boolean =>
  typeof value !== 'object' ||
  value === null ||
  (most > 0 && Object.values(value).every((one) => hasLevels(one, most - 1)))
/** Orders, events and messages have some hundreds. */
const MOST_JSON = 65_536
/** JSON of ours, which a backup brings. */
export const json = v.custom<JsonObject>(
  (value) =>
    isJsonObject(value) &&
    hasLevels(value, MOST_LEVELS) &&
    JSON.stringify(value).length <= MOST_JSON,
)
/** The text of it. */
export const jsonText = v.pipe(
  v.string(),
  v.check((text) => v.is(json, decode('json', text))),
)
