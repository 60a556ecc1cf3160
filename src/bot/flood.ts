/** Keeps one person from keeping the bot busy. */
import type { Context } from 'grammy/web'

/** Whether an update tells of Stars that came or went back. */
export const isCharge = ({ message }: Context['update']): boolean =>
  message?.successful_payment !== undefined || message?.refunded_payment !== undefined

/** Whether an update is one that a flood may cost its sender: payments and blocks must always come through. */
export const isChatter = (update: Context['update']): boolean =>
  update.callback_query !== undefined || (update.message !== undefined && !isCharge(update))

const MOST_PEOPLE = 10_000

/** Says of each update whether its sender stays within `most` in `windowMs`; what is refused does not count. */
export function createFloodGuard(most: number, windowMs: number, nowMs: () => number) {
  const recent = new Map<number, number[]>()
  const forget = (now: number) => {
    for (const [id, times] of recent) {
      if ((times.at(-1) as number) <= now - windowMs) recent.delete(id)
    }
  }
  return (id: number): boolean => {
    const now = nowMs()
    if (recent.size >= MOST_PEOPLE) forget(now)
    const times = (recent.get(id) ?? []).filter((time) => time > now - windowMs)
    recent.set(id, times)
    if (times.length >= most) return false
    times.push(now)
    return true
  }
}
