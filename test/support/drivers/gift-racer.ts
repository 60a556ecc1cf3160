/**
 * A process that tries to redeem every gift code there is, in their order, for users of its own: `gift-racer.ts FIRST_TG_ID`, with
 * the environment of a service. It waits for the file `go` and says how many it got.
 */

import { existsSync } from 'node:fs'
import { run } from '#db/engine/database.ts'
import { giftCodes } from '#db/schema/index.ts'
import { compose } from '#src/compose.ts'
import { loadConfig } from '#src/config.ts'
import { redeemGift } from '#src/domain/subscriptions/gifts.ts'
import { GATEWAYS } from '#src/integrations/payments/index.ts'

const first = Number(process.argv[2])
const { services: s } = await compose(loadConfig(process.env, process.cwd(), GATEWAYS), {
  init: false,
})
const codes = await s.db.read((q) =>
  run(q.select({ code: giftCodes.code }).from(giftCodes).orderBy(giftCodes.code)),
)
console.log('ready')
while (!existsSync('go')) await new Promise((resolve) => setTimeout(resolve, 1))
const outcomes: Record<string, number> = {}
for (const [i, { code }] of codes.entries()) {
  const { outcome } = await redeemGift(s, first + i, code)
  outcomes[outcome] = (outcomes[outcome] ?? 0) + 1
}
await s.background.idle()
console.log(`outcomes ${JSON.stringify(outcomes)}`)
process.exit(0)
