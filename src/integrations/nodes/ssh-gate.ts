/**
 * What stands between a server's socket and ssh2, which handles whatever it is given to the end, and answers each request of a server (RFC
 * 4254, section 4), whoever reads what it answers. Here a server's bytes go on in slices, so that no connection holds the thread up for
 * longer than a few milliseconds at a time, and a server that sends more than its programs' answers account for is cut off.
 */
import type { Socket } from 'node:net'
import { Duplex } from 'node:stream'

/** For the beginning of a connection: keys, the login, what is said before it. */
const FIRST_BYTES = 64 * 1024
/** What is not spent is kept up to here: else an answer would pay for a flood after it. */
const MOST_BYTES = 64 * 1024
/** For the channel of a call. */
const CALL_BYTES = 16 * 1024
/** For a quarter of a minute: signs of life, other keys now and then. */
const BEAT_BYTES = 16 * 1024
const BEAT_MS = 15_000
/** For frames, 34 to 49 bytes each: a program that writes line by line has lines of 100. */
const PER_ANSWER_BYTE = 0.5
/** One byte for so many of ours, whose arrival the server acknowledges by windows. */
const OWN_BYTES = 16

/** A hundred requests, or an eighth of a common packet. */
const SLICE_BYTES = 4096
/** What is sound takes a hundredth of it for a slice. Then others have their turn. */
const TURN_MS = 2
/** Who took it for nothing of use rests so many times as long: a quarter of the thread is the most that a connection gets for that. */
const REST_TIMES = 3
/** Where the machine was busy elsewhere, or memory was tidied up. */
const LONGEST_REST_MS = 50

/** Replies and words of ours about a channel; nobody who reads what we write lets a tenth of them wait. */
const SHORT_BYTES = 256
const MOST_UNREAD = 1000

const TOO_MUCH = 'the server sends more than it was asked for'
const UNREAD = 'the server asks, and does not read what it is answered'

export interface SshGate {
  /** Takes the place of the socket. */
  stream: Duplex
  /** A call begins. */
  called(): void
  /** Bytes of a program came. */
  heard(bytes: number): void
}

/** A gate for a connected socket, whose bytes nobody else reads. */
export function createGate(socket: Socket): SshGate {
  let left = FIRST_BYTES
  let written = socket.bytesWritten
  let unread = 0
  /** Bytes of answers and of input in this turn. */
  let useful = 0
  /** Bytes that went on since it was last settled. */
  let handled = 0
  let isCut = false
  let isResting = false
  /** What came while it rests. */
  let kept: Buffer[] = []
  let end: (() => void) | null = null

  const stream = new Duplex({
    allowHalfOpen: false,
    read() {},
    write(chunk: Buffer, _encoding, done) {
      if (socket.writableLength === 0) unread = 0
      if (chunk.length <= SHORT_BYTES) unread++
      else useful += chunk.length
      if (unread > MOST_UNREAD) cut(UNREAD)
      if (!socket.destroyed) socket.write(chunk)
      done()
    },
    final(done) {
      socket.end()
      done()
    },
    destroy(error, done) {
      socket.destroy()
      done(error)
    },
  })
  const cut = (reason: string) => {
    isCut = true
    socket.destroy(new Error(reason))
  }
  /** Counts what came in the turns before, of which by now the answers are heard. */
  const settle = () => {
    left += (socket.bytesWritten - written) / OWN_BYTES - handled
    handled = 0
    written = socket.bytesWritten
    if (left < 0) cut(TOO_MUCH)
    left = Math.min(left, MOST_BYTES)
  }
  const rest = (tookMs: number, isOfUse: boolean, more: Buffer) => {
    isResting = true
    kept = [more]
    socket.pause()
    if (isOfUse) setImmediate(goOn)
    else setTimeout(goOn, Math.min(REST_TIMES * tookMs, LONGEST_REST_MS))
  }
  const take = (bytes: Buffer) => {
    settle()
    const begun = performance.now()
    useful = 0
    for (let at = 0; at < bytes.length && !isCut; ) {
      const slice = bytes.subarray(at, at + SLICE_BYTES)
      at += slice.length
      handled += slice.length
      stream.push(slice)
      const tookMs = performance.now() - begun
      if (tookMs > TURN_MS) return rest(tookMs, 2 * useful >= at, bytes.subarray(at))
    }
  }
  const goOn = () => {
    isResting = false
    take(Buffer.concat(kept))
    if (isResting) return
    if (end) end()
    else socket.resume()
  }
  /** What came before the end goes on first. */
  const endWith = (how: () => void) => {
    end = how
    if (!isResting) how()
  }
  socket.on('data', (bytes: Buffer) => {
    if (isResting) kept.push(bytes)
    else take(bytes)
  })
  socket.on('end', () => endWith(() => stream.push(null)))
  socket.on('error', (error) => stream.destroy(error))
  const beat = setInterval(() => {
    left += BEAT_BYTES
  }, BEAT_MS)
  beat.unref()
  socket.once('close', () => {
    clearInterval(beat)
    endWith(() => stream.destroy())
  })
  return {
    stream,
    called() {
      left += CALL_BYTES
    },
    heard(bytes) {
      useful += bytes
      left += (1 + PER_ANSWER_BYTE) * bytes
    },
  }
}
