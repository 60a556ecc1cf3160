/** A process that reconciles payments without a pause, for races: `reconciler.ts`, with the environment of a service. */
import { compose } from '#src/compose.ts'
import { loadConfig } from '#src/config.ts'
import { reconcilePayments } from '#src/domain/payments/reconcile.ts'
import { GATEWAYS } from '#src/integrations/payments/index.ts'

const { services } = await compose(loadConfig(process.env, process.cwd(), GATEWAYS), {
  init: false,
})
let over = false
process.on('SIGTERM', () => {
  over = true
})
console.log('reconciling')
while (!over) {
  await reconcilePayments(services)
  await new Promise((resolve) => setTimeout(resolve, 2))
}
await services.background.idle()
process.exit(0)
