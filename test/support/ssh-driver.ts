/**
 * A process with one SshShell, for tests on either runtime. Takes JSON lines `{id, do, …}` on stdin and answers each with one.
 * Usage: ssh-driver.ts PORT USER, the private key in SSH_KEY.
 */
import { createRequire } from 'node:module'
import { createInterface } from 'node:readline'
import { sshShell } from '#src/integrations/nodes/ssh.ts'
import { createConnect } from '#src/integrations/outbound-connect.ts'
import { systemClock } from '#src/lib/clock.ts'
import { sha256Hex } from '#src/lib/crypto.ts'
import { NodeError } from '#src/lib/errors.ts'

const [port, user] = process.argv.slice(2)
const privateKey = process.env.SSH_KEY as string
let pinned: string[] = []
const refused: string[] = []
const shell = sshShell(
  {
    connect: createConnect({ denyPrivate: false }),
    server: { address: '127.0.0.1', port: Number(port), user: user as string },
    hostKeys: {
      pinned: () => pinned,
      async admit(key) {
        if (pinned.length === 0) pinned = [key]
        if (!pinned.includes(key)) refused.push(key)
        return pinned.includes(key)
      },
    },
    privateKey: async () => privateKey,
  },
  systemClock,
)

export interface Order {
  id: number
  do: 'run' | 'pin' | 'state' | 'close'
  words: string[]
  /** How many bytes of input. */
  input: number
  timeoutMs: number
  keys: string[]
}

const loaded = () =>
  Object.keys(createRequire(import.meta.url).cache).some((path) => path.includes('/ssh2/'))

async function obey(order: Order): Promise<object> {
  if (order.do === 'pin') pinned = order.keys
  if (order.do === 'close') shell.close()
  if (order.do !== 'run') return { pinned, refused, loaded: loaded() }
  const begun = performance.now()
  try {
    const answer = await shell.run(order.words, 'i'.repeat(order.input), order.timeoutMs)
    const ms = performance.now() - begun
    return { ms, length: answer.length, answer: answer.slice(0, 200), sha: sha256Hex(answer) }
  } catch (error) {
    if (!(error instanceof NodeError)) throw error
    return { ms: performance.now() - begun, failure: error.failure, message: error.message }
  }
}

for await (const line of createInterface({ input: process.stdin })) {
  const order: Order = JSON.parse(line)
  void obey(order).then((outcome) =>
    process.stdout.write(`${JSON.stringify({ id: order.id, ...outcome })}\n`),
  )
}
process.exit(0)
