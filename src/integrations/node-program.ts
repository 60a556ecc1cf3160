/** The verbs of the node program (docs/node-program.md): builds its input, checks its answers. */
import * as v from 'valibot'
import { sha256Hex } from '#src/lib/crypto.ts'
import { NodeError } from '#src/lib/errors.ts'
import type { NodeProgram } from '#src/services.ts'
import type { NodeShell } from './node-shell.ts'

const uuid = v.pipe(v.string(), v.regex(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/))
const group = v.pipe(v.string(), v.regex(/^[A-Za-z0-9_-]{1,32}$/))
const bytes = v.pipe(v.number(), v.safeInteger(), v.minValue(0))
const sha = v.pipe(v.string(), v.regex(/^([0-9a-f]{64})?$/))
const short = v.pipe(v.string(), v.maxLength(200))

const statusAnswer = v.object({
  owner: short,
  config: sha,
  clients: sha,
  count: bytes,
  live: v.boolean(),
  core: v.object({
    up: v.boolean(),
    version: v.nullable(short),
    uptime_s: v.nullable(v.number()),
    epoch: v.nullable(short),
  }),
  reading: short,
  counters: v.array(v.strictTuple([uuid, bytes, bytes])),
})

const listAnswer = v.object({ clients: sha, lines: v.array(v.strictTuple([uuid, group])) })

const applyAnswer = v.object({
  clients: sha,
  added: bytes,
  removed: bytes,
  live: v.boolean(),
  dropped: bytes,
})

const metricsAnswer = v.object({
  mem_total_mb: v.number(),
  mem_used_mb: v.number(),
  uptime_s: v.number(),
  load1: v.number(),
  cpu_count: v.number(),
  core_version: v.nullable(short),
  core_up: v.boolean(),
  clients: v.number(),
})

const refusal = v.object({
  ok: v.literal(false),
  error: short,
  message: v.optional(v.string(), ''),
})

/** The program waits up to 20 s for its lock; a busy machine takes 10 ms for a client. */
const APPLY_BASE_MS = 25_000
const APPLY_MS_PER_CLIENT = 10

function parseAnswer<T>(schema: v.GenericSchema<unknown, T>, verb: string, text: string): T {
  let json: unknown
  try {
    json = JSON.parse(text)
  } catch {
    throw new NodeError('garbage', `the node program's answer to "${verb}" is no JSON`)
  }
  const refused = v.safeParse(refusal, json)
  if (refused.success) {
    throw new NodeError(refused.output.error, `${verb}: ${refused.output.message.slice(0, 300)}`)
  }
  const parsed = v.safeParse(schema, json)
  if (!parsed.success) {
    throw new NodeError('garbage', `the node program's answer to "${verb}" is not understood`)
  }
  return parsed.output
}

/** The typed verbs over a shell. */
export function nodeProgram(shell: NodeShell): NodeProgram {
  const call = async <T>(
    words: string[],
    schema: v.GenericSchema<unknown, T>,
    timeoutMs: number,
    input = '',
  ) => parseAnswer(schema, words[0] as string, await shell(words, input, timeoutMs))
  return {
    async status(acknowledge, timeoutMs) {
      const answer = await call(['status', acknowledge || 'none'], statusAnswer, timeoutMs)
      const { uptime_s: uptimeS, ...core } = answer.core
      return { ...answer, core: { ...core, uptimeS } }
    },
    async list() {
      const answer = await call(['list'], listAnswer, 30_000)
      return { clients: answer.clients, lines: new Map(answer.lines) }
    },
    async apply({ owner, from, to, force, add, remove }) {
      const header = { owner, from, to, force, lines: add.length + remove.length }
      const lines = [
        JSON.stringify(header),
        ...remove.map((id) => `["-","${id}"]`),
        ...add.map(([id, nodes]) => `["+","${id}","${nodes}"]`),
      ]
      const limit = APPLY_BASE_MS + APPLY_MS_PER_CLIENT * header.lines
      return call(['apply'], applyAnswer, limit, `${lines.join('\n')}\n`)
    },
    async configure(owner, base) {
      const header = { owner, config: sha256Hex(base), lines: base.split('\n').length - 1 }
      await call(['configure'], v.object({}), 30_000, `${JSON.stringify(header)}\n${base}`)
    },
    async metrics(timeoutMs) {
      const answer = await call(['metrics'], metricsAnswer, timeoutMs)
      return {
        memTotalMb: answer.mem_total_mb,
        memUsedMb: answer.mem_used_mb,
        uptimeS: answer.uptime_s,
        load1: answer.load1,
        cpuCount: answer.cpu_count,
        coreVersion: answer.core_version,
        coreUp: answer.core_up,
        clients: answer.clients,
      }
    },
  }
}
