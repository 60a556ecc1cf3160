/** Whose lists are served while the database's server is away: those who were asked for last, as they would be now. */
import { beforeEach, expect, test } from 'vitest'
import { DatabaseFailure } from '#db/engine/failures.ts'
import { createFindOwner, type FindOwner } from '#src/http/list-owners.ts'
import { DAY_MS, HOUR_MS } from '#src/lib/time.ts'
import { createHandClock } from '#test/support/worlds/world.ts'

const MB = 1_000_000
const away = () => new DatabaseFailure('away', 'Connection terminated')
const never = () => new Promise<never>(() => {})

type Row = (string | number | null)[]
const row = (tgId: number, ends = '2026-06-01T00:00:00', deviceId: number | null = null): Row => [
  ...[tgId, null, 5, deviceId, deviceId && '2026-02-28T12:00:00'],
  ...[`uuid of ${tgId}`, 'de1', '1m', ends, 1, 2],
]

let clock: ReturnType<typeof createHandClock>
/** What the database answers. */
let answer: (token: string, hwid: string) => Promise<Row[]>
let asked: string[]

function create(bytes = MB, databaseUrl: string | null = 'postgres://x/y'): FindOwner {
  const db = {
    ask: (_question: unknown, { token, hwid }: { token: string; hwid: string }) => {
      asked.push(token)
      return answer(token, hwid)
    },
    revision: () => 9,
  }
  const config = { staleListsBytes: bytes, databaseUrl }
  return createFindOwner({ db, config, clock } as unknown as Parameters<typeof createFindOwner>[0])
}

beforeEach(() => {
  clock = createHandClock('2026-03-01T12:00:00')
  asked = []
  answer = async (token) => [row(Number(token))]
})

test('who was asked for is found while it is away, with the age of what is known, at the present revision', async () => {
  const find = create()
  const fresh = await find('7', '', clock.now())
  expect(fresh).toMatchObject({ tgId: 7, lists: 5 })
  expect(fresh).not.toHaveProperty('staleSeconds')
  answer = () => Promise.reject(away())
  clock.advance(90_000)
  const stale = await find('7', '', clock.now())
  expect(stale).toEqual({ ...fresh, lists: 9, staleSeconds: 90 })
  await expect(async () => find('8', '', clock.now())).rejects.toThrow(away())
})

test('where something has ended by now, or nothing was there, it may be another by now', async () => {
  const find = create()
  answer = async () => [row(7, '2026-03-01T13:00:00'), row(7, '2026-03-01T15:00:00')]
  await find('7', '', clock.now())
  answer = async () => [[8, null, 5, null, null, null, null, null, null, null, null]]
  expect(await find('8', '', clock.now())).toMatchObject({ subscriptions: [] })
  answer = () => Promise.reject(away())
  expect((await find('7', '', clock.now()))?.subscriptions).toHaveLength(2)
  await expect(async () => find('8', '', clock.now())).rejects.toThrow(away())
  clock.advance(HOUR_MS)
  await expect(async () => find('7', '', clock.now())).rejects.toThrow(away())
})

test('another failure of the database is what it is', async () => {
  const find = create()
  await find('7', '', clock.now())
  answer = () => Promise.reject(new DatabaseFailure('other', 'no such column'))
  await expect(async () => find('7', '', clock.now())).rejects.toThrow('no such column')
})

test('who is gone when it answers is gone when it is away', async () => {
  const find = create()
  await find('7', '', clock.now())
  answer = async () => []
  expect(await find('7', '', clock.now())).toBe(undefined)
  answer = () => Promise.reject(away())
  await expect(async () => find('7', '', clock.now())).rejects.toThrow(away())
})

test('nobody who is known waits long for a server that says nothing', async () => {
  const find = create()
  await find('7', '', clock.now())
  answer = never
  const began = performance.now()
  expect(await find('7', '', clock.now())).toMatchObject({ staleSeconds: 0 })
  expect(performance.now() - began).toBeGreaterThan(1400)
  expect(performance.now() - began).toBeLessThan(3000)
})

test('one request in a second asks a server that is away', async () => {
  const find = create()
  for (const token of ['7', '8', '9']) await find(token, '', clock.now())
  asked = []
  answer = () => Promise.reject(away())
  for (const token of ['7', '8', '9'])
    expect(await find(token, '', clock.now())).toHaveProperty('staleSeconds')
  expect(asked).toEqual(['7'])
  clock.advance(1001)
  answer = async (token) => [row(Number(token))]
  expect(await find('8', '', clock.now())).not.toHaveProperty('staleSeconds')
  expect(await find('9', '', clock.now())).not.toHaveProperty('staleSeconds')
  expect(asked).toEqual(['7', '8', '9'])
})

test('one that is slow once is asked by everybody', async () => {
  const find = create()
  for (const token of ['7', '8']) await find(token, '', clock.now())
  answer = never
  await find('7', '', clock.now())
  answer = async (token) => [row(Number(token))]
  expect(await find('8', '', clock.now())).not.toHaveProperty('staleSeconds')
})

test('a device is known where it is registered, and another is not', async () => {
  const find = create()
  answer = async (_token, hwid) => [row(7, undefined, hwid === 'mine' ? 3 : null)]
  await find('7', 'mine', clock.now())
  await find('7', 'other', clock.now())
  answer = () => Promise.reject(away())
  const now = clock.now()
  expect(await find('7', 'mine', now)).toMatchObject({ deviceId: 3 })
  expect(await find('7', 'other', now)).toMatchObject({ deviceId: null, deviceSeenAt: null })
  expect(await find('7', '', now)).toMatchObject({ deviceId: null })
})

test('a device that was removed is not known any more', async () => {
  const find = create()
  answer = async () => [row(7, undefined, 3)]
  await find('7', 'mine', clock.now())
  answer = async () => [row(7)]
  await find('7', 'mine', clock.now())
  answer = () => Promise.reject(away())
  expect(await find('7', 'mine', clock.now())).toMatchObject({ deviceId: null })
})

test('a device that has not come for a day is not known, however often others of its owner come', async () => {
  const find = create()
  answer = async (_token, hwid) => [row(7, undefined, hwid === 'lost' ? 3 : 4)]
  await find('7', 'lost', clock.now())
  clock.advance(DAY_MS)
  await find('7', 'other', clock.now())
  clock.advance(1000)
  answer = () => Promise.reject(away())
  expect(await find('7', 'lost', clock.now())).toMatchObject({ deviceId: null })
  expect(await find('7', 'other', clock.now())).toMatchObject({ deviceId: 4 })
})

test('of a customer 20 devices are known, those that came last', async () => {
  const find = create()
  answer = async (_token, hwid) => [row(7, undefined, Number(hwid))]
  for (let i = 1; i <= 21; i++) await find('7', `${i}`, clock.now())
  answer = () => Promise.reject(away())
  expect(await find('7', '1', clock.now())).toMatchObject({ deviceId: null })
  for (const i of [2, 21])
    expect(await find('7', `${i}`, clock.now())).toMatchObject({ deviceId: i })
})

test('memory is bounded: who came last stays', async () => {
  // 900 bytes each.
  const find = create(9500)
  for (let i = 1; i <= 12; i++) await find(String(i), '', clock.now())
  await find('3', '', clock.now())
  await find('13', '', clock.now())
  answer = () => Promise.reject(away())
  const known: number[] = []
  for (let i = 1; i <= 13; i++) {
    const found = await Promise.resolve(find(String(i), '', clock.now())).catch(() => undefined)
    if (found) known.push(i)
  }
  expect(known).toEqual([3, 5, 6, 7, 8, 9, 10, 11, 12, 13])
})

test('what is a day old is not served', async () => {
  const find = create()
  await find('7', '', clock.now())
  answer = () => Promise.reject(away())
  clock.advance(DAY_MS + 1000)
  await expect(async () => find('7', '', clock.now())).rejects.toThrow(away())
})

test.each([
  ['with a file', MB, null],
  ['where no memory is given', 0, 'postgres://x/y'],
] as const)('%s nothing is remembered', async (_name, bytes, url) => {
  const find = create(bytes, url)
  await find('7', '', clock.now())
  answer = () => Promise.reject(away())
  await expect(async () => find('7', '', clock.now())).rejects.toThrow(away())
})
