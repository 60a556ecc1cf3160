/** A shop with some history, written into the database of a server that runs: what the panel's screens show. */
import Sqlite from 'better-sqlite3'

const DAY_MS = 86_400_000
/** As many as a seed has unless it says otherwise. */
const USERS = 120
const NAMES = ['anna', 'kirill_m', 'd_volkov', 'mila_r', 'sam', 'lena', 'artem', 'oleg']
const NODES: [code: string, label: string][] = [
  ['nl1', 'Amsterdam'],
  ['fi1', 'Helsinki'],
  ['tr1', 'Istanbul'],
]
const KEY = 'jNXHt1yRo0vDuchQlIP6Z0ZvjT3KtzVI-T4E7RoLJS0'

const stamp = (ms: number) => new Date(ms).toISOString().slice(0, 19)

/** The Telegram id of the n-th user of the seed, from 0. */
export const tgIdOf = (n: number) => 100_000_001 + n

export const uuidOf = (n: number) => `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`

export interface Seed {
  /** How many users; each has one subscription and most have one payment. */
  users?: number
  /** In place of names, labels and notes: what hostile people may write. */
  text?: (n: number) => string
  /** How many of each trouble that an operator may have: nodes, payments, servers, logins, events. None unless told. */
  troubles?: number
}

type Insert = (table: string, row: Record<string, unknown>) => void

function inserter(raw: InstanceType<typeof Sqlite>): Insert {
  const statements = new Map<string, ReturnType<typeof raw.prepare>>()
  return (table, row) => {
    const names = Object.keys(row)
    const key = `${table} ${names}`
    let statement = statements.get(key)
    if (!statement) {
      const values = names.map((name) => `@${name}`).join(', ')
      statement = raw.prepare(`insert into ${table} (${names.join(', ')}) values (${values})`)
      statements.set(key, statement)
    }
    statement.run(row)
  }
}

function insertNodes(insert: Insert, now: number, text: Seed['text']): void {
  NODES.forEach(([code, label], n) => {
    insert('nodes', {
      code,
      label: text?.(n) ?? label,
      kind: 'external',
      address: `${code}.example.com`,
      port: 443,
      public_key: KEY,
      short_id: '0123456789abcdef',
      sni: 'dl.google.com',
      sort_order: n + 2,
      last_seen_at: stamp(now - 60_000),
      created_at: stamp(now - 300 * DAY_MS),
    })
  })
}

/** A subscription by number: some run out soon, some are held, expired or revoked. */
function subscriptionOf(n: number, now: number, plans: string[]) {
  const created = now - ((n * 37) % 60) * DAY_MS - (n % 24) * 3_600_000
  const daysLeft = n % 7 === 3 ? -((n % 5) + 1) : (n * 5) % 90
  return {
    uuid: uuidOf(n),
    tg_id: tgIdOf(n),
    node: NODES[n % NODES.length]?.[0],
    plan: plans[n % plans.length],
    expires_at: stamp(now + daysLeft * DAY_MS + 3_600_000),
    active: n % 17 === 16 ? 0 : 1,
    held_at: n % 13 === 12 ? stamp(now - DAY_MS) : null,
    revoked_at: n % 17 === 16 ? stamp(now - DAY_MS) : null,
    source: n % 3 === 0 ? 'admin' : 'payment',
    up_bytes: n * 7_340_032,
    down_bytes: n * 104_857_600,
    created_at: stamp(created),
  }
}

function paymentOf(n: number, now: number, plans: string[]) {
  const age = n < 3 ? n * 1_200_000 + 1_000_000 : ((n * 37) % 60) * DAY_MS + (n % 24) * 3_600_000
  const status = n === 1 ? 'pending' : n % 19 === 5 ? 'failed' : 'paid'
  return {
    id: `pay-${n}`,
    tg_id: tgIdOf(n),
    node: NODES[n % NODES.length]?.[0],
    plan: plans[n % plans.length],
    provider: n % 4 === 3 ? 'cryptobot' : 'provider_a',
    external_id: `ext-${n}`,
    status,
    amount: [199, 549, 990, 1790][n % 4],
    currency: 'RUB',
    days: [30, 90, 180, 365][n % 4],
    created_at: stamp(now - age),
    paid_at: status === 'paid' ? stamp(now - age + 30_000) : null,
    failed_reason: status === 'failed' ? 'canceled' : null,
    // The reconciler has no provider to ask here.
    next_check_at: status === 'pending' ? stamp(now + DAY_MS) : null,
    source: 'bot',
    subscription_uuid: status === 'paid' && n % 17 !== 16 ? uuidOf(n) : null,
  }
}

function insertUser(insert: Insert, n: number, now: number, plans: string[], text: Seed['text']) {
  const subscription = subscriptionOf(n, now, plans)
  const name = text?.(n) ?? `${NAMES[n % NAMES.length]}${n < NAMES.length ? '' : n}`
  insert('users', {
    tg_id: tgIdOf(n),
    username: n % 9 === 8 ? null : name,
    token: `token-${String(n).padStart(37, '0')}`,
    note: text?.(n) ?? (n % 10 === 0 ? 'paid by card' : null),
    ...(text && { name: text(n), email: text(n), tags: JSON.stringify([text(n)]) }),
    created_at: subscription.created_at,
  })
  insert('subscriptions', subscription)
}

function insertDevice(insert: Insert, n: number, now: number, text: Seed['text']) {
  insert('devices', {
    tg_id: tgIdOf(n),
    hwid: text?.(n) ?? `hwid-${String(n).padStart(12, '0')}`,
    device_os: text?.(n) ?? 'Android',
    device_model: text?.(n) ?? 'Pixel 9',
    user_agent: text?.(n) ?? 'Happ/3.1',
    created_at: stamp(now - 20 * DAY_MS),
    last_seen_at: stamp(now - n * 60_000),
  })
}

/** A public key of SSH as servers show it. */
function hostKeyOf(fill: number): string {
  const type = Buffer.from('\0\0\0\x0bssh-ed25519')
  const key = Buffer.concat([type, Buffer.from([0, 0, 0, 32]), Buffer.alloc(32, fill)])
  return `ssh-ed25519 ${key.toString('base64')}`
}

interface Trouble {
  insert: Insert
  now: number
  plans: string[]
  n: number
  text: Seed['text']
}

/**
 * Managed nodes: `failed0` whose script ended early, `away0` that cannot be reached, `key0` with another host key, `live0` that
 * works. The service calls none of them but the last, by which nobody listens.
 */
function insertManaged({ insert, now, n, text }: Trouble): void {
  const say = (honest: string) => text?.(n) ?? honest
  const node = (code: string, label: string, row: Record<string, unknown>) =>
    insert('nodes', {
      code: `${code}${n}`,
      label: say(label),
      kind: 'managed',
      address: '127.0.0.1',
      ssh_port: 9,
      ssh_user: 'subpanel',
      public_key: KEY,
      short_id: '0123456789abcdef',
      sni: 'dl.google.com',
      sort_order: 10 + n,
      core_version: say('26.7.28'),
      created_at: stamp(now - DAY_MS),
      ...row,
    })
  // The step stands in quotes.
  const step = say('ports').replaceAll('"', "'")
  const reason = say('port 443 is in use by nginx')
  node('failed', 'Prague', {
    status: 'failed',
    provisioning: 'first',
    provision_expires_at: stamp(now + DAY_MS),
    last_error: `the install script failed at the step "${step}": ${reason}`,
  })
  node('away', 'Brno', { status: 'pending', last_error: say('no SSH connection to 127.0.0.1:9') })
  node('key', 'Riga', {
    status: 'pending',
    host_key: hostKeyOf(1),
    presented_host_key: say(hostKeyOf(2)),
  })
  node('live', 'Vilnius', { status: 'active', last_seen_at: stamp(now - 60_000) })
  insert('retired_nodes', {
    code: `gone${n}`,
    address: `192.0.2.${n + 1}`,
    ssh_port: 22,
    tries: 3,
    next_try_at: stamp(now + DAY_MS),
    last_error: say('no SSH connection to 192.0.2.1:22'),
    created_at: stamp(now - DAY_MS),
  })
}

function insertTroubles(trouble: Trouble): void {
  const { insert, now, plans, n, text } = trouble
  const say = (honest: string) => text?.(n) ?? honest
  const created_at = stamp(now - n * 60_000)
  insertManaged(trouble)
  insert('gift_codes', { code: `GIFT-${n}`, node: `live${n}`, plan: plans[n], created_at })
  insert('payments', {
    ...paymentOf(1, now, plans),
    id: `odd-${n}`,
    tg_id: tgIdOf(n),
    external_id: say(`odd-${n}`),
    failed_reason: text?.(n) ?? null,
    review_reason: say('paid with another amount'),
    pay_url: say('https://pay.example.com/odd'),
    created_at,
  })
  insert('orphan_payments', {
    provider: 'cryptobot',
    external_id: say(`IV-${n}`),
    amount: say('199.00'),
    currency: say('RUB'),
    found_at: created_at,
  })
  insert('admin_sessions', {
    token: `session-${n}`,
    admin_id: 1,
    ip: say('203.0.113.7'),
    user_agent: say('Mozilla/5.0 (X11; Linux x86_64)'),
    created_at,
    expires_at: stamp(now + DAY_MS),
    last_seen_at: created_at,
  })
  insert('audit_log', {
    at: created_at,
    ip: say('203.0.113.7'),
    action: 'login.failed',
    object: say('root'),
    detail: say('password'),
  })
  insert('events', {
    id: uuidOf(n),
    event: 'payment.paid',
    data: '{}',
    status: 'failed',
    error: say('the receiver answered with 500'),
    attempts: 1,
    created_at,
  })
}

/** Traffic of the last 60 days. */
function insertSamples(insert: Insert, now: number) {
  for (let day = 0; day < 60; day++) {
    for (const [at, [node]] of NODES.entries()) {
      insert('traffic_samples', {
        node,
        day: stamp(now - day * DAY_MS).slice(0, 10),
        up: (at + 1) * 1_073_741_824,
        down: (at + 1) * (80 - day) * 1_073_741_824,
      })
    }
  }
}

/** Writes into a database in one transaction, beside the server that runs on it. */
function fill(database: string, write: (insert: Insert, now: number, plans: string[]) => void) {
  const raw = new Sqlite(database)
  raw.pragma('busy_timeout = 10000')
  const plans = raw.prepare('select code from plans order by sort_order').pluck().all() as string[]
  raw.transaction(() => write(inserter(raw), Date.now(), plans))()
  raw.close()
}

/** Fills the database of an area whose server has started. */
export function seedShop(database: string, seed: Seed = {}): void {
  const { users = USERS, text, troubles = 0 } = seed
  fill(database, (insert, now, plans) => {
    insertNodes(insert, now, text)
    insertSamples(insert, now)
    for (let n = 0; n < users; n++) {
      insertUser(insert, n, now, plans, text)
      if (n % 3 !== 0 || n < 6) insert('payments', paymentOf(n, now, plans))
      if (text || n % 2 === 0) insertDevice(insert, n, now, text)
    }
    for (let n = 0; n < troubles; n++) insertTroubles({ insert, now, plans, n, text })
  })
}

/** Lists that grow with the years: what admins did, what was told to a webhook, what was given away. */
function insertHistory(insert: Insert, n: number, now: number, plans: string[]) {
  const at = stamp(now - (n % 80) * DAY_MS - n * 1000)
  const name = `past-${n}`
  insert('audit_log', { at, admin: 'admin', ip: '203.0.113.7', action: 'user.note', object: name })
  const told = { data: '{}', status: 'done', http_status: 200, attempts: 1 }
  insert('events', { id: name, event: 'payment.paid', ...told, created_at: at })
  const node = NODES[n % NODES.length]?.[0]
  insert('gift_codes', { code: name, node, plan: plans[n % plans.length], created_at: at })
}

/** Lets a seeded shop grow to so many users, of whom every tenth has paid; it gets `history` entries of each kind too. */
export function growShop(database: string, users: number, history: number): void {
  fill(database, (insert, now, plans) => {
    for (let n = 0; n < history; n++) insertHistory(insert, n, now, plans)
    for (let n = USERS; n < users; n++) {
      insertUser(insert, n, now, plans, undefined)
      if (n % 10 === 0) insert('payments', paymentOf(n, now, plans))
    }
  })
}
