/** One SSH connection to a node: opened within 5 s, its host key proven and admitted before anything is asked. */
import { createRequire } from 'node:module'
import type { Socket } from 'node:net'
import type {
  Channel,
  Client,
  CompressionAlgorithm,
  KexAlgorithm,
  ServerHostKeyAlgorithm,
} from 'ssh2'
import { ADDRESS_REFUSED, type Connect } from '#src/integrations/outbound-connect.ts'
import { errorMessage, NodeError } from '#src/lib/errors.ts'
import { fingerprintOf, hostKeyOf } from '#src/lib/host-key.ts'
import { createGate, type SshGate } from './ssh-gate.ts'

const load = createRequire(import.meta.url)
/** Loaded with the first server that answers: it takes 15 MB, and nobody needs it for nodes out of reach. */
const loadSsh2 = () => load('ssh2') as typeof import('ssh2')

const CONNECT_MS = 5000
const KEEPALIVE_MS = 15_000
const KEEPALIVES = 3
const END_MS = 1000

/** The server of a node, and the account that runs the node program there. */
export interface SshServer {
  address: string
  port: number
  user: string
}

/** What the database knows of a node (host keys as `type base64`), and is asked anew each time: any process may change it. */
export interface SshFacts {
  /** The host keys that it is known by; none before the first connection. */
  pinned(): Promise<string[]>
  /** Whether the server with this key is the node; pins the first one, notes a wrong one. */
  admit(key: string): Promise<boolean>
  /** The key that lets this installation in, in OpenSSH's format. */
  privateKey(): Promise<string>
}

export interface SshAccess {
  connect: Connect
  server: SshServer
  facts: SshFacts
}

export interface SshConnection {
  client: Client
  socket: Socket
  hostKey: string
  gate: SshGate
  /** Calls under way. */
  calls: number
  /** Takes no more calls: it ends with the last one under way. */
  isWorn: boolean
}

/** The signature algorithms of a type of key (RFC 8332 for RSA): ssh-rsa itself is SHA-1. */
const ALGORITHMS: Record<string, ServerHostKeyAlgorithm[]> = {
  'ssh-ed25519': ['ssh-ed25519'],
  'ecdsa-sha2-nistp256': ['ecdsa-sha2-nistp256'],
  'ecdsa-sha2-nistp384': ['ecdsa-sha2-nistp384'],
  'ecdsa-sha2-nistp521': ['ecdsa-sha2-nistp521'],
  'ssh-rsa': ['rsa-sha2-512', 'rsa-sha2-256'],
}

/**
 * Curves only: where a server may choose a group, it sends a number that OpenSSL proves prime, for minutes, before anybody knows whose server
 * it is, and Bun proves those of the fixed groups each time, for seconds. Each sshd since OpenSSH 6.5 has the first of them.
 */
const KEY_EXCHANGES: KexAlgorithm[] = [
  'curve25519-sha256',
  'curve25519-sha256@libssh.org',
  'ecdh-sha2-nistp256',
  'ecdh-sha2-nistp384',
  'ecdh-sha2-nistp521',
]
/** A packet of 35 KB would be one of 35 MB. */
const COMPRESSIONS: CompressionAlgorithm[] = ['none']

/**
 * The pinned types first, because a server shows one key only, that of the first type both know: asked for another type than
 * the pinned one, the right server would look like another.
 */
export function hostKeyAlgorithms(pinned: string[]): ServerHostKeyAlgorithm[] {
  const types = pinned.map((key) => key.slice(0, key.indexOf(' ')))
  const order = Object.keys(ALGORITHMS)
  const sorted = order.toSorted((a, b) => Number(types.includes(b)) - Number(types.includes(a)))
  return sorted.flatMap((type) => ALGORITHMS[type] ?? [])
}

/** What a server says of itself, fit for a log: it may say anything. */
const printable = (error: unknown) => errorMessage(error).replace(/[^\x20-\x7e]/g, '?')

function explain({ address, port, user }: SshServer, error: Error & { level?: string }): NodeError {
  const place = `${address}:${port}`
  if (error.level === 'client-authentication') {
    return new NodeError(
      'unreachable',
      `${place} does not let ${user} in with this installation's management key`,
    )
  }
  const code = (error as { code?: unknown }).code
  const isOwnWord = error.level === 'client-socket' && typeof code === 'string'
  const reason = isOwnWord && code !== ADDRESS_REFUSED ? code : undefined
  return new NodeError(
    'unreachable',
    `no SSH connection to ${place}: ${reason ?? printable(error)}`,
  )
}

const changedKey = (key: string) =>
  new NodeError(
    'host-key',
    `the server presents another host key, ${fingerprintOf(key)}: nothing is sent to it until the key is trusted in the panel`,
  )

/** What ssh2 keeps the channels of a connection in, which it tells nobody. */
interface Channels {
  update(id: number, channel: Channel): void
}

/**
 * ssh2 gives a channel out when its command has begun, and of its stderr it never listens for errors. A server makes one of either by saying
 * more after it has said that nothing more comes: unheard, that would end the thread, and all nodes' calls with it.
 */
function hearFaults(client: Client): void {
  const { _chanMgr: channels } = client as unknown as { _chanMgr: Channels }
  const update = channels.update.bind(channels)
  channels.update = (id, channel) => {
    for (const side of [channel, channel.stderr]) side.on('error', () => {})
    update(id, channel)
  }
}

/** Ends a connection, whatever the other side does. */
export function endConnection({ client, socket }: Pick<SshConnection, 'client' | 'socket'>): void {
  client.end()
  setTimeout(() => socket.destroy(), END_MS).unref()
}

/** Opens a connection to a node that is known by the host keys `pinned`. Throws NodeError `unreachable` or `host-key`. */
export async function openConnection(
  access: SshAccess,
  pinned: string[],
  signal: AbortSignal,
): Promise<SshConnection> {
  const { server, facts } = access
  const { address: host, port, user: username } = server
  const privateKey = await facts.privateKey()
  signal.throwIfAborted()
  const socket = access.connect({ host, port, noDelay: true })
  let hostKey = ''
  return new Promise((resolve, reject) => {
    const fail = (error: NodeError) => {
      clearTimeout(timer)
      signal.removeEventListener('abort', giveUp)
      socket.destroy()
      reject(error)
    }
    const giveUp = () => fail(signal.reason)
    signal.addEventListener('abort', giveUp)
    const failWith = (error: Error) => fail(explain(server, error))
    /** What it throws is the database's, not the server's. */
    const isAdmitted = () =>
      facts.admit(hostKey).then(
        (admitted) => {
          if (!admitted) fail(changedKey(hostKey))
          return admitted
        },
        (error: unknown) => {
          failWith(new Error(`its host key cannot be compared, ${errorMessage(error)}`))
          return false
        },
      )
    const timer = setTimeout(
      () => failWith(new Error(`no answer in ${CONNECT_MS / 1000} s`)),
      CONNECT_MS,
    )
    const unreached = (error: Error) => failWith(Object.assign(error, { level: 'client-socket' }))
    const greet = () => {
      socket.off('error', unreached)
      socket.setNoDelay(true)
      const gate = createGate(socket)
      const client = new (loadSsh2().Client)()
      // Both stay after `ready`, when they concern nobody: without a listener an error would end the process.
      client.on('error', failWith)
      client.on('close', () => failWith(new Error('it was closed')))
      client.setMaxListeners(0)
      client.once('ready', () => {
        // ssh2 shows the key before its signature is checked; by now it is.
        void isAdmitted().then((admitted) => {
          if (!admitted) return
          clearTimeout(timer)
          signal.removeEventListener('abort', giveUp)
          resolve({ client, socket, hostKey, gate, calls: 0, isWorn: false })
        })
      })
      try {
        client.connect({
          sock: gate.stream,
          username,
          privateKey,
          authHandler: ['publickey'],
          readyTimeout: 0,
          keepaliveInterval: KEEPALIVE_MS,
          keepaliveCountMax: KEEPALIVES,
          algorithms: {
            kex: KEY_EXCHANGES,
            compress: COMPRESSIONS,
            serverHostKey: hostKeyAlgorithms(pinned),
          },
          hostVerifier: (blob: Buffer, verify: (permitted: boolean) => void) => {
            hostKey = hostKeyOf(blob)
            if (pinned.length === 0 || pinned.includes(hostKey)) verify(true)
            else void isAdmitted().then(verify)
          },
        })
        hearFaults(client)
      } catch (error) {
        failWith(error as Error)
      }
    }
    socket.on('error', unreached)
    socket.once('connect', greet)
  })
}
