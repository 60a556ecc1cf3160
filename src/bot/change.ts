/** Another server, or the days of another plan, for an own subscription: what there is, what it would be, and a button that does it. */
import type { InlineKeyboard } from 'grammy/web'
import { BOT_ACTOR } from '#src/domain/audit.ts'
import { ownIdOf } from '#src/domain/secret.ts'
import {
  changeServer,
  changeToPlan,
  type Prospect,
  previewPlan,
  readChoices,
} from '#src/domain/subscriptions/change.ts'
import { ApiError } from '#src/lib/errors.ts'
import { daysToGo, HOUR_MS, parseTimestamp } from '#src/lib/time.ts'
import { dayInWords } from '#src/web/day.ts'
import { stringsOf } from '#src/web/strings.ts'
import { findByShort, shortOf, tapData } from './callback-data.ts'
import { column, MOST_LISTED } from './keyboards.ts'
import { showStale } from './menu.ts'
import { type BotRequest, hoursToWait, say, show, type Work } from './request.ts'
import { findOwn, type OwnSubscription } from './subscriptions.ts'

const choicesOf = (v: BotRequest, { row }: OwnSubscription) => readChoices(v.s, v.user, row.uuid)

/** Adds a button for each kind of change that there is something to choose for. */
export async function addChangeRows(
  v: BotRequest,
  keyboard: InlineKeyboard,
  own: OwnSubscription,
): Promise<void> {
  const { nodes, plans } = await choicesOf(v, own)
  const id = ownIdOf(v.s, own.row.uuid)
  if (nodes.length > 0) keyboard.text(v.t.changeServer, tapData('n', id)).row()
  if (plans.length > 0) keyboard.text(v.t.changePlan, tapData('p', id)).row()
}

const days = ({ lang }: BotRequest, count: number): string =>
  `${stringsOf(lang).number(count)} ${stringsOf(lang).dayWord(count)}`

/** `23 days of Basic → 14 days of All servers until 17 December 2026` */
function becomes(v: BotRequest, own: OwnSubscription, to: Prospect): string {
  const now = v.s.clock.now()
  const from = v.t.daysOf(days(v, daysToGo(own.row.expiresAt, now)), own.shown.plan)
  const until = dayInWords(v.lang, v.s.config.timezone, parseTimestamp(to.expiresAt))
  return `${from} → ${v.t.daysOf(days(v, to.days), to.planLabel)} ${v.t.daysUntil(until)}`
}

/** Says when it can be changed again, where that is not now. */
async function mustWait(v: BotRequest, from: string | null): Promise<boolean> {
  if (from === null) return false
  const waitMs = parseTimestamp(from).getTime() - v.s.clock.now().getTime()
  await say(v, v.t.changeWait(Math.max(1, Math.ceil(waitMs / HOUR_MS))))
  return true
}

/** What comes of it; undefined where it is refused, of which the user is told. */
async function unlessRefused<T>(v: BotRequest, work: () => Promise<T>): Promise<T | undefined> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    if (error.status === 429) await say(v, v.t.changeWait(hoursToWait(error)))
    else if (error.code === 'too-little-left') await say(v, v.t.tooLittleLeft)
    else if (error.code === 'another-offer') await say(v, v.t.anotherOffer)
    else await showStale(v)
    return undefined
  }
}

type Button = [label: string, data: string]

/** The button that leads back to the subscription. */
const backTo = (v: BotRequest, id: string): Button => [v.t.back, tapData('s', id)]

/** A button of the change of server: which, whether, and that it be done. */
export const server: Work = async (v, [id = '', short, sure]) => {
  const own = await findOwn(v, id)
  if (!own) return showStale(v)
  const { t } = v
  const { nodes, nodesFrom } = await choicesOf(v, own)
  if (nodes.length === 0) return showStale(v)
  if (await mustWait(v, nodesFrom)) return
  if (short === undefined) {
    const rows = nodes
      .slice(0, MOST_LISTED)
      .map(({ code, label }): Button => [label, tapData('n', id, shortOf(code))])
    return show(v, t.serverChoose(own.shown.node), column([...rows, backTo(v, id)]))
  }
  const to = findByShort(nodes, short)
  if (!to) return showStale(v)
  if (sure === undefined) {
    const text = t.serverAsk(own.shown.node, to.label)
    return show(v, text, column([[t.changeDo, tapData('n', id, short, 'yes')], backTo(v, id)]))
  }
  const { uuid } = own.row
  const done = await unlessRefused(v, () => changeServer(v.s, BOT_ACTOR, v.user, uuid, to.code))
  if (done) await show(v, t.serverDone(to.label), column([backTo(v, id)]))
}

async function choosePlan(v: BotRequest, own: OwnSubscription, id: string): Promise<void> {
  const { plans, plansFrom } = await choicesOf(v, own)
  if (plans.length === 0) return showStale(v)
  if (await mustWait(v, plansFrom)) return
  const rows = plans
    .slice(0, MOST_LISTED)
    .map(
      (to): Button => [
        `${to.planLabel} · ${days(v, to.days)}`,
        tapData('p', id, shortOf(to.plan.code)),
      ],
    )
  await show(v, v.t.planChoose(own.shown.plan), column([...rows, backTo(v, id)]))
}

/** A button of the change of plan: which, whether, and that it be done for as many days as were shown. */
export const plan: Work = async (v, [id = '', short, shown]) => {
  const own = await findOwn(v, id)
  if (!own) return showStale(v)
  const { t } = v
  if (short === undefined) return choosePlan(v, own, id)
  const chosen = findByShort(v.memory.catalogue().plans.values(), short)
  if (!chosen) return showStale(v)
  const { uuid } = own.row
  const to = await unlessRefused(v, () => previewPlan(v.s, v.user, uuid, { plan: chosen.code }))
  if (!to) return
  const text = becomes(v, own, to)
  if (shown !== String(to.days)) {
    const rows: Button[] = [[t.changeDo, tapData('p', id, short, to.days)], backTo(v, id)]
    return show(v, t.planAsk(text), column(rows))
  }
  const wanted = { plan: chosen.code, days: to.days }
  const work = () => changeToPlan(v.s, BOT_ACTOR, v.user, uuid, wanted)
  if (await unlessRefused(v, work)) await show(v, t.planDone(text), column([backTo(v, id)]))
}
