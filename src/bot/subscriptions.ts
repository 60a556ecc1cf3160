/** Own subscriptions as they are shown. */
import type { ListedSubscription } from '#db/subscriptions.ts'
import { nodeAndPlan } from '#src/domain/labels.ts'
import { findShownOfUser, listShownOfUser } from '#src/domain/subscriptions/subscriptions.ts'
import { cut } from '#src/lib/format.ts'
import { daysToGo, formatDay, formatTimestamp, parseTimestamp } from '#src/lib/time.ts'
import { stringsOf } from '#src/web/strings.ts'
import type { BotRequest } from './request.ts'
import type { ShownSubscription } from './texts.ts'

/** A message holds 4096 characters: the newest of a long list, with labels that leave room for each other. */
const MOST_SHOWN = 20
const LABEL_LENGTH = 80

type Shown = ReturnType<typeof listShownOfUser>[number]

export interface OwnSubscription extends ListedSubscription {
  shown: ShownSubscription
}

function withTexts({ s, lang }: BotRequest, { state, ...found }: Shown): OwnSubscription {
  const { expiresAt, heldAt } = found.row
  const labels = nodeAndPlan(found)
  const days = daysToGo(expiresAt, heldAt === null ? s.clock.now() : parseTimestamp(heldAt))
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
}

/** The newest 20 of the user's subscriptions, newest first: all but revoked ones. */
export const listOwn = (v: BotRequest): OwnSubscription[] =>
  listShownOfUser(v.s.db, v.user, formatTimestamp(v.s.clock.now()))
    .slice(0, MOST_SHOWN)
    .map((found) => withTexts(v, found))

/** One of them, by its id or its uuid. */
export const findOwn = (v: BotRequest, id: string): OwnSubscription | undefined => {
  const found = findShownOfUser(v.s, v.user, id, formatTimestamp(v.s.clock.now()))
  return found && withTexts(v, found)
}
