/** Asks the service, in this process, for everything that an admin can ask of a large shop; prints times and stalls as JSON. */
import { median } from './figures.ts'
import type { MillionPage } from './million.ts'
import { cpuSince, longestHold, openService } from './million-service.ts'
import { NODES, tgIdOf } from './shop.ts'

const TIMES = 3
const DAY_MS = 86_400_000

const { users } = JSON.parse(process.argv[2] as string) as { users: number }
const { ask, close } = await openService()

/** The medians of a page, body included; the first time is not counted. */
async function time(name: string, path: string): Promise<MillionPage> {
  const rounds: Omit<MillionPage, 'name'>[] = []
  for (let i = 0; i <= TIMES; i++) {
    const startedAt = performance.now()
    const cpu = process.cpuUsage()
    const used = { ms: 0, cpuMs: 0 }
    const hold = await longestHold(async () => {
      await (await ask(path)).arrayBuffer()
      used.ms = performance.now() - startedAt
      used.cpuMs = cpuSince(cpu)
    })
    if (i > 0) rounds.push({ ...used, ...hold })
  }
  const of = (what: keyof Omit<MillionPage, 'name'>) => median(rounds.map((one) => one[what]))
  return { name, ms: of('ms'), cpuMs: of('cpuMs'), stallMs: of('stallMs'), turnMs: of('turnMs') }
}

const soon = new Date(Date.now() + 7 * DAY_MS).toISOString().slice(0, 19)
const digits = String(tgIdOf(Math.floor(users / 2)))
const names = ['user', 'user_1', `user_${users >> 4}`]
const searches = [digits.slice(0, 1), digits.slice(0, 2), digits, ...names]

function* combine(...lists: string[][]): Generator<string> {
  const [first, ...rest] = lists
  if (!first) return yield ''
  for (const one of first) {
    for (const other of combine(...rest)) yield [one, other].filter(Boolean).join('&')
  }
}

const q = ['', ...searches.map((text) => `q=${text}`)]
const ofSubscriptions = ['', 'active', 'held', 'expired', 'revoked'].map(
  (state) => state && `status=${state}`,
)
const ofPayments = ['', 'pending', 'paid', 'failed'].map((state) => state && `status=${state}`)
const ofGifts = ['', 'unused', 'used', 'expired', 'revoked'].map(
  (state) => state && `status=${state}`,
)
const lists: [path: string, queries: Iterable<string>][] = [
  [
    'users',
    [
      ...combine(['', 'status=active', 'status=held', 'status=expired', 'status=none'], q, [
        '',
        'sort=tg_id&order=asc',
      ]),
      ...combine(['banned=true', 'banned=false'], ['', 'status=expired', 'status=held'], q),
      'limit=1000',
    ],
  ],
  [
    'subscriptions',
    [
      ...combine(
        ofSubscriptions,
        ['', `node=${NODES[3]}`, 'plan=3m', `expires_before=${soon}`],
        ['', 'sort=expires_at&order=asc'],
      ),
      ...combine(ofSubscriptions, q),
      'limit=1000',
    ],
  ],
  [
    'payments',
    [
      ...combine(ofPayments, ['', `node=${NODES[3]}`, 'plan=3m', 'provider=stars', 'review=1']),
      ...q,
      'limit=1000',
    ],
  ],
  ['gift-codes', combine(ofGifts, ['', 'node=nl1', 'plan=1m', 'q=G0', 'q=1', 'q=@user'])],
  ['events', ['', 'order=asc']],
  ['audit', combine(['', 'action=login', 'action=none'], ['', 'admin=admin', 'admin=nobody'])],
  ['stats', ['']],
  ['stats/series', ['days=400']],
  ['stats/active', ['']],
  ['traffic', ['', 'limit=100']],
  [`nodes/${NODES[0]}/traffic`, ['days=400']],
  [`users/${digits}`, ['']],
]

const pages: MillionPage[] = []
for (const [path, queries] of lists) {
  for (const query of queries) {
    const address = `/admin/api/${path}${query && '?'}${query}`
    pages.push(await time(address.slice('/admin/api/'.length), address))
  }
}
await close()
console.log(JSON.stringify(pages))
process.exit(0)
