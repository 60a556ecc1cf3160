/** Links to Telegram accounts. */

/** The name of a bot without the @ before it. */
export const botName = (text: string): string => text.trim().replace(/^@/, '')

/** `{base}/{username}`, with `?start=` where a payload is given; null for an empty name or a base that is no web address. */
export function botLink(base: string, username: string, start?: string): string | null {
  const name = botName(username)
  if (name === '' || !/^https?:\/\//i.test(base)) return null
  const link = `${base.replace(/\/+$/, '')}/${encodeURIComponent(name)}`
  return start ? `${link}?start=${encodeURIComponent(start)}` : link
}
