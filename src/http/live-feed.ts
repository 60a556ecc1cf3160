/**
 * What happens at this moment, told to whoever looks at the panel: nodes, who is online, sales. One look at the database serves all streams of a
 * process, whichever process has written there. Server-sent events (WHATWG HTML, 9.2): `id` is the moment up to which sales were told, so that a
 * browser which lost its connection is told those that it missed; a sale may be told twice, by its `id`.
 */

import { listLive } from '#db/node-live.ts'
import { type ListedSale, listSales, type SalesCursor } from '#db/sales.ts'
import { onlineNow } from '#src/domain/nodes/live.ts'
import { tooBusy } from '#src/lib/errors.ts'
import { noteFault } from '#src/lib/note-fault.ts'
import { formatTimestamp, parseTimestamp, SECOND_MS, timestampBefore } from '#src/lib/time.ts'
import type { Services } from '#src/services.ts'
import { liveNodeView, saleView } from './live-view.ts'

type Deps = Pick<Services, 'db' | 'reads' | 'clock' | 'log' | 'fatal' | 'ending'>

const LOOK_MS = 2 * SECOND_MS
/** Counting who is online reads an entry of an index for each of them. */
const COUNT_MS = 10 * SECOND_MS
/** Below the silence after which proxies, and the server itself, give a connection up. */
const HEARTBEAT_MS = 15 * SECOND_MS
/** A payment is committed some time after the moment that it names. */
const OVERLAP_MS = 120 * SECOND_MS
/** What a browser that comes back is told at most. */
const MISSED_MS = 10 * 60 * SECOND_MS
/** So many are read at a time. */
const PORTION = 50
const MOST_STREAMS = 500
const MOST_OF_ONE = 20
/** What waits for a reader that takes nothing: then it is cut off, and comes back. */
const MOST_WAITING_BYTES = 256 * 1024
/** After how long a browser comes back, in ms. */
const RETRY_MS = 3000

/** Who reads a stream, and whether they still may. */
export interface Reader {
  adminId: number
  mayRead(): Promise<boolean>
}

interface Stream {
  reader: Reader
  /** Cuts it off where too much waits for its reader already. */
  write(text: string): void
  /** Writes what it begins with, however long that is. */
  begin(text: string): void
  end(): void
}

export interface LiveFeed {
  /** A stream of events; `after`: the last event that its reader has had. Throws 503 where there are too many. */
  open(reader: Reader, after: string | undefined): Response
}

/** nginx would gather what comes before it hands that on. */
export const STREAM_HEADERS = {
  'Content-Type': 'text/event-stream',
  'X-Accel-Buffering': 'no',
}

const event = (name: string, data: unknown, id?: string) =>
  `event: ${name}\n${id === undefined ? '' : `id: ${id}\n`}data: ${JSON.stringify(data)}\n\n`

const saleEvent = (sale: ListedSale) => event('sale', saleView(sale), sale.paidAt)

/** The moment of an `id` of ours; null for what is none. */
function momentOf(id: string | undefined): Date | null {
  try {
    return id === undefined ? null : parseTimestamp(id)
  } catch {
    return null
  }
}

/** A stream that its reader takes at their own pace, up to a limit. */
function createStream(reader: Reader, closed: (stream: Stream) => void) {
  const encoder = new TextEncoder()
  let isOpen = true
  let controller: ReadableStreamDefaultController<Uint8Array>
  const stream: Stream = {
    reader,
    write(text) {
      if (isOpen && (controller.desiredSize ?? 0) <= 0) stream.end()
      else stream.begin(text)
    },
    begin(text) {
      if (isOpen) controller.enqueue(encoder.encode(text))
    },
    end() {
      if (!isOpen) return
      isOpen = false
      closed(stream)
      controller.close()
    },
  }
  const body = new ReadableStream<Uint8Array>(
    {
      start(own) {
        controller = own
      },
      cancel() {
        isOpen = false
        closed(stream)
      },
    },
    { highWaterMark: MOST_WAITING_BYTES, size: (bytes) => bytes?.length ?? 0 },
  )
  return { stream, body }
}

export function createLiveFeed(s: Deps): LiveFeed {
  const streams = new Set<Stream>()
  let timers: ReturnType<typeof setInterval>[] = []
  /** What was told last of each node, and of who is online. */
  let nodes = new Map<string, string>()
  let online = ''
  /** Sales of the last seconds that were told. */
  let told = new Set<string>()
  let isLooking = false

  const tell = (text: string) => {
    for (const stream of streams) stream.write(text)
  }
  async function* salesSince(since: string): AsyncGenerator<ListedSale> {
    let after: SalesCursor = { paidAt: since, seq: 0 }
    for (;;) {
      const from = after
      const sales = await s.db.read((q) => listSales(q, from, PORTION))
      yield* sales
      const last = sales.at(-1)
      if (last === undefined || sales.length < PORTION) return
      after = last
    }
  }

  async function tellNodes() {
    const now = new Map<string, string>()
    const at = s.clock.now()
    for (const row of await s.db.read(listLive))
      now.set(row.node.code, JSON.stringify(liveNodeView(row, at)))
    const changed = [...now].filter(([code, text]) => nodes.get(code) !== text)
    const gone = [...nodes.keys()].filter((code) => !now.has(code))
    nodes = now
    for (const [, text] of changed) tell(`event: node\ndata: ${text}\n\n`)
    for (const code of gone) tell(event('node-gone', { code }))
  }
  async function tellSales() {
    const since = timestampBefore(s.clock.now(), OVERLAP_MS)
    const present = new Set<string>()
    for await (const sale of salesSince(since)) {
      present.add(sale.id)
      if (!told.has(sale.id)) tell(saleEvent(sale))
    }
    told = present
  }
  async function tellOnline() {
    const text = event('online', await onlineNow(s))
    if (text === online) return
    online = text
    tell(text)
  }
  /** Looks at the database; what fails is looked at the next time. */
  const look = async (what: () => Promise<void>) => {
    try {
      await what()
    } catch (error) {
      noteFault(s, 'warn', 'the live view could not be read', error)
    }
  }
  const lookAtAll = async () => {
    if (isLooking) return
    isLooking = true
    await look(tellNodes)
    await look(tellSales)
    isLooking = false
  }
  const check = async () => {
    for (const stream of [...streams]) {
      const may = await stream.reader.mayRead().catch(() => true)
      if (!may) stream.end()
      else stream.write(':\n\n')
    }
  }

  const begin = () => {
    // Whoever begins to look now is told what comes, not what was.
    void look(async () => {
      const since = timestampBefore(s.clock.now(), OVERLAP_MS)
      for await (const { id } of salesSince(since)) told.add(id)
    })
    timers = [
      setInterval(() => void lookAtAll(), LOOK_MS),
      setInterval(() => void look(tellOnline), COUNT_MS),
      setInterval(() => void check(), HEARTBEAT_MS),
    ]
    for (const timer of timers) timer.unref()
  }
  const rest = () => {
    for (const timer of timers) clearInterval(timer)
    timers = []
    nodes = new Map()
    online = ''
    told = new Set()
  }
  const closed = (stream: Stream) => {
    streams.delete(stream)
    if (streams.size === 0) rest()
  }
  s.ending.addEventListener('abort', () => {
    for (const stream of [...streams]) stream.end()
  })

  /** What is so now, and what its reader has missed. */
  async function welcome(stream: Stream, after: Date | null) {
    const at = s.clock.now()
    const rows = await s.db.read(listLive)
    const counts = await onlineNow(s)
    const earliest = new Date(at.getTime() - MISSED_MS)
    const since = after && timestampBefore(after < earliest ? earliest : after, OVERLAP_MS)
    // First, and each with the moment up to which it tells: who loses the connection meanwhile comes back for the rest.
    if (since !== null) for await (const sale of salesSince(since)) stream.write(saleEvent(sale))
    const nodes = event(
      'nodes',
      rows.map((row) => liveNodeView(row, at)),
      formatTimestamp(at),
    )
    stream.begin(nodes + event('online', counts))
  }

  return {
    open(reader, after) {
      const own = [...streams].filter((stream) => stream.reader.adminId === reader.adminId)
      if (streams.size >= MOST_STREAMS || own.length >= MOST_OF_ONE || s.ending.aborted) {
        throw tooBusy()
      }
      const { stream, body } = createStream(reader, closed)
      streams.add(stream)
      if (streams.size === 1) begin()
      stream.write(`retry: ${RETRY_MS}\n\n`)
      void look(() => welcome(stream, momentOf(after)))
      return new Response(body, { headers: STREAM_HEADERS })
    },
  }
}
