/** Alerts to the admins of ADMIN_TG_IDS: messages of the bot, once per change of state. */
import type { Query } from '#db/engine/database.ts'
import { assignUnsent } from '#db/outbox.ts'
import { OPEN_ALERTS } from '#db/own-settings.ts'
import { deleteSetting, listSettings, putSetting, readSetting } from '#db/settings.ts'
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

/** Stores the states that admins know of. */
function* putOpen(tx: Query, open: Set<string>) {
  if (open.size > 0) yield* putSetting(tx, OPEN_ALERTS, [...open].join(' '))
  else yield* deleteSetting(tx, OPEN_ALERTS)
}

const namesOf = (row: string | undefined) => new Set(row?.split(' ').filter(Boolean))

/** Whether the admins were told that the state `name` began and not yet that it ended. */
export const isAlertOpen = (s: Pick<Services, 'db'>, name: string): boolean =>
  namesOf(listSettings(s.db).find(({ key }) => key === OPEN_ALERTS)?.value).has(name)

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
  const open = namesOf(yield* readSetting(tx, OPEN_ALERTS))
  if (open.has(name) === begins) return
  if (begins && adminTgIds(yield* readSettingsIn(tx, s)).length === 0) return
  if (begins) open.add(name)
  else open.delete(name)
  yield* putOpen(tx, open)
  if (state.alert) yield* alert(tx, s, at, state.alert)
}

/** Ends states without a word: what they are of is gone, and a new one of the same name is another. */
export function* forgetStates(tx: Query, names: string[]) {
  const open = namesOf(yield* readSetting(tx, OPEN_ALERTS))
  if (names.every((name) => !open.has(name))) return
  for (const name of names) open.delete(name)
  yield* putOpen(tx, open)
}
