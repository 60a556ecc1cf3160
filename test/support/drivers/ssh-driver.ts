/**
 * A process with an SshShell for each of some servers, for tests on either runtime. Takes JSON lines `{id, do, …}` on stdin and answers
 * each with one. Usage: ssh-driver.ts USER PORT..., the private key in SSH_KEY.
 */
import { hash } from 'node:crypto'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { createSshThread, type SshNode } from '#src/integrations/nodes/ssh-thread.ts'
import { NodeError } from '#src/lib/errors.ts'
import { createLog } from '#src/lib/log.ts'
import { inTime } from '#src/lib/pause.ts'

const [user, ...ports] = process.argv.slice(2)
const privateKey = process.env.SSH_KEY as string

/** What the thread of SSH connections is told beside its own words (ssh-driver-worker.ts). */
export type Aside = 'is it loaded?' | 'hang' | 'throw' | 'fill'
const CHANNEL = 'ssh-driver'
const HANG_MS = 4000
/** A thread that has not begun, or hangs, says nothing. */
const ASIDE_MS = 300

const log: string[] = []
const thread = createSshThread(
  {
    denyPrivate: false,
    log: createLog(
      'info',
      () => new Date(),
      (line) => log.push(line),
    ),
  },
  { worker: join(import.meta.dirname, 'ssh-driver-worker.ts'), hangMs: HANG_MS },
)

interface DrivenNode {
  pinned: string[]
  refused: string[]
  access: SshNode
}

function nodeAt(port: string): DrivenNode {
  const node: DrivenNode = {
    pinned: [],
    refused: [],
    access: {
      server: { address: '127.0.0.1', port: Number(port), user: user as string },
      hostKeys: {
        pinned: () => node.pinned,
        async admit(key) {
          if (node.pinned.length === 0) node.pinned = [key]
          if (!node.pinned.includes(key)) node.refused.push(key)
          return node.pinned.includes(key)
        },
      },
      privateKey: async () => privateKey,
    },
  }
  return node
}

const nodes = ports.map(nodeAt)
const shells = nodes.map(({ access }) => thread.shell(access))

export interface Order {
  id: number
  do: 'run' | 'pin' | 'state' | 'lag' | 'aside' | 'close' | 'end'
  /** Which of the servers. */
  node: number
  words: string[]
  /** How many bytes of input. */
  input: number
  timeoutMs: number
  keys: string[]
  aside: Aside
}

const EVERY_MS = 5
let longestMs = 0
let due = performance.now() + EVERY_MS
setInterval(() => {
  longestMs = Math.max(longestMs, performance.now() - due)
  due = performance.now() + EVERY_MS
}, EVERY_MS)

const aside = new BroadcastChannel(CHANNEL)
const ask = (word: Aside) => {
  const answered = new Promise<boolean>((resolve) => {
    aside.onmessage = ({ data }) => resolve(data)
  })
  aside.postMessage(word)
  return inTime(answered, ASIDE_MS, false)
}
const isLoadedHere = () =>
  Object.keys(createRequire(import.meta.url).cache).some((path) => path.includes('/ssh2/'))

async function run({ node, words, input, timeoutMs }: Order): Promise<object> {
  const begun = performance.now()
  try {
    const answer = await shells[node]?.run(words, 'i'.repeat(input), timeoutMs)
    const ms = performance.now() - begun
    if (answer === undefined) throw new Error('no such server')
    // By OpenSSL: what is measured here is how long the SSH connection holds this thread up.
    const sha = hash('sha256', answer, 'hex')
    return { ms, length: answer.length, answer: answer.slice(0, 200), sha }
  } catch (error) {
    if (!(error instanceof NodeError)) throw error
    return { ms: performance.now() - begun, failure: error.failure, message: error.message }
  }
}

async function obey(order: Order): Promise<object> {
  const node = nodes[order.node] as DrivenNode
  switch (order.do) {
    case 'run':
      return run(order)
    case 'lag': {
      const held = longestMs
      longestMs = 0
      return { lagMs: held }
    }
    case 'pin':
      node.pinned = order.keys
      break
    case 'close':
      shells[order.node]?.close()
      break
    case 'end':
      thread.close()
      break
    case 'aside':
      aside.postMessage(order.aside)
  }
  const { pinned, refused } = node
  return { pinned, refused, log, isLoadedHere: isLoadedHere(), loaded: await ask('is it loaded?') }
}

for await (const line of createInterface({ input: process.stdin })) {
  const order: Order = JSON.parse(line)
  void obey(order).then((outcome) =>
    process.stdout.write(`${JSON.stringify({ id: order.id, ...outcome })}\n`),
  )
}
process.exit(0)
