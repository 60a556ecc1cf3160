import { expect, test } from 'vitest'
import { resetAdmin } from '#src/domain/admins.ts'
import { login } from '#src/domain/login.ts'
import { createWorld, PASSWORD } from '#test/support/world.ts'

const client = { ip: '198.51.100.1', userAgent: null }
const credentials = { username: 'admin', password: PASSWORD }

test('a password that was replaced while it was hashed opens no session', async () => {
  const w = await createWorld()
  const before = w.rows('select * from admin_sessions').length
  let replaced = ''
  const hashing: typeof w.s.hashing = async (work) => {
    const result = await work()
    if (replaced === '') replaced = (await resetAdmin(w.s, 'admin')).password
    return result
  }
  await expect(login({ ...w.s, hashing }, client, credentials)).rejects.toThrow(
    'wrong username or password',
  )
  expect(w.rows('select * from admin_sessions').length).toBeLessThanOrEqual(before)
  const again = await login(w.s, client, { username: 'admin', password: replaced })
  expect(again).toHaveProperty('session')
  w.close()
})

test('a second factor that was turned on meanwhile is asked for', async () => {
  const w = await createWorld()
  const hashing: typeof w.s.hashing = async (work) => {
    const result = await work()
    w.change("update admins set totp_secret = 'SECRET'")
    return result
  }
  expect(await login({ ...w.s, hashing }, client, credentials)).toHaveProperty('pending')
  w.close()
})

test('an admin who was removed meanwhile gets 401', async () => {
  const w = await createWorld()
  const hashing: typeof w.s.hashing = async (work) => {
    const result = await work()
    w.change('delete from admins')
    return result
  }
  await expect(login({ ...w.s, hashing }, client, credentials)).rejects.toMatchObject({
    status: 401,
  })
  w.close()
})
