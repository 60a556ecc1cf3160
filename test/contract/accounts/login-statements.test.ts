/** What a login asks the database: the same of a name that is an admin's and of one that is nobody's, so that no time tells them apart. */
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { ReadBody, Steps, TxBody } from '#db/engine/database.ts'
import { sha256Hex } from '#src/lib/crypto.ts'
import { addAdmin } from '#test/support/calls/admins.ts'
import { nowOf } from '#test/support/rows/records.ts'
import { createWorld, type World } from '#test/support/worlds/world.ts'

let w: World
beforeEach(async () => {
  w = await createWorld()
})
afterEach(() => {
  vi.restoreAllMocks()
  w.close()
})

type Step = { toSQL(): { sql: string } } | { question: object }

/** The text of each statement of the work, those that are built once by themselves. */
async function statementsOf(work: () => Promise<unknown>): Promise<unknown[]> {
  const asked: unknown[] = []
  const { tx, read } = w.s.db
  function* noted<T>(steps: Steps<T>): Steps<T> {
    let next = steps.next()
    while (!next.done) {
      const step = next.value as Step
      asked.push('toSQL' in step ? step.toSQL().sql : step.question)
      try {
        next = steps.next(yield step)
      } catch (error) {
        next = steps.throw(error)
      }
    }
    return next.value
  }
  const spy = vi
    .spyOn(w.s.db, 'tx')
    .mockImplementation(<T>(body: TxBody<T>) => tx((q) => noted(body(q))))
  const spies = [
    spy,
    vi
      .spyOn(w.s.db, 'read')
      .mockImplementation(<T>(body: ReadBody<T>) => read((q) => noted(body(q)))),
    vi.spyOn(w.s.db, 'onBehalfOf').mockImplementation(() => w.s.db),
  ]
  await work()
  for (const one of spies) one.mockRestore()
  return asked
}

let addresses = 0
const login = async (username: string, status: number, cookie?: string) => {
  const ip = `2001:db8:0:${++addresses}::1`
  const answer = await w.call('/admin/api/login', {
    body: { username, password: 'wrong password' },
    headers: { 'x-real-ip': ip },
    ...(cookie === undefined ? {} : { cookie }),
  })
  expect(answer.status).toBe(status)
}

const wait = (username: string) => {
  const account = `name ${sha256Hex(username).slice(0, 4)}`
  for (let i = 0; i < 60; i++) {
    w.change('insert into account_attempts (account, at) values (?, ?)', account, nowOf(w))
  }
}

test.each([
  ['admin', 'adminx'],
  ['анна', 'аннах'],
])('of %s and of %s, by a wrong password and while both have to wait', async (known, unknown) => {
  if (known !== 'admin') addAdmin(w, known)
  for (const cookie of [undefined, `panel_device=${'A'.repeat(43)}`]) {
    const wrong = await statementsOf(() => login(known, 401, cookie))
    expect(wrong.length).toBeGreaterThan(8)
    expect(await statementsOf(() => login(unknown, 401, cookie))).toEqual(wrong)
  }
  wait(known)
  wait(unknown)
  for (const cookie of [undefined, `panel_device=${'A'.repeat(43)}`]) {
    const refused = await statementsOf(() => login(known, 429, cookie))
    expect(refused.length).toBeGreaterThan(5)
    expect(await statementsOf(() => login(unknown, 429, cookie))).toEqual(refused)
  }
})
