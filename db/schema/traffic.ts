/** What cores count. */
import { index, int, primaryKey, table, text } from '../engine/columns.ts'
import { subscriptions } from './subscriptions.ts'

export const trafficSamples = table(
  'traffic_samples',
  {
    node: text('node').notNull(),
    /** `YYYY-MM-DD`, UTC. */
    day: text('day').notNull(),
    up: int('up').notNull().default(0),
    down: int('down').notNull().default(0),
  },
  (t) => [primaryKey({ columns: [t.node, t.day] }), index('traffic_samples_day').on(t.day)],
)

/** What a core last reported of a client: the base from which the next reading is counted. */
export const counters = table(
  'counters',
  {
    core: text('core').notNull(),
    uuid: text('uuid')
      .notNull()
      .references(() => subscriptions.uuid, { onDelete: 'cascade', onUpdate: 'cascade' }),
    epoch: text('epoch').notNull(),
    up: int('up').notNull(),
    down: int('down').notNull(),
  },
  (t) => [primaryKey({ columns: [t.uuid, t.core] })],
)

/** The last reading of each core that was counted; sent back as its acknowledgement. */
export const readings = table('readings', {
  core: text('core').primaryKey(),
  reading: text('reading').notNull(),
})
