/**
 * The node program on another machine: over one SSH connection, which is kept, and opened when a call needs it. All of it runs in the
 * thread of SSH connections (src/entry/ssh-worker.ts), never in the one that answers requests.
 */
import type { ClientChannel } from 'ssh2'
import type { Clock } from '#src/lib/clock.ts'
import { NodeError } from '#src/lib/errors.ts'
import { createGrowingBytes } from '#src/lib/growing-bytes.ts'
import { orAborted, pause } from '#src/lib/pause.ts'
import { LONGEST_ANSWER } from './answer.ts'
import { endedWith } from './shell.ts'
import {
  endConnection,
  openConnection,
  type SshAccess,
  type SshConnection,
} from './ssh-connection.ts'

const MAX_COMPLAINT = 500
/** What the program says on the side is a few lines; a server that says more than this is cut off. */
const LONGEST_COMPLAINT = 1024 * 1024
/** A connection that nobody uses for as long is ended: its node may be gone. */
const IDLE_MS = 10 * 60_000
/** How long a kept connection may be silent when it is used again; then it counts as dead, and another one is opened. */
const SIGN_OF_LIFE_MS = 2000
const LAST_WORDS_MS = 100
/** sshd counts a session for a moment after its channel was closed. */
const REFUSED_PAUSES_MS = [30, 150]
/** After a failed attempt to connect calls fail at once for as long: 1 s, then 2 s, then 4 s each time. */
const FIRST_PAUSE_MS = 1000
const LONGEST_PAUSE_MS = 4000

/** What it takes at a time is 32 KB (RFC 4253, section 6.1); in pieces of nothing, input never ends. */
const SMALLEST_PACKET = 1024

export interface SshRunner {
  /**
   * What a command wrote, given this input, on a server that is known by the host keys `pinned`; it is called off by the signal, with
   * its reason. Throws NodeError `unreachable`, `host-key` or `garbage`.
   */
  run(
    command: string,
    input: Uint8Array,
    pinned: string[],
    signal: AbortSignal,
  ): Promise<Uint8Array<ArrayBuffer>>
  /** Ends the connection; later calls fail. */
  close(): void
}

/** The server has not taken the command: the call may be made on another connection. */
class ConnectionLost extends Error {}
/** The same, because it opens no more channels on this one for now. */
class ChannelRefused extends Error {}

function collect(
  channel: ClientChannel,
  heard: (bytes: number) => void,
  tooLong: (limit: number) => void,
) {
  const bytes = createGrowingBytes(LONGEST_ANSWER)
  let asideSize = 0
  let complaint = ''
  let ended: number | string | null = null
  channel.on('data', (chunk: Buffer) => {
    heard(chunk.length)
    if (!bytes.add(chunk)) tooLong(LONGEST_ANSWER)
  })
  channel.stderr.on('data', (chunk: Buffer) => {
    heard(chunk.length)
    asideSize += chunk.length
    if (asideSize > LONGEST_COMPLAINT) tooLong(LONGEST_COMPLAINT)
    if (complaint.length < MAX_COMPLAINT) complaint += chunk.toString('utf8', 0, MAX_COMPLAINT)
  })
  channel.on('exit', (code: number | null, signal?: string) => {
    ended = code ?? signal ?? null
  })
  return {
    /** What the program wrote when it ended well, or what went wrong. */
    answer(): Uint8Array<ArrayBuffer> | NodeError {
      if (ended === 0) return bytes.taken()
      return ended === null ? new NodeError('unreachable', BROKEN) : endedWith(ended, complaint)
    },
  }
}

/** Why a shell that was closed runs nothing. */
export const givenUp = () =>
  new NodeError('unreachable', 'the connection to its server was given up')
const BROKEN = 'the connection broke before the node program answered'

/** How much a server takes in one packet; ssh2 tells nobody. */
const packetSize = (channel: ClientChannel) =>
  (channel as unknown as { outgoing: { packetSize: number } }).outgoing.packetSize

/** Runs a command on a connection until its end. */
function execute(
  connection: SshConnection,
  command: string,
  input: Uint8Array,
  signal: AbortSignal,
): Promise<Uint8Array<ArrayBuffer>> {
  if (signal.aborted) return Promise.reject(signal.reason)
  const { client, socket, gate } = connection
  const heard = socket.bytesRead
  const isSilent = () => socket.bytesRead === heard
  return new Promise((resolve, reject) => {
    let channel: ClientChannel | null = null
    let isOver = false
    const end = (settle: () => void) => {
      if (isOver) return
      isOver = true
      clearTimeout(life)
      client.off('close', lost)
      signal.removeEventListener('abort', abort)
      settle()
    }
    const fail = (error: unknown) => end(() => reject(error))
    const lost = () => {
      if (channel === null) fail(new ConnectionLost('the connection broke'))
      // An end of the program that came before is told a moment later.
      else setTimeout(() => fail(new NodeError('unreachable', BROKEN)), LAST_WORDS_MS)
    }
    const abort = () => {
      // A program that hangs costs its channel; a server that hangs, the connection.
      if (isSilent()) socket.destroy()
      else channel?.close()
      fail(signal.reason)
    }
    const begin = (opened: ClientChannel) => {
      if (isOver) {
        opened.close()
        return
      }
      channel = opened
      if (packetSize(opened) < SMALLEST_PACKET) {
        socket.destroy()
        fail(new NodeError('garbage', 'its server takes no input'))
        return
      }
      const collected = collect(opened, gate.heard, (limit) => {
        socket.destroy()
        fail(new NodeError('garbage', `the answer is longer than ${limit} bytes`))
      })
      opened.on('close', () => {
        const answer = collected.answer()
        if (answer instanceof NodeError) fail(answer)
        else end(() => resolve(answer))
      })
      opened.end(input)
    }
    // What lies on the line before the only call cannot be what keeps its answer away.
    const isAlone = connection.calls === 1
    const life = setTimeout(() => {
      if (isAlone && isSilent()) socket.destroy()
    }, SIGN_OF_LIFE_MS)
    gate.called()
    client.once('close', lost)
    signal.addEventListener('abort', abort, { once: true })
    try {
      client.exec(command, (error, opened) => {
        if (error && 'reason' in error) fail(new ChannelRefused(error.message))
        else if (error) lost()
        else begin(opened)
      })
    } catch {
      lost()
    }
  })
}

/** Runs the commands of one server. */
export function sshRunner(access: SshAccess, clock: Clock, idleMs = IDLE_MS): SshRunner {
  const connections = new Set<SshConnection>()
  let current: SshConnection | null = null
  let opening: Promise<SshConnection> | null = null
  let failed: { error: unknown; untilMs: number; pauseMs: number } | null = null
  let idle: ReturnType<typeof setTimeout> | undefined
  const closing = new AbortController()

  /** Lets a connection end once its calls have. */
  const wear = (connection: SshConnection) => {
    if (connection.isWorn) return
    connection.isWorn = true
    if (current === connection) current = null
    if (connection.calls === 0) endConnection(connection)
  }
  /** Ends all connections, calls under way included. */
  const drop = () => {
    failed = null
    current = null
    for (const connection of connections) {
      connection.isWorn = true
      endConnection(connection)
    }
  }
  const open = async (pinned: string[]): Promise<SshConnection> => {
    try {
      const connection = await openConnection(access, pinned, closing.signal)
      failed = null
      connections.add(connection)
      current = connection
      connection.client.once('close', () => {
        connections.delete(connection)
        if (current === connection) current = null
      })
      return connection
    } catch (error) {
      const pauseMs = failed ? Math.min(2 * failed.pauseMs, LONGEST_PAUSE_MS) : FIRST_PAUSE_MS
      failed = { error, pauseMs, untilMs: clock.monotonicMs() + pauseMs }
      throw error
    } finally {
      opening = null
    }
  }
  /** The kept connection, else a new one, which all who ask meanwhile share. */
  const connect = async (pinned: string[]): Promise<SshConnection> => {
    closing.signal.throwIfAborted()
    // Another key was pinned since it was opened, perhaps by another process: it leads to another server.
    if (current && !pinned.includes(current.hostKey)) wear(current)
    if (current) return current
    if (!opening && failed && clock.monotonicMs() < failed.untilMs) throw failed.error
    opening ??= open(pinned)
    return opening
  }
  const leave = (connection: SshConnection) => {
    connection.calls--
    if (connection.calls > 0) return
    if (connection.isWorn) endConnection(connection)
    clearTimeout(idle)
    idle = setTimeout(drop, idleMs)
    idle.unref()
  }
  /** Runs a command on a connection; a channel that is refused is asked for again before the connection is given up. */
  const use = async (
    connection: SshConnection,
    command: string,
    input: Uint8Array,
    signal: AbortSignal,
  ): Promise<Uint8Array<ArrayBuffer>> => {
    clearTimeout(idle)
    connection.calls++
    try {
      for (const pauseMs of REFUSED_PAUSES_MS) {
        try {
          return await execute(connection, command, input, signal)
        } catch (error) {
          if (!(error instanceof ChannelRefused)) throw error
          await pause(pauseMs, signal)
        }
      }
      return await execute(connection, command, input, signal)
    } finally {
      leave(connection)
    }
  }
  return {
    async run(command, input, known, signal) {
      let pinned = known
      for (let last = current === null; ; last = true) {
        const connection = await orAborted(connect(pinned), signal)
        try {
          return await use(connection, command, input, signal)
        } catch (error) {
          if (!(error instanceof ConnectionLost || error instanceof ChannelRefused)) throw error
          wear(connection)
          if (last) throw new NodeError('unreachable', BROKEN)
          pinned = await orAborted(access.facts.pinned(), signal)
        }
      }
    },
    close() {
      closing.abort(givenUp())
      clearTimeout(idle)
      drop()
    },
  }
}
