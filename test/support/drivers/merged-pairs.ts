/** Pairs of customers that a process makes one of (merger.ts), as they are numbered, and what belongs to each in the database. */
import type { Area } from './process.ts'

/** The number of the one without Telegram. */
export const customerOf = (pair: number) => -pair
/** The Telegram account of the other. */
export const accountOf = (pair: number) => 1_000_000 + pair
export const codeOf = (pair: number) => `code-of-${pair}`.padEnd(32, 'x')

const ALPHABET = 'ABCDEFGHIJ'
export const giftOf = (tgId: number) =>
  `${tgId < 0 ? 'C' : 'T'}${String(Math.abs(tgId)).padStart(15, '0')}`.replace(
    /\d/g,
    (digit) => ALPHABET[Number(digit)] as string,
  )

/** All that belongs to each customer, a line for each thing. */
export function belongings(a: Area): Map<number, string[]> {
  const all = new Map<number, string[]>()
  const rows = a.query<{ id: number; line: string }>(
    `select tg_id id, 'user ' || tg_id line from users
      union all select tg_id, 'link ' || token from users
      union all select tg_id, 'link ' || token from user_tokens
      union all select tg_id, 'subscription ' || uuid || ' ' || source || ' ' || coalesce(gift_code, '') || ' ' ||
        coalesce(payment_id, '') || ' ' || active || ' ' || expires_at from subscriptions
      union all select tg_id, 'payment ' || id || ' ' || status || ' ' || subscription_uuid from payments
      union all select tg_id, 'device ' || hwid from devices
      union all select used_by, 'gift ' || code from gift_codes
      order by line`,
  )
  for (const { id, line } of rows) all.set(id, [...(all.get(id) ?? []), line])
  return all
}

/** What one customer has after both became one: all of both, and a device that both had once. */
export const together = (customer: string[], account: string[]): string[] =>
  [...new Set([...customer.filter((line) => !line.startsWith('user ')), ...account])].sort()
