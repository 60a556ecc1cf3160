/** Alerts to the admins of ADMIN_TG_IDS: messages of the bot, once per change of state. */
import type { Query } from '#db/open.ts'
import { OPEN_ALERTS } from '#db/own-settings.ts'
import { deleteSetting, listSettings, putSetting, readSetting } from '#db/settings.ts'
import type { Services } from '#src/services.ts'
import type { Alert } from './alert-texts.ts'
import { tell } from './messages.ts'
import { readSettingsIn, type Settings } from './settings.ts'

type Deps = Pick<Services, 'config'>

/** The Telegram ids of those who are alerted. */
export const adminTgIds = (settings: Settings): number[] =>
  (settings.text('ADMIN_TG_IDS').match(/\d+/g) ?? []).map(Number)

/** Queues an alert to every admin in the transaction of what it tells of; the scheduler's sweep sends it within seconds. */
export function* alert(tx: Query, s: Deps, at: string, what: Alert) {
  for (const tgId of adminTgIds(yield* readSettingsIn(tx, s))) {
    yield* tell(tx, at, tgId, { kind: 'alert', payload: what })
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
