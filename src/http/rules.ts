/** The rule files that lists with a routing preset name: sing-box loads them through the servers. */
import * as v from 'valibot'
import { refusal } from '#src/refusals/index.ts'
import { apiHeaders, transportHeaders } from '#src/web/csp.ts'
import type { Answer } from './answers.ts'
import { openOperations, operation } from './operation.ts'

const ruleFile: Answer = { media: { 'application/octet-stream': 'bytes' } }

const fileName = v.pipe(v.string(), v.regex(/^[a-z0-9-]{1,64}$/))

export const ruleOperations = openOperations('Links', [
  operation(
    {
      method: 'get',
      path: '/rules/{name}.srs',
      open: 'public',
      summary: 'A file of rules that connection lists name',
      params: { name: fileName },
      ok: ruleFile,
    },
    ({ s, params }) => {
      // What a path holds is as it was sent: `..%2F` would lead out of the folder.
      const file = v.is(fileName, params.name) ? s.ruleFiles.read(`${params.name}.srs`) : null
      if (file === null) throw refusal('not-found')
      return new Response(file, {
        headers: {
          ...apiHeaders,
          ...transportHeaders(s.config.publicScheme),
          'Content-Type': 'application/octet-stream',
          'Cache-Control': 'public, max-age=3600',
        },
      })
    },
  ),
])
