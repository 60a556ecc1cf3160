/**
 * The load generator, a process of its own: keep-alive connections that each send the next request when the answer to the
 * last is whole. Requests are made before the clock runs, and answers are only measured, so that it is not what is slow.
 */
import { cpuShare, createHistogram, openConnection, toRequests } from './connections.ts'
import { hwidOf, PER_USER, tokenOf } from './shop.ts'

export interface LoadJob {
  port: number
  host: string
  /** Tokens are those of `users` users; every request takes one of them and one of its owner's devices at random. */
  users: number
  /** The first of them; 0 by default. */
  firstUser?: number
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
  /** All answers, those of the warm-up too. */
  answers: number
  /** The share of one core that this generator used: near 1 it would be the bottleneck. */
  busy: number
}

const REQUESTS = 100_000

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
    const user = (job.firstUser ?? 0) + random(job.users)
    texts.push(requestText(job, user, random(PER_USER)))
  }
  return toRequests(texts)
}

const pause = (seconds: number) => new Promise((resolve) => setTimeout(resolve, seconds * 1000))

async function run(job: LoadJob): Promise<LoadResult> {
  const requests = makeRequests(job)
  let next = 0
  let histogram = createHistogram()
  const nextRequest = () => requests[next++ % REQUESTS] as Buffer
  const sockets = Array.from({ length: job.connections }, () =>
    openConnection(job.port, nextRequest, (ms) => histogram.add(ms), { pauseMs: job.pauseMs ?? 0 }),
  )
  await pause(job.warmupSeconds)
  const { count: warmedUp } = histogram
  histogram = createHistogram()
  const busy = cpuShare()
  const startedAt = performance.now()
  await pause(job.seconds)
  const seconds = (performance.now() - startedAt) / 1000
  const share = busy()
  for (const socket of sockets) socket.destroy()
  return {
    perSecond: histogram.count / seconds,
    answers: warmedUp + histogram.count,
    p50Ms: histogram.quantile(0.5),
    p99Ms: histogram.quantile(0.99),
    busy: share,
  }
}

console.log(JSON.stringify(await run(JSON.parse(process.argv[2] as string) as LoadJob)))
process.exit(0)
