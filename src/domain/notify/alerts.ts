/** Alerts to the admins of ADMIN_TG_IDS: messages of the bot, once per change of state. */
import type { Query } from '#db/engine/database.ts'
import { assignUnsent } from '#db/messages.ts'
import { closeAlerts, openAlert, openAmong } from '#db/open-alerts.ts'
import { readSettingsIn, type Settings } from '#src/domain/settings.ts'
import { parseTgIds } from '#src/lib/tg-ids.ts'
import type { Services } from '#src/services.ts'
import type { Alert } from './alert-texts.ts'
import { queueMessage } from './messages.ts'

type Deps = Pick<Services, 'config'>

/** The Telegram ids of those who are alerted. */
export const adminTgIds = (settings: Settings): number[] =>
  parseTgIds(settings.text('ADMIN_TG_IDS'))

/** Queues an alert to every admin in the transaction of what it tells of; the scheduler's sweep sends it within seconds. */
export function* alert(tx: Query, s: Deps, at: string, what: Alert) {
  for (const tgId of adminTgIds(yield* readSettingsIn(tx, s))) {
    yield* queueMessage(tx, at, tgId, { kind: 'alert', payload: what })
  }
}

/** Who is alerted, and by which bot (empty: there is none). */
export interface Audience {
  tgIds: number[]
  botToken: string
}

export const audienceOf = (settings: Settings): Audience => ({
  tgIds: adminTgIds(settings),
  botToken: settings.text('BOT_TOKEN'),
})

/**
 * Queues an alert of a change that may have been one of the audience itself, in its transaction and after it: to those who were
 * alerted before, by the bot of then, and to those who are alerted now and were not. Alerts that are not sent yet stay with the
 * bot of then too, so that no later change can take them along.
 */
export function* alertFormer(tx: Query, s: Deps, at: string, former: Audience, what: Alert) {
  const present = audienceOf(yield* readSettingsIn(tx, s))
  const isOtherBot = former.botToken !== '' && former.botToken !== present.botToken
  if (isOtherBot) yield* assignUnsent(tx, 'alert', former.botToken)
  const message = { kind: 'alert', payload: what } as const
  for (const tgId of former.tgIds) {
    yield* queueMessage(tx, at, tgId, message, isOtherBot ? former.botToken : null)
  }
  yield* alertOthers(tx, s, at, former.tgIds, what)
}

/** Queues an alert to those who are alerted now and are not among these, who know. */
export function* alertOthers(tx: Query, s: Deps, at: string, told: number[], what: Alert) {
  for (const tgId of adminTgIds(yield* readSettingsIn(tx, s))) {
    if (!told.includes(tgId)) yield* queueMessage(tx, at, tgId, { kind: 'alert', payload: what })
  }
}

/**
 * Alerts once when the state `name` begins, and (with an alert for it) once when it ends, across processes and restarts. A state
 * that begins while nobody is to be alerted is told to those who are later.
 */
export function* alertState(
  tx: Query,
  s: Deps,
  at: string,
  state: { name: string; begins: boolean; alert: Alert | null },
) {
  const { name, begins } = state
  const [open] = yield* openAmong(tx, [name])
  if ((open !== undefined) === begins) return
  if (begins && adminTgIds(yield* readSettingsIn(tx, s)).length === 0) return
  if (begins) yield* openAlert(tx, name)
  else yield* closeAlerts(tx, [name])
  if (state.alert) yield* alert(tx, s, at, state.alert)
}

/** Ends states without a word: what they are of is gone, and a new one of the same name is another. */
export function* forgetStates(tx: Query, names: string[]) {
  yield* closeAlerts(tx, names)
}
