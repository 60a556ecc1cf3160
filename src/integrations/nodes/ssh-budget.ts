/**
 * What a server may send over a connection beside the answers of its programs. ssh2 answers each request of a server (RFC 4254, section 4),
 * whoever reads what it answers, and inside one packet after another: a server that sends nothing else holds up the process and fills its
 * memory. What a sound one sends beside answers is some hundred bytes a call, and the frames of its packets.
 */
import type { Socket } from 'node:net'

/** For the beginning of a connection: keys, the login, what is said before it. */
const FIRST_BYTES = 64 * 1024
/** What is not spent is kept up to here: else an answer would pay for a flood after it. */
const MOST_BYTES = 128 * 1024
/** For the channel of a call. */
const CALL_BYTES = 16 * 1024
/** For a quarter of a minute: signs of life, other keys now and then. */
const BEAT_BYTES = 16 * 1024
const BEAT_MS = 15_000
/** For frames: programs may write line by line. */
const PER_ANSWER_BYTE = 4
/** One byte for so many of ours, whose arrival the server acknowledges by windows. */
const OWN_BYTES = 16

export interface SshBudget {
  /** A call begins. */
  called(): void
  /** Bytes of a program came. */
  heard(bytes: number): void
}

/** Ends a connection as soon as its server has sent more than it may: by the next bytes that it sends. */
export function limitChatter(socket: Socket): SshBudget {
  let left = FIRST_BYTES
  /** What came last: answers in it are counted when the next bytes come. */
  let received = 0
  let written = 0
  const beat = setInterval(() => {
    left += BEAT_BYTES
  }, BEAT_MS)
  beat.unref()
  socket.once('close', () => clearInterval(beat))
  socket.on('data', (bytes: Buffer) => {
    left += (socket.bytesWritten - written) / OWN_BYTES - received
    if (left < 0) socket.destroy(new Error('the server sends more than it was asked for'))
    left = Math.min(left, MOST_BYTES)
    written = socket.bytesWritten
    received = bytes.length
  })
  return {
    called() {
      left += CALL_BYTES
    },
    heard(bytes) {
      left += (1 + PER_ANSWER_BYTE) * bytes
    },
  }
}
