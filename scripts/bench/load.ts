/**
 * The load generator, a process of its own: keep-alive connections that each send the next request when the answer to the
 * last is whole. Requests are made before the clock runs, and answers are only measured, so that it is not what is slow.
 */
import { connect, type Socket } from 'node:net'
import { hwidOf, PER_USER, tokenOf } from './shop.ts'

export interface LoadJob {
  port: number
  host: string
  /** Tokens are those of the first `users` users; every request takes one of them and one of his devices at random. */
  users: number
  connections: number
  warmupSeconds: number
  /** How long a connection rests after each answer; not at all by default. */
  pauseMs?: number
  seconds: number
}

export interface LoadResult {
  perSecond: number
  p50Ms: number
  p99Ms: number
  /** The share of one core that this generator used: near 1 it would be the bottleneck. */
  busy: number
}

const REQUESTS = 100_000
const BUCKET_MS = 0.01
const BUCKETS = 200_000

/** What an iPhone with Happ sends through the reverse proxy. */
function requestText(job: LoadJob, user: number, device: number): string {
  return [
    `GET /sub/${tokenOf(user)} HTTP/1.1`,
    `Host: ${job.host}`,
    'User-Agent: Happ/3.5.0/ios',
    'Accept: */*',
    `X-Hwid: ${hwidOf(user, device)}`,
    'X-Device-Os: iOS',
    'X-Ver-Os: 18.1',
    'X-Device-Model: iPhone 15',
    'X-Real-Ip: 203.0.113.7',
    '\r\n',
  ].join('\r\n')
}

/** A small generator, so that two runs ask for the same users in the same order. */
function randomNumbers(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}

function makeRequests(job: LoadJob): Buffer[] {
  const random = randomNumbers(42)
  const texts: string[] = []
  for (let i = 0; i < REQUESTS; i++) {
    texts.push(requestText(job, random(job.users), random(PER_USER)))
  }
  const all = Buffer.from(texts.join(''), 'latin1')
  let at = 0
  return texts.map((text) => {
    const from = at
    at += text.length
    return all.subarray(from, at)
  })
}

/** The length of the answer that begins a buffer, headers included. Throws unless it is a 200 with a length. */
function answerLength(buffer: Buffer): number | null {
  const end = buffer.indexOf('\r\n\r\n')
  if (end < 0) return null
  const head = buffer.toString('latin1', 0, end)
  if (!head.startsWith('HTTP/1.1 200')) throw new Error(`answer: ${head.slice(0, 200)}`)
  const length = /\r\ncontent-length: (\d+)/i.exec(head)?.[1]
  if (length === undefined) throw new Error('an answer has no Content-Length')
  return end + 4 + Number(length)
}

/** Counts answers by the time they took, in steps of 10 µs. */
function createHistogram() {
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

/** One connection: answers `onAnswer` with the milliseconds of each exchange until `send` is no longer called. */
function openConnection(
  port: number,
  nextRequest: () => Buffer,
  onAnswer: (ms: number) => void,
  pauseMs = 0,
): Socket {
  const received = Buffer.allocUnsafeSlow(256 * 1024)
  let length = 0
  let sentAt = 0
  const send = () => {
    sentAt = performance.now()
    socket.write(nextRequest())
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
        const wanted = answerLength(received.subarray(0, length))
        if (wanted === null || length < wanted) return true
        length = 0
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

const pause = (seconds: number) => new Promise((resolve) => setTimeout(resolve, seconds * 1000))

async function run(job: LoadJob): Promise<LoadResult> {
  const requests = makeRequests(job)
  let next = 0
  let histogram = createHistogram()
  const nextRequest = () => requests[next++ % REQUESTS] as Buffer
  const sockets = Array.from({ length: job.connections }, () =>
    openConnection(job.port, nextRequest, (ms) => histogram.add(ms), job.pauseMs),
  )
  await pause(job.warmupSeconds)
  histogram = createHistogram()
  const cpuBefore = process.cpuUsage()
  const startedAt = performance.now()
  await pause(job.seconds)
  const seconds = (performance.now() - startedAt) / 1000
  const cpu = process.cpuUsage(cpuBefore)
  for (const socket of sockets) socket.destroy()
  return {
    perSecond: histogram.count / seconds,
    p50Ms: histogram.quantile(0.5),
    p99Ms: histogram.quantile(0.99),
    busy: (cpu.user + cpu.system) / 1e6 / seconds,
  }
}

console.log(JSON.stringify(await run(JSON.parse(process.argv[2] as string) as LoadJob)))
process.exit(0)
