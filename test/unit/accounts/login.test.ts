import { expect, test } from 'vitest'
import { resetAdmin } from '#src/domain/accounts/admins.ts'
import { confirmIdentity } from '#src/domain/accounts/confirmation.ts'
import { login } from '#src/domain/accounts/login.ts'
import type { Cookies } from '#src/domain/accounts/sessions.ts'
import { createLimiter, lineBefore } from '#src/lib/limiter.ts'
import { createWorld, PASSWORD } from '#test/support/worlds/world.ts'

const client = { ip: '198.51.100.1', userAgent: null }
const credentials = { username: 'admin', password: PASSWORD }

test('a password that was replaced while it was hashed opens no session', async () => {
  const w = await createWorld()
  const before = w.rows('select * from admin_sessions').length
  let replaced = ''
  const strangersHashing: typeof w.s.hashing = async (work) => {
    const result = await work()
    if (replaced === '') replaced = (await resetAdmin(w.s, 'admin')).password
    return result
  }
  await expect(login({ ...w.s, strangersHashing }, client, credentials)).rejects.toThrow(
    'wrong username or password',
  )
  expect(w.rows('select * from admin_sessions').length).toBeLessThanOrEqual(before)
  const again = await login(w.s, client, { username: 'admin', password: replaced })
  expect(again).toHaveProperty('session')
  w.close()
})

test('a second factor that was turned on meanwhile is asked for', async () => {
  const w = await createWorld()
  const strangersHashing: typeof w.s.hashing = async (work) => {
    const result = await work()
    w.change("update admins set totp_secret = 'SECRET'")
    return result
  }
  expect(await login({ ...w.s, strangersHashing }, client, credentials)).toHaveProperty('pending')
  w.close()
})

test('an admin who was removed meanwhile gets 401', async () => {
  const w = await createWorld()
  const strangersHashing: typeof w.s.hashing = async (work) => {
    const result = await work()
    w.change('delete from admins')
    return result
  }
  await expect(login({ ...w.s, strangersHashing }, client, credentials)).rejects.toMatchObject({
    status: 401,
  })
  w.close()
})

test('guesses of strangers that wait for their hash keep back nobody whom the account knows', async () => {
  const w = await createWorld()
  const hashing = createLimiter(1, 10)
  const s = { ...w.s, hashing, strangersHashing: lineBefore(hashing, 1, 100) }
  const { device } = (await login(s, { ...client, panel: true }, credentials)) as Cookies
  let hashed = 0
  const guesses = Array.from({ length: 25 }, async (_, i) => {
    const guess = { username: `nobody${i}`, password: 'x' }
    await expect(login(s, { ...client, ip: `203.0.113.${i}` }, guess)).rejects.toThrow('wrong')
    hashed++
  })
  await expect.poll(() => w.rows('select * from account_attempts').length).toBe(25)
  const own = { ...client, ip: '192.0.2.9', device: device as string, panel: true }
  await login(s, own, credentials)
  const [{ id: sessionId }] = w.rows('select max(id) as id from admin_sessions')
  const actor = { admin: 'admin', ip: own.ip }
  await confirmIdentity(s, { adminId: 1, sessionId, actor }, { password: PASSWORD })
  expect(hashed).toBeLessThan(15)
  await Promise.all(guesses)
  w.close()
})
