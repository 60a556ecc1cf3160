/** The description of the API. */
import * as v from 'valibot'
import { adminOperations, operation } from '../operation.ts'

export const descriptionOperations = adminOperations('Data', [
  operation(
    {
      method: 'get',
      path: '/openapi.json',
      scope: 'any',
      summary: 'This description',
      ok: v.looseObject({ openapi: v.literal('3.1.0'), paths: v.looseObject({}) }),
    },
    async ({ s, c }) => c.body(await s.description(), 200, { 'Content-Type': 'application/json' }),
  ),
])
