/** The Telegram ids of people that a setting lists, however they are separated. */
export const parseTgIds = (text: string): number[] =>
  (text.match(/\d+/g) ?? []).map(Number).filter((id) => id > 0 && Number.isSafeInteger(id))
