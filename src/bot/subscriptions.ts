/** Own subscriptions as they are shown. */
import type { ListedSubscription } from '#db/subscriptions.ts'
import { isWaiting, periodEnd, waitingDays } from '#src/domain/delayed-start.ts'
import { placeAndPlan } from '#src/domain/labels.ts'
import {
  findShownOfUser,
  listShownOfUser,
  type ShownSubscription as Shown,
} from '#src/domain/subscriptions/subscriptions.ts'
import { cut } from '#src/lib/format.ts'
import { daysToGo, ENDLESS, formatDay, formatTimestamp, parseTimestamp } from '#src/lib/time.ts'
import { stringsOf } from '#src/web/strings.ts'
import { usedText, usedTraffic } from '#src/web/traffic.ts'
import type { BotRequest } from './request.ts'
import type { ShownSubscription } from './texts.ts'

/** A message holds 4096 characters: the newest of a long list, with labels that leave room for each other. */
const MOST_SHOWN = 20
const LABEL_LENGTH = 80

export interface OwnSubscription extends ListedSubscription {
  shown: ShownSubscription
}

/** What is said in place of an end that a subscription has not, or not yet. */
function termOf({ s, lang }: BotRequest, row: ListedSubscription['row']) {
  const t = stringsOf(lang)
  if (row.expiresAt === ENDLESS) return { term: t.terms.endless }
  if (!isWaiting(row, formatTimestamp(s.clock.now()))) return undefined
  return { term: `${t.terms.unstarted}, ${t.subDays(waitingDays(row))}` }
}

function withTexts(v: BotRequest, { state, ...found }: Shown): OwnSubscription {
  const { s, lang } = v
  const { expiresAt, heldAt } = found.row
  const labels = placeAndPlan(found)
  const days = daysToGo(expiresAt, heldAt === null ? s.clock.now() : parseTimestamp(heldAt))
  const resetsAt = periodEnd(found.row, formatTimestamp(s.clock.now()))
  const used = usedTraffic(lang, s.config.timezone, { ...found.row, resetsAt })
  return {
    ...found,
    shown: {
      node: cut(labels.node_label, LABEL_LENGTH),
      plan: cut(labels.plan_label, LABEL_LENGTH),
      state,
      until: formatDay(s.config.timezone, parseTimestamp(expiresAt)),
      left: stringsOf(lang).subDays(days),
      ...termOf(v, found.row),
      traffic: used && state !== 'expired' ? usedText(used) : null,
    },
  }
}

/** The newest 20 of the user's subscriptions, newest first: all but revoked ones. */
export async function listOwn(v: BotRequest): Promise<OwnSubscription[]> {
  const now = formatTimestamp(v.s.clock.now())
  const shown = await v.s.db.read((q) => listShownOfUser(q, v.user, now))
  return shown.slice(0, MOST_SHOWN).map((found) => withTexts(v, found))
}

/** One of them, by its id or its uuid. */
export async function findOwn(v: BotRequest, id: string): Promise<OwnSubscription | undefined> {
  const found = await findShownOfUser(v.s, v.user, id, formatTimestamp(v.s.clock.now()))
  return found && withTexts(v, found)
}
