/** `npm run reset-admin` beside the running service, on both runtimes. */
import { afterEach, expect, test } from 'vitest'
import { generateTotpSecret } from '#src/lib/totp.ts'
import { type Area, createArea, PASSWORD, PLAIN, RUNTIMES } from '#test/support/drivers/process.ts'

let a: Area
afterEach(() => a.close())

test.each(RUNTIMES)('it lets a locked-out admin in again, on %s', async (runtime) => {
  a = createArea(PLAIN)
  const server = await a.startServer({ runtime })
  expect((await server.admin('/nodes')).status).toBe(200)
  a.write('update admins set totp_secret = ?', generateTotpSecret())
  const login = (password: string) =>
    server.call('/admin/api/login', { body: { username: 'admin', password } })
  expect((await login(PASSWORD)).json).toMatchObject({ needs_totp: true })
  for (let i = 0; i < 10; i++) expect((await login('wrong')).status).toBe(401)
  expect((await login(PASSWORD)).status).toBe(429)

  const reset = (...args: string[]) => a.run({ runtime, entry: '../scripts/reset-admin.ts', args })
  const done = await reset()
  expect([done.code, done.output]).toEqual([
    0,
    expect.stringMatching(/^New password of admin: [a-z2-7]{20}\nTwo-factor login is off/),
  ])
  const password = /: (\S+)/.exec(done.output)?.[1] as string
  expect((await server.admin('/nodes')).status).toBe(401)
  expect((await login(PASSWORD)).status).toBe(401)
  expect((await login(password)).json).toEqual({ ok: true })

  const unknown = await reset('nobody')
  expect([unknown.code, unknown.output]).toEqual([
    1,
    'admin not found: nobody (there are: admin)\n',
  ])
  expect((await reset('--help')).code).toBe(0)
  expect((await reset('--all')).code).toBe(1)
})
