/** What a browser gets at the subscription URL of a user without an active subscription. */

import { html } from './markup.ts'
import { type Button, buttonLinks, messagePage } from './message-page.ts'
import { inAskedLang } from './own-link.ts'
import type { PageBase } from './page-base.ts'
import { stringsOf } from './strings.ts'

export interface ExpiredPageInput extends PageBase {
  botUrl: string | null
  /** Where the owner connects their Telegram account, if there is one to connect. */
  connectUrl?: string | null
  /** Whether the owner of the link can buy anything now. */
  selling: boolean
  /** Where the owner pays without the bot; null while nothing is sold there. */
  renewUrl: string | null
  /** The day on which the last one ended, in words; null when there is none to name. */
  endedOn: string | null
  /** Whether one is only paused. */
  paused: boolean
  /** Whether one is switched off. */
  disabled?: boolean
}

/** Answered with 200 and `private, no-store`. */
export function expiredPage(input: ExpiredPageInput): string {
  const t = stringsOf(input.lang)
  const { botUrl, endedOn } = input
  const connect: Button = [input.connectUrl ?? null, 'telegram', t.connectTelegram]
  const renewUrl = input.renewUrl && inAskedLang(input, input.renewUrl)
  if (input.paused) {
    return messagePage(input, {
      badge: 'pause',
      title: t.pausedTitle,
      text: t.pausedText,
      actions: buttonLinks([botUrl, 'telegram', t.openBot], connect, [
        input.helpUrl,
        'help',
        t.askSupport,
      ]),
    })
  }
  if (input.disabled) {
    return messagePage(input, {
      badge: 'pause',
      title: t.disabledTitle,
      text: t.disabledText,
      actions: buttonLinks([botUrl, 'telegram', t.openBot], connect, [
        input.helpUrl,
        'help',
        t.askSupport,
      ]),
    })
  }
  if (endedOn === null) {
    return messagePage(input, {
      badge: 'link',
      title: t.noneTitle,
      text: t.noneText,
      actions: buttonLinks(
        [botUrl, 'telegram', t.openBot],
        [renewUrl, 'card', t.buyOnSite],
        connect,
        [input.helpUrl, 'help', t.askSupport],
      ),
    })
  }
  return messagePage(input, {
    badge: 'clock',
    title: t.expiredTitle,
    text: html`${t.expiredSince(endedOn)} ${t.expiredText}`,
    actions: buttonLinks(
      [botUrl, 'telegram', input.selling ? t.renew : t.openBot],
      [renewUrl, 'card', t.renewOnSite],
      connect,
      [input.helpUrl, 'help', t.askSupport],
    ),
  })
}
