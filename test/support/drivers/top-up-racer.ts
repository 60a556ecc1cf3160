/**
 * A process that begins new periods again and again, as others do at the same time: `top-up-racer.ts`, with the environment of a service.
 * Before each, all subscriptions have used their quota and so much beside it, and are due; what it took of extras is told at the end.
 */
import { run } from '#db/engine/database.ts'
import { sql } from '#db/engine/orm.ts'
import { subscriptions } from '#db/schema/index.ts'
import { compose } from '#src/compose.ts'
import { loadConfig } from '#src/config.ts'
import { resetTrafficPeriods } from '#src/domain/subscriptions/resets.ts'
import { GATEWAYS } from '#src/integrations/payments/index.ts'
import { formatTimestamp } from '#src/lib/time.ts'

/** What is used beside the quota in each period. */
const BEYOND = 1000

const { services: s } = await compose(loadConfig(process.env, process.cwd(), GATEWAYS), {
  init: false,
})
let over = false
process.on('SIGTERM', () => {
  over = true
})
let used = 0
console.log('resetting')
while (!over) {
  const now = formatTimestamp(s.clock.now())
  const due = await s.db.tx((tx) =>
    run(
      tx
        .update(subscriptions)
        .set({ usedBytes: sql`${subscriptions.quotaBytes} + ${BEYOND}`, resetsAt: now })
        .where(sql`${subscriptions.extraBytes} > ${BEYOND} and ${subscriptions.usedBytes} = 0`)
        .returning({ uuid: subscriptions.uuid }),
    ),
  )
  used += due.length * BEYOND
  await resetTrafficPeriods(s)
}
await s.background.idle()
console.log(`used ${used}`)
process.exit(0)
