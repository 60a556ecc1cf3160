/** What customers are told of traffic packs: that one was added, and by which buttons they are bought. */
import type { TrafficPack } from '#db/schema/index.ts'
import { listPacks } from '#db/traffic-packs.ts'
import { ownIdOf } from '#src/domain/secret.ts'
import { readSettings } from '#src/domain/settings.ts'
import { packLink, soldPacks } from '#src/domain/traffic-packs.ts'
import { botLink } from '#src/lib/bot-link.ts'
import { formatPrice } from '#src/lib/format.ts'
import { escapeHtml } from '#src/lib/html.ts'
import { sizeText } from '#src/lib/sizes.ts'
import { formatDay, parseTimestamp } from '#src/lib/time.ts'
import type { LinkButton } from '#src/ports/messenger.ts'
import type { Services } from '#src/services.ts'

/** Traffic that was bought: `bytes` of it, of which and of the quota `left` is left in this period, which ends at `resets_at`. */
export interface ToppedUp {
  payment_id: string
  node_label: string
  plan_label: string
  bytes: number
  left: number
  resets_at: string | null
}

type Lang = 'en' | 'ru'

interface Texts {
  added: (bytes: string) => string
  server: string
  plan: string
  left: (bytes: string) => string
  leftUntil: (bytes: string, day: string) => string
}

const TEXTS: Record<Lang, Texts> = {
  en: {
    added: (bytes) => `✅ <b>${bytes} of traffic added</b>`,
    server: 'Server',
    plan: 'Plan',
    left: (bytes) => `You have ${bytes} left.`,
    leftUntil: (bytes, day) => `You have ${bytes} left until ${day}; what was bought lasts longer.`,
  },
  ru: {
    added: (bytes) => `✅ <b>Добавлено ${bytes} трафика</b>`,
    server: 'Сервер',
    plan: 'Тариф',
    left: (bytes) => `Осталось ${bytes}.`,
    leftUntil: (bytes, day) => `Осталось ${bytes} до ${day}; купленное сохранится и после.`,
  },
}

/** That traffic was added, with what there is now. */
export function toppedUpHtml(
  lang: Lang,
  timezone: string,
  link: string,
  { node_label, plan_label, bytes, left, resets_at: resetsAt }: ToppedUp,
): string {
  const texts = TEXTS[lang]
  const names = [
    `${texts.server}: <b>${escapeHtml(node_label)}</b>`,
    `${texts.plan}: <b>${escapeHtml(plan_label)}</b>`,
  ]
  const rest =
    resetsAt === null
      ? texts.left(sizeText(left, lang))
      : texts.leftUntil(sizeText(left, lang), formatDay(timezone, parseTimestamp(resetsAt)))
  return [texts.added(sizeText(bytes, lang)), names.join('\n'), `${rest}\n${link}`].join('\n\n')
}

/** So many stand under a message; the bot has all. */
const MOST_BUTTONS = 5

/** `➕ 50 GB · 99 ₽`; in Stars where it is sold for nothing else. */
function buttonText({ label, price, priceStars }: TrafficPack, currency: string, lang: Lang) {
  const cost = price > 0 ? formatPrice(price, currency, lang) : `${priceStars} ⭐`
  return `➕ ${label} · ${cost}`
}

/** The buttons by which more traffic for a subscription is bought in the bot; none while nothing is sold. */
export function packButtons(
  s: Pick<Services, 'db' | 'config'>,
  uuid: string,
  lang: Lang,
  botUsername: string,
): LinkButton[] {
  if (!readSettings(s).flag('PAYMENTS_ENABLED')) return []
  const { botLinkBase, currency } = s.config
  const id = ownIdOf(s, uuid)
  return soldPacks(listPacks(s.db))
    .slice(0, MOST_BUTTONS)
    .flatMap((pack) => {
      const url = botLink(botLinkBase, botUsername, packLink(id, pack.code))
      return url === null ? [] : [{ text: buttonText(pack, currency, lang), url }]
    })
}
