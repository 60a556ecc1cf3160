/** Long reads in a thread of their own: what they see, what one that never ends costs the others, and what is said then. */
import { closeSync, existsSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { openForReading } from '#db/engine/sqlite/open.ts'
import { read } from '#db/reads.ts'
import { createReads } from '#src/integrations/read-thread.ts'
import type { Reads } from '#src/ports/reads.ts'
import { addUser } from '#test/support/rows/records.ts'
import { createWorld, type World } from '#test/support/worlds/world.ts'

const PAGE = { limit: 10, cursor: null, order: 'desc' } as const
const STUCK = join(import.meta.dirname, '..', '..', 'support', 'fakes', 'stuck-reads.ts')

let folder: string
let w: World
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'subpanel-reads-'))
  w = await createWorld({ path: join(folder, 'panel.db') })
})
afterEach(() => {
  w.close()
  rmSync(folder, { recursive: true })
})

const listUsers = (reads: Reads) =>
  reads.ask('users', {}, 'created_at', PAGE, '2026-03-01T12:00:00')

describe('a thread of reads', () => {
  test('sees what was committed before it was asked', async () => {
    for (const tgId of [7, 8]) {
      addUser(w, tgId)
      const { rows } = await listUsers(w.s.reads)
      expect(rows.map((user) => user.tgId)).toContain(tgId)
    }
  })

  test('answers an admin as one in the same thread would', async () => {
    addUser(w, 7, { username: 'alice' })
    const listed = await w.admin('/admin/api/users?q=ali')
    expect([listed.status, listed.headers.get('x-total-count')]).toEqual([200, '1'])
    expect(listed.json).toMatchObject([{ tg_id: 7, active: 0, devices: 0 }])
    expect((await w.admin('/admin/api/stats')).json.users).toBe(1)
  })

  test('reads all of a question as of one moment', async () => {
    const db = openForReading(join(folder, 'panel.db'))
    for (let tgId = 1; tgId <= 60; tgId++) {
      addUser(w, tgId)
      const page = { ...PAGE, limit: 1 }
      const asked = read(db, 'users', {}, 'tg_id', page, '2026-03-01T12:00:00')
      // Each time a little further on.
      for (let step = 0; step < tgId; step++) await Promise.resolve()
      addUser(w, 1000 + tgId)
      const { rows, total } = await asked
      expect([rows[0]?.tgId, total]).toBeOneOf([
        [tgId === 1 ? 1 : 1000 + tgId - 1, 2 * tgId - 1],
        [1000 + tgId, 2 * tgId],
      ])
    }
    db.close()
  })

  test('is gone when it is closed, so that the last connection takes the files of the log away', async () => {
    addUser(w, 7)
    await listUsers(w.s.reads)
    const asked = Promise.allSettled([listUsers(w.s.reads), listUsers(w.s.reads)])
    await w.s.reads.close()
    w.s.db.close()
    expect(existsSync(join(folder, 'panel.db-wal'))).toBe(false)
    // What was being read was read to its end; what waited is refused.
    const [begun, waiting] = await asked
    expect(begun).toMatchObject(
      begun?.status === 'fulfilled' ? { value: { total: 1 } } : { reason: { status: 503 } },
    )
    expect(waiting).toMatchObject({ reason: { status: 503 } })
    await expect(listUsers(w.s.reads)).rejects.toMatchObject({ status: 503 })
  })

  test('tells a damaged file by its code', async () => {
    const path = join(folder, 'panel.db')
    await w.s.reads.close()
    w.s.db.close()
    const file = openSync(path, 'r+')
    writeSync(file, Buffer.alloc(100, 'x'), 0, 100, 0)
    closeSync(file)
    const reads = createReads(path, w.s.log)
    await expect(listUsers(reads)).rejects.toMatchObject({ code: 'SQLITE_NOTADB' })
    await reads.close()
  })
})

const stuck = (options: { limitMs?: number; waitMs?: number; restMs?: number }) =>
  createReads(join(folder, 'panel.db'), w.s.log, { ...options, worker: STUCK })

const listGifts = (reads: Reads) => reads.ask('gifts', {}, PAGE, '2026-03-01T12:00:00')

describe('a read that goes wrong', () => {
  let reads: Reads
  beforeEach(() => {
    reads = stuck({ limitMs: 1500 })
  })
  afterEach(() => reads.close())

  test('is given up with its thread after its time, and the next one is answered', async () => {
    const asked = [listUsers(reads), reads.ask('gifts', {}, PAGE, '2026-03-01T12:00:00')]
    const [stuck, next] = await Promise.allSettled(asked)
    expect(stuck).toMatchObject({
      reason: { status: 503, message: 'reading took too long, narrow the list down' },
    })
    expect(next).toMatchObject({ status: 'fulfilled', value: { total: 0 } })
    expect(w.log.join('\n')).toContain('a read took too long and is given up read=users')
  })

  test('is waited for by the others as long as its statement runs: there is no second thread', async () => {
    const long = stuck({ limitMs: 1500 })
    await listGifts(long)
    await expect(long.ask('payments', {}, PAGE)).rejects.toMatchObject({ status: 503 })
    await expect(listGifts(long)).rejects.toMatchObject({
      status: 503,
      message: 'too busy, try again',
    })
    await expect.poll(() => listGifts(long).catch(() => null), { timeout: 30_000 }).not.toBeNull()
    await long.close()
  }, 60_000)

  test('is not given up while only its process was held up', async () => {
    const patient = stuck({ limitMs: 1000 })
    await listGifts(patient)
    const asked = patient.ask('audit', {}, PAGE)
    await new Promise((resolve) => setImmediate(resolve))
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1500)
    expect(await asked).toEqual({ rows: [], total: 2 })
    await patient.close()
  })

  test('keeps nobody waiting for longer than their time', async () => {
    const late = stuck({ limitMs: 600, waitMs: 100 })
    const first = Promise.allSettled([listUsers(late)])
    await expect(listGifts(late)).rejects.toMatchObject({ message: 'too busy, try again' })
    await expect(Promise.race([first, Promise.resolve('reads on')])).resolves.toBe('reads on')
    expect(await first).toMatchObject([{ reason: { status: 503 } }])
    await late.close()
  })

  test('is told as such when its thread ends, and the next one is answered', async () => {
    await expect(reads.ask('events', PAGE)).rejects.toMatchObject({
      status: 503,
      message: 'the list could not be read, try again',
    })
    expect(await reads.ask('gifts', {}, PAGE, '2026-03-01T12:00:00')).toEqual({
      rows: [],
      total: 0,
    })
  })

  test('is not asked for by who has gone meanwhile', async () => {
    const slow = stuck({ limitMs: 1500 })
    const first = slow.ask('audit', {}, PAGE)
    const gone = new AbortController()
    const left = slow.for(gone.signal).ask('audit', {}, PAGE)
    const last = slow.for(new AbortController().signal).ask('audit', {}, PAGE)
    gone.abort()
    await expect(left).rejects.toMatchObject({ status: 503 })
    // The thread counts what it is asked.
    expect([(await first).total, (await last).total]).toEqual([1, 2])
    await expect(slow.for(gone.signal).ask('audit', {}, PAGE)).rejects.toMatchObject({
      status: 503,
    })
    expect((await slow.ask('audit', {}, PAGE)).total).toBe(3)
    await slow.close()
  })

  test('is refused at once behind a hundred others', async () => {
    const asked = Array.from({ length: 102 }, () => listUsers(reads))
    const refused = await Promise.race(asked.map((one) => one.catch((error) => error)))
    expect(refused).toMatchObject({ status: 503, message: 'too busy, try again' })
    for (const one of asked) one.catch(() => {})
  })

  test('of the database itself keeps its code', async () => {
    w.change('alter table gift_codes rename to gone')
    const own = createReads(join(folder, 'panel.db'), w.s.log)
    await expect(own.ask('gifts', {}, PAGE, '2026-03-01T12:00:00')).rejects.toMatchObject({
      code: 'SQLITE_ERROR',
    })
    await own.close()
  })
})

test('a thread that nobody asks ends, and comes again', async () => {
  const reads = stuck({ restMs: 50 })
  const questions = async () => (await reads.ask('audit', {}, PAGE)).total
  expect([await questions(), await questions()]).toEqual([1, 2])
  await new Promise((resolve) => setTimeout(resolve, 150))
  expect(await questions()).toBe(1)
  await reads.close()
})
