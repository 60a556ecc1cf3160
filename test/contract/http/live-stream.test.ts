/** The stream of what happens: over a socket, as a browser reads it. */
import { type IncomingMessage, request } from 'node:http'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createApp } from '#src/http/app.ts'
import { pause } from '#src/lib/pause.ts'
import { type Listening, serve } from '#src/serve.ts'
import { addNode, addPayment, addUser } from '#test/support/rows/records.ts'
import { createWorld, SESSION, type World } from '#test/support/worlds/world.ts'

const COOKIE = `panel_admin=${SESSION}`

let w: World
let listening: Listening
let readers: Reader[]
beforeEach(async () => {
  w = await createWorld()
  readers = []
  listening = await serve(createApp(w.s, '/nonexistent', '/nonexistent'), '127.0.0.1', 0)
})
afterEach(async () => {
  for (const reader of readers) reader.leave()
  w.s.beginEnd()
  await listening.close()
  w.close()
})

interface Told {
  event: string
  id: string | undefined
  // biome-ignore lint/suspicious/noExplicitAny: tests read fields of unknown shape
  data: any
}

interface Reader {
  status: number
  headers: Headers
  told: Told[]
  ended: Promise<void>
  /** Waits for the first event of this name that fits. */
  wait(event: string, fits?: (data: Told['data']) => boolean): Promise<Told>
  leave(): void
}

function parse(block: string): Told | null {
  const fields = new Map(
    block.split('\n').map((line) => [line.split(': ')[0], line.slice(line.indexOf(': ') + 2)]),
  )
  const event = fields.get('event')
  if (event === undefined) return null
  return { event, id: fields.get('id'), data: JSON.parse(fields.get('data') ?? '') }
}

async function open(headers: Record<string, string> = {}): Promise<Reader> {
  // Not fetch, which opens connections to spare, for whose first request a server waits when it ends.
  const asked = request({
    ...{ host: '127.0.0.1', port: listening.port, path: '/admin/api/live', agent: false },
    headers: { Host: 'panel.test', Cookie: COOKIE, ...headers },
  })
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    asked.on('response', resolve).on('error', reject).end()
  })
  const told: Told[] = []
  let waiting: (() => void)[] = []
  const read = async () => {
    const decoder = new TextDecoder()
    let text = ''
    for await (const bytes of response) {
      text += decoder.decode(bytes, { stream: true })
      const blocks = text.split('\n\n')
      text = blocks.pop() ?? ''
      told.push(...blocks.map(parse).filter((one) => one !== null))
      for (const look of waiting) look()
      waiting = []
    }
  }
  const reader: Reader = {
    status: response.statusCode ?? 0,
    headers: new Headers(response.headers as Record<string, string>),
    told,
    ended: read().catch(() => {}),
    async wait(event, fits = () => true) {
      for (;;) {
        const found = told.find((one) => one.event === event && fits(one.data))
        if (found) return found
        await new Promise<void>((look) => waiting.push(look))
      }
    },
    leave: () => asked.destroy(),
  }
  readers.push(reader)
  return reader
}

test('who opens it is told what is so now, then what changes', async () => {
  const reader = await open()
  expect(reader.status).toBe(200)
  expect(Object.fromEntries(reader.headers)).toMatchObject({
    'content-type': 'text/event-stream',
    'cache-control': 'private, no-store',
    'x-accel-buffering': 'no',
  })
  expect((await reader.wait('nodes')).data).toMatchObject([{ code: 'de1', state: 'pending' }])
  expect((await reader.wait('online')).data).toEqual({ subscriptions: 0, customers: 0 })
  await w.s.nodeSync.syncAll({ force: false, remove: true })
  const { data } = await reader.wait('node', ({ at }) => at !== null)
  expect(data).toMatchObject({ code: 'de1', state: 'up', online: 0 })
})

test('a sale is told once to each, and who comes back is told those that they missed', async () => {
  const [one, other] = [await open(), await open()]
  const { id } = await one.wait('nodes')
  await other.wait('nodes')
  other.leave()
  addUser(w, 7, { username: 'alice' })
  const paid_at = w.s.clock.now().toISOString().slice(0, 19)
  addPayment(w, { id: 'first', tg_id: 7, status: 'paid', paid_at, amount: 250 })
  expect((await one.wait('sale')).data).toMatchObject({
    id: 'first',
    tg_id: 7,
    username: 'alice',
    amount: 250,
    paid_at,
  })
  const back = await open({ 'Last-Event-ID': id ?? '' })
  expect((await back.wait('sale')).data.id).toBe('first')
  addPayment(w, { id: 'second', tg_id: 7, status: 'paid', paid_at, amount: 99 })
  await one.wait('sale', (sale) => sale.id === 'second')
  const sales = one.told.filter(({ event }) => event === 'sale').map(({ data }) => data.id)
  expect(sales).toEqual(['first', 'second'])
})

test('all that was missed is told, however much it is', async () => {
  const first = await open()
  const { id } = await first.wait('nodes')
  first.leave()
  addUser(w, 7)
  const paid_at = w.s.clock.now().toISOString().slice(0, 19)
  for (let i = 0; i < 120; i++) addPayment(w, { id: `p-${i}`, tg_id: 7, status: 'paid', paid_at })
  const back = await open({ 'Last-Event-ID': id ?? '' })
  await back.wait('nodes')
  const sales = back.told.filter(({ event }) => event === 'sale').map(({ data }) => data.id)
  expect(sales).toEqual(Array.from({ length: 120 }, (_, i) => `p-${i}`))
  expect(back.told.find(({ event }) => event === 'sale')?.id).toBe(paid_at)
})

test('hundreds of nodes are a beginning as well', async () => {
  for (let i = 0; i < 500; i++) addNode(w, `n${i}`, { label: 'ж'.repeat(120) })
  const reader = await open()
  expect((await reader.wait('nodes')).data).toHaveLength(501)
  await reader.wait('online')
  addUser(w, 7)
  const paid_at = w.s.clock.now().toISOString().slice(0, 19)
  await pause(100)
  addPayment(w, { id: 'after', tg_id: 7, status: 'paid', paid_at })
  expect((await reader.wait('sale')).data.id).toBe('after')
})

test('HEAD takes no place', async () => {
  for (let i = 0; i < 25; i++) {
    expect((await w.admin('/admin/api/live', { method: 'HEAD' })).status).toBe(200)
  }
  expect((await open()).status).toBe(200)
})

test('without a session there is none', async () => {
  expect((await open({ Cookie: '' })).status).toBe(401)
})

test('an account has twenty at most', async () => {
  for (let i = 0; i < 20; i++) expect((await open()).status).toBe(200)
  const refused = await open()
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '5'])
  readers[0]?.leave()
  while ((await open()).status !== 200) await pause(20)
})

test('it ends when its session does', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  try {
    const reader = await open()
    await reader.wait('nodes')
    w.change('delete from admin_sessions')
    vi.advanceTimersByTime(15_000)
    await reader.ended
  } finally {
    vi.useRealTimers()
  }
})

test('it ends with the process', async () => {
  const reader = await open()
  await reader.wait('nodes')
  w.s.beginEnd()
  await reader.ended
  expect((await open()).status).toBe(503)
})
