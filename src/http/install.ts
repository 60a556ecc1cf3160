/** What servers fetch on their way to being nodes, and their report: authorised by the token of the install command. */
import * as v from 'valibot'
import { readManagementKey } from '#db/management-key.ts'
import { certificate, port, token } from '#db/values.ts'
import { certificateOf, type Report, registerNode } from '#src/domain/nodes/install/registration.ts'
import { installScript, requireToken } from '#src/domain/nodes/install/script.ts'
import { ARCHS } from '#src/lib/elf.ts'
import { tooMany } from '#src/lib/errors.ts'
import { asciiLine } from '#src/lib/format.ts'
import { parseHostKey } from '#src/lib/host-key.ts'
import { jsonObject } from '#src/lib/json.ts'
import { MINUTE_MS, SECOND_MS } from '#src/lib/time.ts'
import type { Rate } from '#src/lib/turns.ts'
import { refusal } from '#src/refusals/index.ts'
import type { Services } from '#src/services.ts'
import { apiHeaders } from '#src/web/csp.ts'
import { plainTextFile } from './answers.ts'
import { ipOf } from './context.ts'
import { openOperations, operation } from './operation.ts'
import { ok } from './schemas/fields.ts'
import { check, JSON_LIMIT_BYTES, OPEN_STRINGS, readJsonBytes } from './validate.ts'

const NO_STORE = 'private, no-store'
/** Of one installation: each report is written down. */
const REPORTS: Rate = { most: 10, inMs: MINUTE_MS }

const textHeaders = (cache: string) => ({
  ...apiHeaders,
  'Content-Type': 'text/plain; charset=utf-8',
  'Cache-Control': cache,
})

const coreQuery = v.object({ arch: v.picklist(ARCHS, 'must be amd64 or arm64') })

const coreProgram = v.picklist(['xray', 'hysteria'])

/** A line for people; what is no printable ASCII is left out. */
const note = (max: number) =>
  v.pipe(
    v.string('must be a string'),
    v.transform((text) => asciiLine(text, max)),
  )

const version = v.pipe(
  v.string('must be a string'),
  v.regex(/^[A-Za-z0-9._-]{0,40}$/, 'must be a version'),
)

const hostKey = v.pipe(
  v.string('must be a string'),
  v.maxLength(8000, 'must be an SSH public key'),
  v.check((text) => parseHostKey(text) !== null, 'must be an SSH public key'),
  v.transform((text) => parseHostKey(text) as string),
)

/** Of which a certificate is taken. */
const transport = v.object({
  type: v.picklist(['ws', 'xhttp', 'hysteria2'], 'must be ws, xhttp or hysteria2'),
  cert: v.pipe(
    v.string('must be a string'),
    v.maxLength(16_384, 'must be a certificate as PEM'),
    v.check((text) => certificateOf(text) !== null, 'must be a certificate as PEM'),
    v.transform((text) => certificateOf(text) as string),
    // Its one form may be longer than what was sent.
    v.check((text) => v.is(certificate, text), 'must be a certificate as PEM'),
  ),
})

/** Beside `status` everything is optional; a status that is not known counts as none. */
const registration = v.object({
  status: v.optional(v.unknown()),
  step: v.optional(note(60)),
  reason: v.optional(note(300)),
  arch: v.optional(v.picklist(ARCHS, 'must be amd64 or arm64')),
  core: v.optional(version),
  hysteria: v.optional(version),
  ssh_port: v.optional(port),
  host_keys: v.optional(v.pipe(v.array(hostKey), v.maxLength(20, 'must have at most 20 items'))),
  transports: v.optional(v.pipe(v.array(transport), v.maxLength(10, 'must have at most 10 items'))),
})

function reportOf(body: v.InferOutput<typeof registration>): Report | null {
  const { status, step, reason, core, ssh_port, host_keys = [], transports = [] } = body
  if (status !== 'active' && status !== 'failed') return null
  return {
    status,
    step,
    reason,
    core: core || undefined,
    sshPort: ssh_port,
    hostKeys: [...new Set(host_keys)],
    certificates: transports,
  }
}

/** How often installations report. */
export const createInstallReports = ({ counts }: Pick<Services, 'counts'>) =>
  counts.turnsOf('installations', REPORTS.inMs)

export const installOperations = openOperations('Service', [
  operation(
    {
      method: 'get',
      path: '/mgmt-pubkey.txt',
      open: 'public',
      summary: 'The public key by which nodes let the panel in',
      ok: plainTextFile,
    },
    async ({ s }) => {
      const key = await s.db.read(readManagementKey)
      return new Response(`${key?.publicKey ?? ''}\n`, { headers: textHeaders('no-cache') })
    },
  ),
  operation(
    {
      method: 'get',
      path: '/install/{token}.sh',
      open: 'token in path',
      summary: 'The script that sets a server up as a node',
      params: { token },
      ok: plainTextFile,
    },
    async ({ s, params }) =>
      new Response(await installScript(s, params.token), { headers: textHeaders(NO_STORE) }),
  ),
  operation(
    {
      method: 'get',
      path: '/install/{token}/core/{program}',
      open: 'token in path',
      summary: 'A core program for a new node',
      params: { token, program: coreProgram },
      query: coreQuery,
      ok: { media: { 'application/octet-stream': 'bytes' } },
    },
    async ({ s, params, query }) => {
      await requireToken(s, params.token)
      const program = v.safeParse(coreProgram, params.program)
      if (!program.success) throw refusal('not-found')
      const { arch } = query()
      const file = await s.installFiles.open(program.output, arch)
      if (!file) throw refusal('not-found')
      return new Response(file.stream, {
        headers: {
          ...apiHeaders,
          'Content-Type': 'application/octet-stream',
          'Content-Length': String(file.bytes),
          'Cache-Control': NO_STORE,
        },
      })
    },
  ),
  operation(
    {
      method: 'post',
      path: '/nodes/register/{token}',
      open: 'token in path',
      summary: 'What became of the installation of a node',
      params: { token },
      body: registration,
      bodyOptional: true,
      ok,
      refusals: [429],
    },
    async ({ s, c, params }) => {
      await requireToken(s, params.token)
      // The interface: a body that can't be read counts as empty.
      const body = jsonObject(await readJsonBytes(c, JSON_LIMIT_BYTES, OPEN_STRINGS)) ?? {}
      const report = reportOf(check(registration, body))
      const waitMs = report ? await s.installReports.take([params.token, REPORTS]) : 0
      if (waitMs > 0) throw tooMany(waitMs / SECOND_MS)
      await registerNode(s, params.token, ipOf(s, c), report)
      return { ok: true }
    },
  ),
])
