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
}

type Insert = (table: string, row: Record<string, unknown>) => void

function inserter(raw: InstanceType<typeof Sqlite>): Insert {
  const statements = new Map<string, ReturnType<typeof raw.prepare>>()
  return (table, row) => {
    let statement = statements.get(table)
    if (!statement) {
      const names = Object.keys(row)
      const values = names.map((name) => `@${name}`).join(', ')
      statement = raw.prepare(`insert into ${table} (${names.join(', ')}) values (${values})`)
      statements.set(table, statement)
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
    note: n % 10 === 0 ? (text?.(n) ?? 'paid by card') : null,
    created_at: subscription.created_at,
  })
  insert('subscriptions', subscription)
}

function insertDevice(insert: Insert, n: number, now: number, text: Seed['text']) {
  insert('devices', {
    tg_id: tgIdOf(n),
    hwid: `hwid-${String(n).padStart(12, '0')}`,
    device_os: text?.(n) ?? 'Android',
    device_model: text?.(n) ?? 'Pixel 9',
    user_agent: 'Happ/3.1',
    created_at: stamp(now - 20 * DAY_MS),
    last_seen_at: stamp(now - n * 60_000),
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
  const { users = USERS, text } = seed
  fill(database, (insert, now, plans) => {
    insertNodes(insert, now, text)
    insertSamples(insert, now)
    for (let n = 0; n < users; n++) {
      insertUser(insert, n, now, plans, text)
      if (n % 3 !== 0 || n < 6) insert('payments', paymentOf(n, now, plans))
      if (n % 2 === 0) insertDevice(insert, n, now, text)
    }
  })
}

/** Lets a seeded shop grow to so many users, of whom every tenth has paid. */
export function growShop(database: string, users: number): void {
  fill(database, (insert, now, plans) => {
    for (let n = USERS; n < users; n++) {
      insertUser(insert, n, now, plans, undefined)
      if (n % 10 === 0) insert('payments', paymentOf(n, now, plans))
    }
  })
}
