/** Which system a page is opened on, as far as the browser says. */
import { SYSTEMS, type System } from '#src/settings/app-catalogue.ts'

export interface Hints {
  userAgent: string | null | undefined
  /** `Sec-CH-UA-Platform`, which Chromium sends by itself (wicg.github.io/ua-client-hints). */
  platform: string | null | undefined
  /** `?os=` */
  chosen: string | null | undefined
}

const MAX_LENGTH = 512

/** In this order: a television says Android or Linux too, an iPhone "like Mac OS X". iPads say Macintosh; the page's script knows better. */
const AGENTS: [RegExp, System][] = [
  [
    /smart-?tv|appletv|apple tv|googletv|google tv|android tv|\baft[a-z]|bravia|tizen|web0s|webos|hbbtv|roku|crkey/i,
    'tv',
  ],
  [/iphone|ipad|ipod/i, 'ios'],
  [/android|\bcros\b/i, 'android'],
  [/windows/i, 'windows'],
  [/macintosh|mac os x/i, 'macos'],
  [/linux|x11/i, 'linux'],
]

const PLATFORMS: Record<string, System> = {
  Android: 'android',
  'Chrome OS': 'android',
  'Chromium OS': 'android',
  iOS: 'ios',
  Linux: 'linux',
  macOS: 'macos',
  Windows: 'windows',
}

/** The system of a visitor; Android, which most have, for one who says nothing. */
export function systemOf({ userAgent, platform, chosen }: Hints): System {
  const wanted = SYSTEMS.find((system) => system === chosen)
  if (wanted) return wanted
  const agent = (userAgent ?? '').slice(0, MAX_LENGTH)
  const found = AGENTS.find(([pattern]) => pattern.test(agent))?.[1]
  if (found === 'tv') return found
  const name = (platform ?? '').slice(0, 40).replaceAll('"', '')
  const hinted = Object.hasOwn(PLATFORMS, name) ? PLATFORMS[name] : undefined
  return hinted ?? found ?? 'android'
}

/** Whether the browser says it is an iPad's; most say Macintosh. */
export const isIpad = (userAgent: string | null | undefined): boolean =>
  /ipad/i.test((userAgent ?? '').slice(0, MAX_LENGTH))

/** Whether the page is open within Telegram, where links to apps may do nothing. Telegram for Android says so. */
export const isInTelegram = (userAgent: string | null | undefined): boolean =>
  /Telegram-/i.test((userAgent ?? '').slice(0, MAX_LENGTH))
