/** The rule files that lists with a routing preset name: sing-box loads them through the servers. */
import * as v from 'valibot'
import { streamOf } from '#src/lib/stream-of.ts'
import { refusal } from '#src/refusals/index.ts'
import { apiHeaders, transportHeaders } from '#src/web/csp.ts'
import type { Answer } from './answers.ts'
import { openOperations, operation } from './operation.ts'

const ruleFile: Answer = { media: { 'application/octet-stream': 'bytes' } }

const fileName = v.pipe(v.string(), v.regex(/^[a-z0-9-]{1,64}$/))

const PIECE_BYTES = 65_536

/** Given whole, a file was held anew for each connection that takes nothing of it: 300 of them took 2.3 GB on Bun, 0.9 GB on Node. */
function* piecesOf(file: Uint8Array<ArrayBuffer>) {
  for (let at = 0; at < file.length; at += PIECE_BYTES) yield file.subarray(at, at + PIECE_BYTES)
}

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
      return new Response(streamOf(piecesOf(file)), {
        headers: {
          ...apiHeaders,
          ...transportHeaders(s.config.publicScheme),
          'Content-Type': 'application/octet-stream',
          'Content-Length': String(file.length),
          'Cache-Control': 'public, max-age=3600',
        },
      })
    },
  ),
])
