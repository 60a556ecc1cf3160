/** What a browser gets at the subscription URL of a user without an active subscription. */
import { botButton } from './bot-button.ts'
import type { PageBase } from './layout.ts'
import { html } from './markup.ts'
import { buttonLink, messagePage } from './message-page.ts'
import { stringsOf } from './strings.ts'

export interface ExpiredPageInput extends PageBase {
  botUrl: string | null
  /** Where the owner of the link pays without the bot; null while nothing is sold there. */
  renewUrl: string | null
  /** The day on which the last one ended, dd.mm.yyyy; null when there is none to name. */
  endedOn: string | null
  /** Whether one is only paused. */
  paused: boolean
}

/** Answered with 200 and `private, no-store`. */
export function expiredPage(input: ExpiredPageInput): string {
  const t = stringsOf(input.lang)
  const help = buttonLink(input.helpUrl, 'help', t.askSupport)
  if (input.paused) {
    return messagePage(input, {
      badge: 'pause',
      title: t.pausedTitle,
      text: t.pausedText,
      actions: [botButton(t, input.botUrl, t.openBot), help],
    })
  }
  if (input.endedOn === null) {
    return messagePage(input, {
      badge: 'link',
      title: t.noneTitle,
      text: t.noneText,
      actions: [
        botButton(t, input.botUrl, t.openBot),
        buttonLink(input.renewUrl, 'card', t.buyOnSite),
        help,
      ],
    })
  }
  return messagePage(input, {
    badge: 'clock',
    title: t.expiredTitle,
    text: html`${t.expiredSince(input.endedOn)} ${t.expiredText}`,
    actions: [
      botButton(t, input.botUrl, t.renew),
      buttonLink(input.renewUrl, 'card', t.renewOnSite),
      help,
    ],
  })
}
