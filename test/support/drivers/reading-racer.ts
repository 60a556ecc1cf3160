/**
 * A process that counts readings of a core, as others do at the same time: `reading-racer.ts SINCE_MS COUNT`, with the environment of a
 * service. What the core has counted of each client grows with the clock, so that no two readings are the same and later ones tell more.
 */
import { run } from '#db/engine/database.ts'
import { subscriptions } from '#db/schema/index.ts'
import { readReading } from '#db/traffic.ts'
import { compose } from '#src/compose.ts'
import { loadConfig } from '#src/config.ts'
import { countReading } from '#src/domain/nodes/traffic.ts'
import { GATEWAYS } from '#src/integrations/payments/index.ts'

const [since, count] = process.argv.slice(2).map(Number) as [number, number]
/** Of a node whose traffic counts for 37 hundredths. */
const nodes = new Map([['de1', 37]])

const { services: s } = await compose(loadConfig(process.env, process.cwd(), GATEWAYS), {
  init: false,
})
const clients = await s.db.read((q) =>
  run(q.select({ uuid: subscriptions.uuid }).from(subscriptions).orderBy(subscriptions.uuid)),
)
console.log('ready')
let told = 0
for (let i = 0; i < count; i++) {
  const acknowledged = await s.db.read((q) => readReading(q, 'race'))
  told = Date.now() - since
  await countReading(
    s,
    { core: 'race', nodes, acknowledged },
    {
      ...{ program: 2, owner: '', config: '', clients: '', count: clients.length, live: true },
      core: { up: true, version: 'x', uptimeS: 1, epoch: 'one' },
      ...{ online: null, host: null, reading: `r${told}`, hysteria: null },
      counters: clients.map(({ uuid }, client) => [uuid, told, told * (client + 1)]),
    },
  )
  console.log(`counted ${told}`)
}
await s.background.idle()
process.exit(0)
