import { afterEach, beforeEach, expect, test } from 'vitest'
import { resetAdmin } from '#src/domain/accounts/admins.ts'
import { addAdmin, isAlive, logIn, pendingToken, turnTotpOn } from '#test/support/calls/admins.ts'
import { auditOf, nowOf, putSettings } from '#test/support/rows/records.ts'
import { createWorld, PASSWORD, type World } from '#test/support/worlds/world.ts'

let w: World
beforeEach(async () => {
  w = await createWorld()
})
afterEach(() => w.close())

const login = (username: string, password: string) =>
  w.call('/admin/api/login', { body: { username, password } })

test('a new password counts alone; no second factor, session or pending login is left', async () => {
  const cookie = await logIn(w)
  turnTotpOn(w)
  w.change('update admins set totp_last_step = 9')
  await pendingToken(w)
  const { username, password } = await resetAdmin(w.s, 'ADMIN')
  expect(username).toBe('admin')
  expect(password).toMatch(/^[a-z2-7]{20}$/)
  expect(await isAlive(w, cookie)).toBe(false)
  expect(w.rows('select * from admin_sessions')).toEqual([])
  expect(w.rows('select * from pending_logins')).toEqual([])
  expect(w.rows('select totp_secret s, totp_last_step n from admins')).toEqual([
    { s: null, n: null },
  ])
  expect(auditOf(w)).toContain('admin.reset')
  expect(w.dump()).not.toContain(password)
  expect((await login('admin', PASSWORD)).status).toBe(401)
  expect((await login('admin', password)).json).toEqual({ ok: true })
})

test('whoever is alerted is told', async () => {
  putSettings(w, { ADMIN_TG_IDS: '501 502' })
  await resetAdmin(w.s, 'ADMIN')
  const told = { about: 'admin-reset', username: 'admin', admin: null, ip: 'shell' }
  expect(
    w.rows('select tg_id, payload from outbox').map((row) => [row.tg_id, JSON.parse(row.payload)]),
  ).toEqual([
    [501, told],
    [502, told],
  ])
})

test('whoever was made to wait by failed attempts need not wait any more', async () => {
  for (let i = 0; i < 10; i++) {
    w.change(
      "insert into login_attempts (ip, kind, at) values ('127.0.0.1', 'password', ?)",
      nowOf(w),
    )
  }
  expect((await login('admin', PASSWORD)).status).toBe(429)
  const { password } = await resetAdmin(w.s, 'admin')
  expect((await login('admin', password)).status).toBe(200)
})

test('other admins are left alone', async () => {
  const id = addAdmin(w, 'second')
  const cookie = await logIn(w, 'second')
  turnTotpOn(w, id)
  await pendingToken(w, 'second')
  await resetAdmin(w.s, 'admin')
  expect(await isAlive(w, cookie)).toBe(true)
  expect(w.rows('select admin_id from pending_logins')).toEqual([{ admin_id: id }])
  expect((await login('second', PASSWORD)).json).toMatchObject({ needs_totp: true })
})

test('404 for an unknown name, and nothing changes', async () => {
  const before = w.dump()
  await expect(resetAdmin(w.s, 'nobody')).rejects.toMatchObject({ status: 404 })
  expect(w.dump()).toBe(before)
})
