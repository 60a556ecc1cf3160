/** Own subscriptions as they are shown. */
import type { ListedSubscription } from '#db/subscriptions.ts'
import { nodeAndPlan } from '#src/domain/labels.ts'
import { listShownOfUser } from '#src/domain/subscriptions.ts'
import { cut } from '#src/lib/format.ts'
import { daysToGo, formatDay, formatTimestamp, parseTimestamp } from '#src/lib/time.ts'
import { stringsOf } from '#src/web/strings.ts'
import type { ShownSubscription } from './texts.ts'
import type { Visit } from './visit.ts'

/** A message holds 4096 characters: the newest of a long list, with labels that leave room for each other. */
const MOST_SHOWN = 20
const LABEL_LENGTH = 80

export interface OwnSubscription extends ListedSubscription {
  shown: ShownSubscription
}

/** His subscriptions, newest first: all but revoked ones. */
function readOwn({ s, user, lang }: Visit): OwnSubscription[] {
  const now = s.clock.now()
  return listShownOfUser(s.db, user, formatTimestamp(now)).map(({ state, ...found }) => {
    const { expiresAt, heldAt } = found.row
    const labels = nodeAndPlan(found)
    const days = daysToGo(expiresAt, heldAt === null ? now : parseTimestamp(heldAt))
    return {
      ...found,
      shown: {
        node: cut(labels.node_label, LABEL_LENGTH),
        plan: cut(labels.plan_label, LABEL_LENGTH),
        state,
        until: formatDay(s.config.timezone, parseTimestamp(expiresAt)),
        left: stringsOf(lang).subDays(days),
      },
    }
  })
}

/** The newest 20 of them. */
export const listOwn = (v: Visit): OwnSubscription[] => readOwn(v).slice(0, MOST_SHOWN)

export const findOwn = (v: Visit, uuid: string): OwnSubscription | undefined =>
  readOwn(v).find(({ row }) => row.uuid === uuid)
