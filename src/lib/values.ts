/** What values must be, as schemas with the words of a refusal: for requests, and for rows that come from elsewhere. */
import * as v from 'valibot'
import { formatTimestamp, parseTimestamp } from './time.ts'

const text = (max: number) =>
  v.pipe(v.string('must be a string'), v.maxLength(max, `must have at most ${max} characters`))

/** A string of at most `max` characters, as it is. */
export const plainText = text

/** A string of at most `max` characters, trimmed, not empty. */
export const requiredText = (max: number) =>
  v.pipe(text(max), v.trim(), v.minLength(1, 'must not be empty'))

/** No control characters, half surrogates or line separators. */
const ONE_LINE = /^[^\p{Cc}\p{Cs}\u2028\u2029]*$/u

/** One line of at most `max` characters, as it is. */
export const plainLine = (max: number) =>
  v.pipe(text(max), v.regex(ONE_LINE, 'must be one line without control characters'))

/** One line of at most `max` characters, trimmed; may be empty. */
export const line = (max: number) =>
  v.pipe(
    v.string('must be a string'),
    v.trim(),
    v.maxLength(max, `must have at most ${max} characters`),
    v.regex(ONE_LINE, 'must be one line without control characters'),
  )

/** The same, not empty. */
export const requiredLine = (max: number) => v.pipe(line(max), v.minLength(1, 'must not be empty'))

/** A text of at most 255 characters that `read` understands, as it has it. */
export const asRead = (read: (text: string) => string | null, need: string) =>
  v.pipe(
    text(255),
    v.trim(),
    v.check((given) => read(given) !== null, need),
    v.transform((given) => read(given) as string),
  )

/** A secret that another system made up: trimmed, printable ASCII without spaces. */
export const secretText = (max: number) =>
  v.pipe(
    line(max),
    v.minLength(1, 'must not be empty'),
    v.regex(/^[\x21-\x7e]+$/, 'must be letters, digits and signs without spaces'),
  )

const integerFault = (min: number, max: number) => `must be a whole number from ${min} to ${max}`

/** An integer in a range; strings and fractions are refused. `least`: from where on it is said to go. */
export const integer = (min: number, max: number, least = min) =>
  v.pipe(
    v.number(integerFault(least, max)),
    v.safeInteger(integerFault(least, max)),
    v.minValue(min, integerFault(least, max)),
    v.maxValue(max, integerFault(least, max)),
  )

/** The same from a query's text. */
export const queryInteger = (min: number, max: number) =>
  v.pipe(
    v.string(),
    v.regex(/^\d{1,16}$/, integerFault(min, max)),
    v.transform(Number),
    v.minValue(min, integerFault(min, max)),
    v.maxValue(max, integerFault(min, max)),
  )

/** A text in the form of a timestamp, to compare timestamps with. */
export const timestampText = v.pipe(
  v.string('must be YYYY-MM-DDTHH:MM:SS'),
  v.regex(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}$/, 'must be YYYY-MM-DDTHH:MM:SS'),
)

/** What is a time of day in any month. The rest takes a date to tell, five times as long: restores read millions. */
const SURE = /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8])T(?:[01]\d|2[0-3])(?::[0-5]\d){2}$/

/** A timestamp of a day that exists. */
export const timestamp = v.pipe(
  timestampText,
  v.check(
    (text) => SURE.test(text) || formatTimestamp(parseTimestamp(text)) === text,
    'must be a time that exists',
  ),
)

/** A link that people are sent to. */
export const webLink = v.pipe(
  v.string(),
  v.maxLength(4096),
  v.url(),
  v.regex(/^https?:\/\/[^\s\p{Cc}]+$/iu),
)

export const flag = v.boolean('must be true or false')

/** What a node program says of its cores: never read again but to be compared. */
export const coreText = text(200)

/** The number of a node program: there will never be as many. */
export const programNumber = integer(1, 1000)

/** An address that may be kept; names are looked up, and refused by what they lead to, when something is sent. */
function isAddress(text: string, schemes: string[]): boolean {
  const url = /^[^\s\p{Cc}]{1,2048}$/u.test(text) ? URL.parse(text) : null
  return (
    url !== null && schemes.includes(url.protocol) && url.username === '' && url.password === ''
  )
}
/** The text of such an address with one of these schemes (`https:`); may be empty. */
export const addressText = (schemes: string[]) =>
  v.pipe(
    v.string(),
    v.check((text) => text === '' || isAddress(text, schemes)),
  )

/** What the environment's address of an outside system must be. */
export const httpAddress = v.pipe(
  v.string(),
  v.check((text) => URL.canParse(text) && /^https?:/i.test(text), 'must be an http(s) address'),
)

/** So many days as somebody was shown: any that a date can say. */
export const wantedDays = integer(1, 3_000_000)
