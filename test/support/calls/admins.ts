/** Admins at work: logins, sessions, and the codes that an authenticator app would show. */
import { createHmac } from 'node:crypto'
import { nowOf } from '#test/support/rows/records.ts'
import { PASSWORD, type World } from '#test/support/worlds/world.ts'

export const SECRET = 'JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP'

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'

/** Base32 by way of a text of bits: slow and plain, unlike the code under test. */
function decodeBase32(text: string): Buffer {
  const bits = [...text].map((one) => ALPHABET.indexOf(one).toString(2).padStart(5, '0')).join('')
  const bytes = bits.match(/.{8}/g) ?? []
  return Buffer.from(bytes.map((byte) => Number.parseInt(byte, 2)))
}

/** The code of a moment, `steps` steps of 30 s later (RFC 4226, section 5.3; RFC 6238). */
export function codeAt(secret: string, at: Date, steps = 0): string {
  const counter = Buffer.alloc(8)
  counter.writeBigUInt64BE(BigInt(Math.floor(at.getTime() / 30_000) + steps))
  const digest = createHmac('sha1', decodeBase32(secret)).update(counter).digest()
  const offset = (digest[19] as number) & 15
  return String((digest.readUInt32BE(offset) & 0x7fffffff) % 1_000_000).padStart(6, '0')
}

/** The code that the app of the world's admin shows, `steps` steps later. */
export const codeNow = (w: World, steps = 0) => codeAt(SECRET, w.clock.now(), steps)

/** Six digits that are no code of the steps around now. */
export function wrongCode(w: World): string {
  const codes = [-2, -1, 0, 1, 2].map((steps) => codeNow(w, steps))
  return ['000000', '111111', '222222', '333333', '444444', '555555'].find(
    (code) => !codes.includes(code),
  ) as string
}

/** Another account with the password of the first; gives its id. */
export function addAdmin(w: World, username: string): number {
  w.change(
    'insert into admins (username, password_hash, created_at) select ?, password_hash, ? from admins where id = 1',
    username,
    nowOf(w),
  )
  return w.rows('select max(id) as id from admins')[0].id
}

export const turnTotpOn = (w: World, id = 1) =>
  w.change('update admins set totp_secret = ? where id = ?', SECRET, id)

export const passwordStep = (w: World, username = 'admin', ip = '127.0.0.1') =>
  w.call('/admin/api/login', {
    body: { username, password: PASSWORD },
    headers: { 'x-real-ip': ip, 'user-agent': `Browser of ${username}` },
  })

/** Logs in as the panel's login page does; gives the cookies of session and browser. */
export async function logInToPanel(w: World, options: { username?: string; cookie?: string } = {}) {
  const { username = 'admin', cookie } = options
  const answer = await w.call('/admin/api/login', {
    body: { username, password: PASSWORD, panel: true },
    ...(cookie === undefined ? {} : { cookie }),
  })
  if (answer.status !== 200) throw new Error(`login: ${answer.status} ${answer.text}`)
  const [session = '', device = ''] = answer.headers.getSetCookie().map((one) => one.split(';')[0])
  return { session, device }
}

/** Logs in by password; gives the cookie of the session. */
export async function logIn(w: World, username = 'admin', ip?: string): Promise<string> {
  const answer = await passwordStep(w, username, ip)
  const cookie = /^panel_admin=[^;]+/.exec(answer.headers.get('set-cookie') ?? '')?.[0]
  if (!cookie) throw new Error(`login: ${answer.status} ${answer.text}`)
  return cookie
}

/** The password step of an account with two-factor login; gives the pending token. */
export async function pendingToken(w: World, username = 'admin', ip?: string): Promise<string> {
  const answer = await passwordStep(w, username, ip)
  if (!answer.json?.pending_token) throw new Error(`login: ${answer.status} ${answer.text}`)
  return answer.json.pending_token
}

export const codeStep = (w: World, token: string, code: string, ip = '127.0.0.1') =>
  w.call('/admin/api/login/totp', {
    body: { pending_token: token, code },
    headers: { 'x-real-ip': ip },
  })

/** Whether a session cookie is one. */
export const isAlive = async (w: World, cookie: string): Promise<boolean> =>
  (await w.call('/admin/api/me', { cookie })).json.authenticated
