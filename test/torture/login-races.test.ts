/** Logins raced by two processes, Node and Bun on one database: limits hold to the attempt, a code opens one session. */
import { hash } from 'node:crypto'
import { expect, test } from 'vitest'
import { formatTimestamp, MINUTE_MS } from '#src/lib/time.ts'
import { generateTotpSecret } from '#src/lib/totp.ts'
import { codeAt } from '#test/support/calls/admins.ts'
import {
  type Answer,
  type Area,
  inParallel,
  PASSWORD,
  PLAIN,
  RUNTIMES,
  type Server,
} from '#test/support/drivers/process.ts'
import {
  ENGINES,
  expectSound,
  seeded,
  useAreas,
  useEngines,
} from '#test/support/drivers/torture.ts'

const area = useAreas()
const on = useEngines()
const SEED = Number(process.env.SEED ?? 1)
/** The full form; what runs by default is as large as a check of every change can be. */
const FULL = process.env.FULL === '1'
const ADMINS = FULL ? 1000 : 60
const DUELS = FULL ? 300 : 30
const GUESSES = 200
const AT = '2026-01-01T00:00:00'
const LATER = '2099-01-01T00:00:00'

async function startBoth(a: Area): Promise<[Server, Server]> {
  const servers: Server[] = []
  for (const runtime of RUNTIMES) servers.push(await a.startServer({ runtime }))
  return servers as [Server, Server]
}

const count = (a: Area, table: string, where: string) =>
  a.query<{ n: number }>(`select count(*) n from ${table} where ${where}`)[0]?.n

/** A session written into the database; gives its cookie. */
function addSession(a: Area, adminId: number, token: string): string {
  a.write(
    "insert into admin_sessions (token, admin_id, created_at, expires_at, last_seen_at, ip) values (?, ?, ?, ?, ?, '')",
    ...[hash('sha256', token, 'hex'), adminId, AT, LATER, LATER],
  )
  return `panel_admin=${token}`
}

/** Of guesses sent to both processes at once exactly `limit` may have been evaluated; the others waited for nothing. */
function expectEvaluated(answers: Answer[], limit: number, windowSeconds: number): void {
  const refused = answers.filter(({ status }) => status === 429)
  expect(answers.filter(({ status }) => status === 401)).toHaveLength(limit)
  expect(refused).toHaveLength(answers.length - limit)
  for (const { headers } of refused) {
    const seconds = Number(headers.get('retry-after'))
    expect(seconds).toBeGreaterThan(windowSeconds - 20)
    expect(seconds).toBeLessThanOrEqual(windowSeconds)
  }
}

const numbers = (length: number) => Array.from({ length }, (_, i) => i)

test.each(ENGINES)(
  `%s: of ${GUESSES} parallel wrong guesses at two processes exactly 10 are evaluated`,
  async (engine) => {
    const a = area({ ...PLAIN, ...(await on(engine)) })
    const servers = await startBoth(a)
    const headers = { 'x-real-ip': '203.0.113.9' }
    const passwords = await Promise.all(
      numbers(GUESSES).map((i) =>
        (servers[i % 2] as Server).call('/admin/api/login', {
          body: { username: 'admin', password: `wrong guess ${i}` },
          headers,
        }),
      ),
    )
    expectEvaluated(passwords, 10, 900)
    expect(count(a, 'audit_log', "action = 'login.failed'")).toBe(10)

    const cookie = addSession(a, 1, 'session')
    const confirmations = await Promise.all(
      numbers(GUESSES).map((i) =>
        (servers[i % 2] as Server).call(`/admin/api/${i % 4 < 2 ? 'password' : '2fa/disable'}`, {
          body: {
            password: `wrong guess ${i}`,
            ...(i % 4 < 2 ? { current_password: `wrong guess ${i}` } : {}),
          },
          headers: { cookie, 'x-real-ip': `203.0.113.${i}` },
        }),
      ),
    )
    expectEvaluated(confirmations, 10, 900)
    expect(count(a, 'audit_log', "action = 'password.failed'")).toBe(10)

    a.write('update admins set totp_secret = ?', generateTotpSecret())
    for (const i of numbers(GUESSES)) {
      a.write(
        'insert into pending_logins (token, admin_id, expires_at) values (?, 1, ?)',
        ...[hash('sha256', `pending ${i}`, 'hex'), LATER],
      )
    }
    const codes = await Promise.all(
      numbers(GUESSES).map((i) =>
        (servers[i % 2] as Server).call('/admin/api/login/totp', {
          // Never a code: what is counted does not depend on luck.
          body: { pending_token: `pending ${i}`, code: `${i}` },
          headers,
        }),
      ),
    )
    expectEvaluated(codes, 10, 300)
    expect(count(a, 'audit_log', "action = 'login.failed' and detail = 'code'")).toBe(10)
  },
)

/** The attempts at accounts that count now, oldest first, in seconds. */
const guessesAt = (a: Area, account: string) =>
  a
    .query<{ at: string }>(
      `select at from account_attempts where account ${account} order by at, id`,
    )
    .map(({ at }) => Date.parse(`${at}Z`) / 1000)

test.each(ENGINES)(
  `%s: of ${GUESSES} guesses at one account from as many addresses, at two processes, 30 are free`,
  async (engine) => {
    const a = area({ ...PLAIN, ...(await on(engine)) })
    const servers = await startBoth(a)
    const guess = (i: number) =>
      (servers[i % 2] as Server).call('/admin/api/login', {
        body: { username: 'admin', password: `wrong guess ${i}` },
        headers: { 'x-real-ip': `10.2.${i >> 8}.${i & 255}` },
      })
    const login = (server: number, ip: string) =>
      (servers[server] as Server).call('/admin/api/login', {
        body: { username: 'admin', password: PASSWORD },
        headers: { 'x-real-ip': ip },
      })
    expect((await login(0, '203.0.113.9')).status).toBe(200)

    const answers = await Promise.all(numbers(GUESSES).map(guess))
    const times = guessesAt(a, "like 'name %'")
    expect(answers.filter(({ status }) => status === 401)).toHaveLength(times.length)
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(GUESSES - times.length)
    expect(count(a, 'audit_log', "action = 'login.failed'")).toBe(times.length)
    expect(times.length).toBeGreaterThanOrEqual(30)
    // Each one beyond them has waited for its second, two, four seconds since the one before it, at whichever process that was.
    const pauses = times.slice(30).map((at, i) => at - (times[i + 29] as number))
    console.log(
      `${times.length} of ${GUESSES} evaluated, the waits of the rest ${pauses.join(' ')} s`,
    )
    for (const [i, pause] of pauses.entries()) expect(pause).toBeGreaterThanOrEqual(2 ** i)

    // Of those who come together after the longest wait one is evaluated, whatever its process; the owner waits for none of them.
    for (const { id, at } of a.query<{ id: number; at: string }>(
      'select id, at from account_attempts',
    )) {
      const before = formatTimestamp(new Date(Date.parse(`${at}Z`) - 10 * MINUTE_MS))
      a.write('update account_attempts set at = ? where id = ?', before, id)
    }
    for (let i = times.length; i < 40; i++) {
      a.write(
        "insert into account_attempts (account, at) select account, at from account_attempts where account like 'name %' limit 1",
      )
    }
    const late = Promise.all(numbers(GUESSES).map((i) => guess(GUESSES + i)))
    const owner = await Promise.all([login(0, '203.0.113.9'), login(1, '203.0.113.9')])
    expect(owner.map(({ status }) => status)).toEqual([200, 200])
    const refused = (await late).filter(({ status }) => status === 429)
    expect([(await late).filter(({ status }) => status === 401).length, refused.length]).toEqual([
      1,
      GUESSES - 1,
    ])
    for (const { headers } of refused) {
      const seconds = Number(headers.get('retry-after'))
      expect(seconds).toBeGreaterThan(40)
      expect(seconds).toBeLessThanOrEqual(60)
    }
    expect((await login(0, '203.0.114.1')).status).toBe(429)
  },
)

interface Seeded {
  id: number
  username: string
  secret: string
}

/** Accounts with the first one's password and a second factor each. */
function addAdmins(a: Area): Seeded[] {
  for (const i of numbers(ADMINS)) {
    a.write(
      'insert into admins (username, password_hash, totp_secret, created_at) select ?, password_hash, ?, ? from admins where id = 1',
      ...[`admin ${i}`, generateTotpSecret(), AT],
    )
  }
  return a.query<Seeded>('select id, username, totp_secret as secret from admins where id > 1')
}

test.each(ENGINES)(
  `%s: ${ADMINS} admins, one code each, raced by two processes: as many sessions`,
  async (engine) => {
    const random = seeded(SEED)
    const a = area({ ...PLAIN, ...(await on(engine)) })
    const servers = await startBoth(a)
    const plans = addAdmins(a).map((admin) => ({
      admin,
      /** One pending login at both processes, or one at each. */
      shared: random() < 0.5,
      /** How many requests with the same code each process gets. */
      each: 1 + Math.floor(random() * 3),
      first: random() < 0.5 ? 0 : 1,
    }))
    const givePassword = async (username: string, headers: Record<string, string>) => {
      const server = servers[random() < 0.5 ? 0 : 1] as Server
      const body = { username, password: PASSWORD }
      const answer = await server.call('/admin/api/login', { body, headers })
      expect(answer.json).toMatchObject({ needs_totp: true })
      return answer.json.pending_token as string
    }
    const startedAt = performance.now()
    const answers = await inParallel(plans, 8, async ({ admin, shared, each, first }) => {
      const headers = { 'x-real-ip': `10.1.${admin.id >> 8}.${admin.id & 255}` }
      const one = await givePassword(admin.username, headers)
      const tokens = [one, shared ? one : await givePassword(admin.username, headers)]
      const code = codeAt(admin.secret, new Date())
      return Promise.all(
        numbers(2 * each).map((i) => {
          const at = (i + first) % 2
          const body = { pending_token: tokens[at], code }
          return (servers[at] as Server).call('/admin/api/login/totp', { body, headers })
        }),
      )
    })
    const seconds = Math.round((performance.now() - startedAt) / 1000)
    const all = answers.flat()
    console.log(`${ADMINS} admins, ${all.length} requests with a code, ${seconds} s, seed ${SEED}`)

    for (const [i, own] of answers.entries()) {
      const statuses = own.map(({ status }) => status)
      expect([i, statuses.filter((status) => status === 200).length]).toEqual([i, 1])
      expect(statuses.filter((status) => status === 401)).toHaveLength(own.length - 1)
      // With one pending login the losers find it used up, with two they find the step used up.
      const texts = new Set(
        own.filter(({ status }) => status === 401).map(({ json }) => json.error),
      )
      if (plans[i]?.shared) expect([...texts]).toEqual(['login session expired, log in again'])
      else expect([...texts]).toContain('wrong code')
    }
    const perAdmin = a.query<{ n: number }>(
      'select count(*) n from admin_sessions where admin_id > 1 group by admin_id',
    )
    expect(perAdmin).toHaveLength(ADMINS)
    expect(perAdmin.filter(({ n }) => n !== 1)).toEqual([])
    expect(count(a, 'audit_log', "action = 'login'")).toBe(ADMINS)
    expectSound(a)
    expect(a.lines.filter((line) => line.text.includes(' error '))).toEqual([])
  },
)

test.each(ENGINES)(
  `%s: ${DUELS} times two admins remove each other at two processes: one stays`,
  async (engine) => {
    const random = seeded(SEED)
    const a = area({ ...PLAIN, ...(await on(engine)) })
    const servers = await startBoth(a)
    const [{ hash: passwordHash } = { hash: '' }] = a.query<{ hash: string }>(
      'select password_hash as hash from admins',
    )
    const outcomes: Record<string, number> = {}
    for (let round = 0; round < DUELS; round++) {
      a.write('delete from admins')
      const ids = [round * 2 + 10, round * 2 + 11]
      const cookies = ids.map((id) => {
        a.write(
          'insert into admins (id, username, password_hash, created_at) values (?, ?, ?, ?)',
          ...[id, `admin ${id}`, passwordHash, AT],
        )
        return addSession(a, id, `session ${id}`)
      })
      const late = random() < 0.5 ? 0 : 1
      const headStartMs = random() * 3
      const answers = await Promise.all(
        [0, 1].map(async (i) => {
          if (i === late) await new Promise((resolve) => setTimeout(resolve, headStartMs))
          return (servers[i] as Server).call(`/admin/api/admins/${ids[1 - i]}`, {
            method: 'DELETE',
            headers: { cookie: cookies[i] as string },
          })
        }),
      )
      const statuses = answers.map(({ status }) => status).sort()
      outcomes[statuses.join()] = (outcomes[statuses.join()] ?? 0) + 1
      expect(count(a, 'admins', '1 = 1')).toBe(1)
    }
    console.log(JSON.stringify(outcomes))
    // 401 where the loser's session had ended before their request was let in.
    const others = Object.keys(outcomes).filter((one) => !['200,400', '200,401'].includes(one))
    expect(others).toEqual([])
  },
)
