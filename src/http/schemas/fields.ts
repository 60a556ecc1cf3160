/** Fields that several records have, and the answers that every subject gives. */
import * as v from 'valibot'
import { nodeCode } from '#db/values.ts'
import { timestampText } from '#src/lib/values.ts'

/** True when a value of either type is one of the other. */
type Same<A, B> = [A] extends [B] ? ([B] extends [A] ? true : false) : false

/** The schema as it is; does not compile unless it describes exactly what the view gives. */
export const describes =
  <View>() =>
  <S extends v.GenericSchema>(
    schema: Same<v.InferOutput<S>, View> extends true ? S : 'the view gives something else',
  ): S =>
    schema as S

/** `YYYY-MM-DDTHH:MM:SS`, UTC. */
export const timestamp = v.pipe(timestampText, v.examples(['2026-03-01T12:00:00']))

export const code = v.pipe(nodeCode, v.examples(['de1']))

/** What clients are known by on their node. */
export const uuid = v.pipe(v.string(), v.minLength(1), v.maxLength(64))

/** `1.5 KB` */
export const bytesText = v.pipe(v.string(), v.regex(/^\d+(\.\d)? ([KMGT]?B)$/))

export const url = v.pipe(v.string(), v.regex(/^https?:\/\//))

export const ok = v.strictObject({ ok: v.literal(true) })

export const refusal = v.strictObject({
  error: v.pipe(v.string(), v.minLength(1)),
  /** `reauth_required`: confirm by `POST reauth` and send it again. */
  code: v.optional(v.literal('reauth_required')),
})
