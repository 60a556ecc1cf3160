/** Sends one signed notice of provider B for each of a span of payments, over connections that each wait for their answer, and prints how long that took. */
import { createHmac } from 'node:crypto'
import { cpuShare, createHistogram, openConnection, toRequests } from './connections.ts'
import { externalIdOf } from './shop.ts'

export interface NoticesJob {
  port: number
  secret: string
  /** The first payment, and how many. */
  from: number
  count: number
  connections: number
}

export interface NoticesResult {
  perSecond: number
  p50Ms: number
  p99Ms: number
  /** How often a notice was told to come again, and came. */
  repeated: number
  /** The share of one core that this generator used. */
  busy: number
}

/** A notice as a gateway sends it through the reverse proxy. */
function noticeText({ secret }: NoticesJob, payment: number): string {
  const body = JSON.stringify({
    id: externalIdOf(payment),
    status: 'paid',
    amount: '199.00',
    currency: 'RUB',
  })
  return [
    'POST /payments/webhook/provider_b HTTP/1.1',
    'Host: bench.test',
    'User-Agent: Gateway/1.0',
    'Accept: */*',
    'Content-Type: application/json',
    `Content-Length: ${body.length}`,
    `X-Signature: ${createHmac('sha256', secret).update(body).digest('hex')}`,
    'X-Real-Ip: 203.0.113.9',
    `\r\n${body}`,
  ].join('\r\n')
}

async function run(job: NoticesJob): Promise<NoticesResult> {
  const texts = Array.from({ length: job.count }, (_, i) => noticeText(job, job.from + i))
  const requests = toRequests(texts)[Symbol.iterator]()
  const histogram = createHistogram()
  const busy = cpuShare()
  let repeated = 0
  const onBusy = () => {
    repeated++
  }
  const startedAt = performance.now()
  const answered = new Promise<void>((resolve) => {
    const onAnswer = (ms: number) => {
      histogram.add(ms)
      if (histogram.count === job.count) resolve()
    }
    for (let i = 0; i < job.connections; i++) {
      openConnection(job.port, () => requests.next().value, onAnswer, { onBusy })
    }
  })
  await answered
  const seconds = (performance.now() - startedAt) / 1000
  return {
    perSecond: job.count / seconds,
    p50Ms: histogram.quantile(0.5),
    p99Ms: histogram.quantile(0.99),
    repeated,
    busy: busy(),
  }
}

console.log(JSON.stringify(await run(JSON.parse(process.argv[2] as string) as NoticesJob)))
process.exit(0)
