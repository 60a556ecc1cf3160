/** Keep-alive connections of the load generators: requests made beforehand, answers that are only measured. */
import { connect, type Socket } from 'node:net'

const BUCKET_MS = 0.01
const BUCKETS = 200_000

/** Requests in Latin-1 as they are sent, in one piece of memory. */
export function toRequests(texts: string[]): Buffer[] {
  const all = Buffer.from(texts.join(''), 'latin1')
  let at = 0
  return texts.map((text) => {
    const from = at
    at += text.length
    return all.subarray(from, at)
  })
}

/** From now on: gives the share of one core that this process has used. */
export function cpuShare(): () => number {
  const before = process.cpuUsage()
  const startedAt = performance.now()
  return () => {
    const { user, system } = process.cpuUsage(before)
    return (user + system) / 1000 / (performance.now() - startedAt)
  }
}

const LAST_CHUNK = '\r\n0\r\n\r\n'

/**
 * Status and length of the answer that begins a buffer, headers included; null until that is known. Throws unless it is a 200 or 503 with
 * a length or in chunks.
 */
function readAnswer(buffer: Buffer): { status: number; length: number } | null {
  const end = buffer.indexOf('\r\n\r\n')
  if (end < 0) return null
  const head = buffer.toString('latin1', 0, end)
  const status = Number(/^HTTP\/1\.1 (200|503)/.exec(head)?.[1])
  if (Number.isNaN(status)) throw new Error(`answer: ${head.slice(0, 200)}`)
  if (/\r\ntransfer-encoding: chunked/i.test(head)) {
    const last = buffer.indexOf(LAST_CHUNK, end)
    return last < 0 ? null : { status, length: last + LAST_CHUNK.length }
  }
  const length = /\r\ncontent-length: (\d+)/i.exec(head)?.[1]
  if (length === undefined) throw new Error('an answer has no length')
  return { status, length: end + 4 + Number(length) }
}

/** Counts answers by the time they took, in steps of 10 µs. */
export function createHistogram() {
  const buckets = new Uint32Array(BUCKETS)
  let count = 0
  return {
    add(ms: number) {
      count++
      const bucket = Math.min(BUCKETS - 1, Math.floor(ms / BUCKET_MS))
      buckets[bucket] = (buckets[bucket] as number) + 1
    },
    get count() {
      return count
    },
    quantile(share: number): number {
      let left = share * count
      for (let i = 0; i < BUCKETS; i++) {
        left -= buckets[i] as number
        if (left <= 0) return i * BUCKET_MS
      }
      return BUCKETS * BUCKET_MS
    },
  }
}

export interface Exchanges {
  /** How long a connection rests after each answer. */
  pauseMs?: number
  /** Is told when a request was answered with 503: it is sent again, and its time goes on. Without it that is a fault. */
  onBusy?: () => void
}

/** How soon a request that was answered with 503 is sent again. */
const AGAIN_MS = 50

/** One connection: tells `onAnswer` the milliseconds of each exchange, until there is no next request. */
export function openConnection(
  port: number,
  nextRequest: () => Buffer | undefined,
  onAnswer: (ms: number) => void,
  { pauseMs = 0, onBusy }: Exchanges = {},
): Socket {
  const received = Buffer.allocUnsafeSlow(256 * 1024)
  let length = 0
  let sentAt = 0
  let request: Buffer | undefined
  const send = () => {
    request = nextRequest()
    if (!request) return
    sentAt = performance.now()
    socket.write(request)
  }
  const socket = connect({
    port,
    host: '127.0.0.1',
    noDelay: true,
    onread: {
      buffer: Buffer.allocUnsafeSlow(64 * 1024),
      callback(size, chunk) {
        ;(chunk as Buffer).copy(received, length, 0, size)
        length += size
        const answer = readAnswer(received.subarray(0, length))
        if (answer === null || length < answer.length) return true
        length = 0
        if (answer.status === 503) {
          if (!onBusy) throw new Error('answer: 503')
          onBusy()
          setTimeout(() => socket.write(request as Buffer), AGAIN_MS)
          return true
        }
        onAnswer(performance.now() - sentAt)
        if (pauseMs === 0) send()
        else setTimeout(send, pauseMs)
        return true
      },
    },
  })
  socket.on('connect', send)
  socket.on('error', (error) => {
    console.error(`load: ${error.message}`)
    process.exit(1)
  })
  return socket
}
