import { createHmac } from 'node:crypto'
import { afterAll, expect, test } from 'vitest'
import { openDatabase } from '#db/engine/sqlite/open.ts'
import { installationHmac } from '#src/domain/secret.ts'
import { hex } from '#src/lib/encoding.ts'
import { createWorld } from '#test/support/worlds/world.ts'

const w = await createWorld()
afterAll(() => w.close())

const SECRET = '000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f'
const use = (secret: string) => w.change('update installation set secret = ?', secret)
const of = (...parts: string[]) => hex(installationHmac(w.s, 'shop subscription', ...parts))

test('a new database has a secret of its own, 32 bytes', () => {
  // Made anew: a world copies one.
  const secrets = [1, 2].map(() => {
    const db = openDatabase(':memory:', { now: new Date() })
    const rows = db.raw.prepare('select * from installation').all()
    db.close()
    return rows
  })
  expect(secrets).toEqual([
    [{ id: 1, secret: expect.stringMatching(/^[0-9a-f]{64}$/) }],
    [{ id: 1, secret: expect.stringMatching(/^[0-9a-f]{64}$/) }],
  ])
  expect(secrets[0]).not.toEqual(secrets[1])
})

test('the HMAC-SHA256 of the purpose and the parts, by the secret as it is now', () => {
  use(SECRET)
  const known = createHmac('sha256', Buffer.from(SECRET, 'hex'))
    .update('["shop subscription","a","б"]')
    .digest('hex')
  expect(of('a', 'б')).toBe(known)
  use(`${SECRET.slice(2)}00`)
  expect(of('a', 'б')).not.toBe(known)
})

test('other parts give another one, however they are divided', () => {
  use(SECRET)
  const lists = [[], [''], ['', ''], ['a', 'b'], ['ab'], ['ab', ''], ['a,b'], ['a","b'], ['\ud800']]
  lists.push(['\ufffd'], ['\\ud800'], ['a\\', 'b'], ['a\\"', 'b'])
  expect(new Set(lists.map((parts) => of(...parts))).size).toBe(lists.length)
})

test.each(['', SECRET.slice(2), `${SECRET}00`, `zz${SECRET.slice(2)}`])(
  'a secret that is none is a fault, not a key: %j',
  (secret) => {
    use(secret)
    expect(() => of('a')).toThrow('the secret of the installation is damaged')
  },
)
