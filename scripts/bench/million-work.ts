/**
 * What an admin changes of much of a large shop, and what the scheduler does with it, in this process; prints times and stalls as
 * JSON. Changes the shop.
 */
import { driverOf } from '#db/engine/sqlite/handle.ts'
import { cleanUp } from '#src/domain/installation/cleanup.ts'
import { reconcilePayments } from '#src/domain/payments/reconcile.ts'
import { remindOwners } from '#src/domain/subscriptions/reminders.ts'
import type { MillionPage } from './million.ts'
import { cpuSince, longestHold, openService } from './million-service.ts'
import { NODES, tgIdOf } from './shop.ts'

const { users } = JSON.parse(process.argv[2] as string) as { users: number }
// The log of the reconciler would be a line for each payment.
process.env.LOG_LEVEL = 'error'
const { services: s, ask, close } = await openService()
const done: MillionPage[] = []

async function time(name: string, work: () => Promise<unknown>): Promise<void> {
  const startedAt = performance.now()
  const cpu = process.cpuUsage()
  const hold = await longestHold(work)
  done.push({ name, ms: performance.now() - startedAt, cpuMs: cpuSince(cpu), ...hold })
}

const post = (path: string, body: unknown) => () =>
  ask(`/admin/api/${path}`, { method: 'POST', body: JSON.stringify(body) })

/** To the end, as its client takes it. */
async function download(path: string): Promise<void> {
  const { body } = await ask(`/admin/api/${path}`)
  for await (const _chunk of body ?? []);
}

const [, from, to, last] = NODES as [string, string, string, string]
const some = Array.from({ length: 1000 }, (_, i) => tgIdOf(i * Math.floor(users / 1000)))

await time('download of all users', () => download('users?format=csv'))
await time('a node’s measurements', () => ask(`/admin/api/nodes/${NODES[0]}/metrics`))
await time(
  '1,000 users lengthened',
  post('users/bulk', { tg_ids: some, action: 'extend', days: 1 }),
)
await time('1,000 users banned', post('users/bulk', { tg_ids: some, action: 'ban' }))
await time('all subscriptions of a node moved', post(`nodes/${from}/move`, { to }))
await time('a node deleted', () => ask(`/admin/api/nodes/${from}`, { method: 'DELETE' }))
await time('a node that is needed not deleted', () =>
  ask(`/admin/api/nodes/${last}`, { method: 'DELETE' }).catch(() => {}),
)
await time('reminders, those of days', () => remindOwners(s))
await time('reminders, none due', () => remindOwners(s))
driverOf(s.db).exec("UPDATE payments SET next_check_at = created_at WHERE status = 'pending'")
await time('pending payments checked', () => reconcilePayments(s))
await time('pending payments, none due', () => reconcilePayments(s))
await time('cleanup', () => cleanUp(s))
await close()
console.log(JSON.stringify(done))
process.exit(0)
