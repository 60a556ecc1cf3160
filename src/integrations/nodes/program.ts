/** The verbs of the node program (docs/node-program.md): builds its input, checks its answers. */
import * as v from 'valibot'
import { sha256Hex } from '#src/lib/crypto.ts'
import { NodeError } from '#src/lib/errors.ts'
import { asciiLine } from '#src/lib/format.ts'
import { createSingleFlight } from '#src/lib/single-flight.ts'
import { coreText, programNumber } from '#src/lib/values.ts'
import type { Caller, Counters, HostMetrics, NodeProgram } from '#src/ports/node-program.ts'
import { garbage, type ListForm, readAnswer } from './answer.ts'
import { type NodeShell, WORD } from './shell.ts'

const UUID = '"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"'
const BYTES = '(?:0|[1-9][0-9]{0,15})'
const whole = v.pipe(v.number(), v.safeInteger(), v.minValue(0))
const sha = v.pipe(v.string(), v.regex(/^([0-9a-f]{64})?$/))
const short = v.pipe(
  coreText,
  v.transform((text) => asciiLine(text, 200)),
)
const word = v.pipe(v.string(), v.regex(WORD))

/** Left out where the node has no range of ports, or a former program. */
const redirected = v.optional(v.boolean(), false)

/** The number of a list that was read before. */
const list = v.pipe(v.number(), v.safeInteger(), v.minValue(0))

const counterForm: ListForm<Counters[number]> = {
  key: 'counters',
  entry: new RegExp(`\\[${UUID},${BYTES},${BYTES}\\]`, 'y'),
  read(entry) {
    const [id = '', up, down] = entry.slice(1, -1).split(',')
    const bytes = [Number(up), Number(down)] as const
    return bytes.every(Number.isSafeInteger) ? [id.slice(1, -1), ...bytes] : null
  },
}
const lineForm: ListForm<[uuid: string, value: string]> = {
  key: 'lines',
  // Beside the group a word of program 1, or at most six of program 2, which have no quote, backslash or space.
  entry: new RegExp(`\\[${UUID},"[A-Za-z0-9._-]{1,64}"(?:,"[!#-[\\]-~]{1,800}"){0,6}\\]`, 'y'),
  read(entry) {
    const [id = '', ...value] = entry.slice(2, -2).split('","')
    return [id, value.join(' ')]
  },
}
const blockForm: ListForm<string> = {
  key: 'blocks',
  entry: /"(?:[0-9a-f]{64})?"/y,
  read: (entry) => entry.slice(1, -1),
}

const machine = {
  mem_total_mb: whole,
  mem_used_mb: whole,
  uptime_s: whole,
  load1: v.pipe(v.number(), v.minValue(0), v.maxValue(1e9)),
  cpu_count: whole,
}

const statusAnswer = v.object({
  program: v.optional(programNumber, 1),
  node: v.optional(short, ''),
  owner: short,
  config: sha,
  clients: sha,
  count: whole,
  live: v.boolean(),
  core: v.object({
    up: v.boolean(),
    version: v.nullable(short),
    uptime_s: v.nullable(v.number()),
    epoch: v.nullable(short),
  }),
  // Left out by former programs.
  online: v.optional(v.nullable(whole), null),
  host: v.optional(v.nullable(v.object({ ...machine, rx_bytes: whole, tx_bytes: whole })), null),
  // It goes back as the word of an acknowledgement.
  reading: v.union([v.literal(''), word]),
  counters: list,
  hysteria: v.optional(
    v.nullable(
      v.object({
        config: sha,
        up: v.boolean(),
        epoch: v.nullable(short),
        hop: redirected,
        counters: list,
      }),
    ),
    null,
  ),
})

const hysteriaAnswer = v.object({ hop: redirected })

const listAnswer = v.object({ clients: sha, lines: list })

const blocksAnswer = v.object({ clients: sha, count: whole, blocks: list })

const applyAnswer = v.object({
  clients: sha,
  added: whole,
  removed: whole,
  live: v.boolean(),
  dropped: whole,
})

const metricsAnswer = v.object({
  ...machine,
  core_version: v.nullable(short),
  core_up: v.boolean(),
  hysteria_up: v.optional(v.nullable(v.boolean()), null),
  clients: whole,
})

const machineOf = (answer: v.InferOutput<v.ObjectSchema<typeof machine, undefined>>) => ({
  memTotalMb: answer.mem_total_mb,
  memUsedMb: answer.mem_used_mb,
  uptimeS: answer.uptime_s,
  load1: answer.load1,
  cpuCount: answer.cpu_count,
})

const refusal = v.object({
  ok: v.literal(false),
  error: short,
  message: v.optional(
    v.pipe(
      v.string(),
      v.transform((text) => asciiLine(text, 300)),
    ),
    '',
  ),
})

/** How many blocks there are: one for each first two digits of a UUID. */
const BLOCKS = 256

/** Beside the 20 s for the lock. */
const LIST_MS = 30_000

/** The program waits up to 20 s for its lock; a busy machine takes 10 ms for a client. */
const APPLY_BASE_MS = 25_000
const APPLY_MS_PER_CLIENT = 10

/** The program's own limits: 20 s for the lock, 30 s for the command that restarts, 10 s until the core answers. */
const CONFIGURE_MS = 60_000

/** The program from which on a node knows its name. */
const NAMED_PROGRAM = 2

/** How a request begins: with the name of the node that is meant, where the node knows its own. */
const callerIn = ({ owner, program }: Caller, node: string) =>
  node === '' || program < NAMED_PROGRAM ? { owner } : { owner, node }

/** A text as `configure` and `hysteria` read it. */
function configuration(caller: object, text: string): string {
  const header = { ...caller, config: sha256Hex(text), lines: text.split('\n').length - 1 }
  return `${JSON.stringify(header)}\n${text}`
}

function checkAnswer<T>(schema: v.GenericSchema<unknown, T>, verb: string, json: unknown): T {
  const refused = v.safeParse(refusal, json)
  if (refused.success) {
    throw new NodeError(refused.output.error, `${verb}: ${refused.output.message}`)
  }
  const parsed = v.safeParse(schema, json)
  if (!parsed.success) throw garbage(verb, 'is not understood')
  return parsed.output
}

/** Of lists that were read, the one that an answer names by its number. */
function named<T>(verb: string, lists: T[][], index: number): T[] {
  const found = lists[index]
  if (!found) throw garbage(verb, 'is not understood')
  return found
}

function otherNode(wanted: string, found: string): NodeError {
  if (wanted === '') return new NodeError('other-node', "the local core has a node's name")
  if (found !== '')
    return new NodeError('other-node', `the server at its address is the node ${found}`)
  return new NodeError(
    'other-node',
    'its server does not know which node it is: have a new install command given out and run it there',
  )
}

/**
 * The typed verbs over a shell. `node` is the code of the node that is meant, empty for the local core: a server that passes its
 * connections on to another node's must not have that one driven, and its customers cut off, in its place.
 */
export function nodeProgram(shell: NodeShell, node: string): NodeProgram {
  const ask = async <T, E>(
    words: string[],
    schema: v.GenericSchema<unknown, T>,
    form: ListForm<E> | null,
    timeoutMs: number,
    input = '',
  ) => {
    const verb = words[0] as string
    const { json, lists } = await readAnswer(verb, await shell(words, input, timeoutMs), form)
    return { answer: checkAnswer(schema, verb, json), lists }
  }
  const call = async <T>(
    words: string[],
    schema: v.GenericSchema<unknown, T>,
    timeoutMs: number,
    input = '',
  ) => (await ask(words, schema, null, timeoutMs, input)).answer
  const measure = async (timeoutMs: number): Promise<HostMetrics> => {
    const answer = await call(['metrics'], metricsAnswer, timeoutMs)
    return {
      ...machineOf(answer),
      coreVersion: answer.core_version,
      coreUp: answer.core_up,
      hysteriaUp: answer.hysteria_up,
      clients: answer.clients,
    }
  }
  /** However many look at a server, it is measured once at a time. */
  const measuring = createSingleFlight<HostMetrics>()
  return {
    async status(acknowledge, timeoutMs) {
      // Earlier versions stored what is no word: the node tells everything again.
      const words = ['status', v.is(word, acknowledge) ? acknowledge : 'none']
      const { answer, lists } = await ask(words, statusAnswer, counterForm, timeoutMs)
      const { node: found, ...said } = answer
      if (said.program >= NAMED_PROGRAM && found !== node) throw otherNode(node, found)
      const { uptime_s: uptimeS, ...core } = said.core
      const { hysteria, host } = said
      return {
        ...said,
        host: host && { ...machineOf(host), rxBytes: host.rx_bytes, txBytes: host.tx_bytes },
        core: { ...core, uptimeS },
        counters: named('status', lists, answer.counters),
        hysteria: hysteria && { ...hysteria, counters: named('status', lists, hysteria.counters) },
      }
    },
    async list(blocks = []) {
      const { answer, lists } = await ask(['list', ...blocks], listAnswer, lineForm, LIST_MS)
      return { clients: answer.clients, lines: named('list', lists, answer.lines) }
    },
    async blocks() {
      const { answer, lists } = await ask(['blocks'], blocksAnswer, blockForm, LIST_MS)
      const blocks = named('blocks', lists, answer.blocks)
      if (blocks.length !== BLOCKS) throw garbage('blocks', 'is not understood')
      return { ...answer, blocks }
    },
    async apply({ from, to, force, add, remove, ...caller }) {
      const header = {
        ...callerIn(caller, node),
        from,
        to,
        force,
        lines: add.length + remove.length,
      }
      const lines = [
        JSON.stringify(header),
        ...remove.map((id) => `["-","${id}"]`),
        ...add.map(([id, value]) => `["+","${id}","${value.replaceAll(' ', '","')}"]`),
      ]
      const limit = APPLY_BASE_MS + APPLY_MS_PER_CLIENT * header.lines
      return call(['apply'], applyAnswer, limit, `${lines.join('\n')}\n`)
    },
    async configure(caller, text) {
      const input = configuration(callerIn(caller, node), text)
      await call(['configure'], v.object({}), CONFIGURE_MS, input)
    },
    async hysteria(caller, text) {
      const input = configuration(callerIn(caller, node), text)
      return (await call(['hysteria'], hysteriaAnswer, CONFIGURE_MS, input)).hop
    },
    async retire(owner, timeoutMs) {
      const retire = (words: string[]) => call(['retire', ...words], v.object({}), timeoutMs)
      try {
        await retire(node === '' ? [owner] : [owner, node])
      } catch (error) {
        // Program 1 knows no name, and what program the server of a deleted node has is not remembered.
        if (!(error instanceof NodeError && error.failure === 'unknown-verb')) throw error
        await retire([owner])
      }
    },
    metrics: (timeoutMs) => measuring('metrics', () => measure(timeoutMs)).answer,
  }
}
