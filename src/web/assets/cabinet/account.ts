/** Whose account it is, what the service says of it, and what this tab remembers of it. */
import type { GuestAnswer, ShopAnswer } from '#src/http/schemas/payment.ts'
import { note } from './parts.ts'
import { fill, texts, timeOf } from './words.ts'

export type Subscription = ShopAnswer['subscriptions'][number]

interface Account {
  token: string
  /** The plan that they came to buy, until they choose one themselves: nothing else is chosen for them. */
  wanted?: string | undefined
  shop: ShopAnswer
}

/** What the page shows; there is a shop once the account is shown. */
export const own = { token: '' } as Account

/** The token of a subscription link or a cabinet link, whatever stands around them, or of what ends in one. */
export const tokenOf = (text: string): string =>
  (/\/sub\/([\w-]{16,})/.exec(text) ??
    /#([\w-]{16,})/.exec(text) ??
    /([\w-]{16,})[^\w-]*$/.exec(text))?.[1] ?? ''

/** The account of who is away to pay: kept for this tab alone, until it is another. */
const KEPT = 'account'

/** What `use` gives for the storage of this tab; null where the browser has none for us. */
function stored<T>(use: (storage: Storage) => T): T | null {
  try {
    return use(sessionStorage)
  } catch {
    return null
  }
}

export const keep = (token: string) => stored((storage) => storage.setItem(KEPT, token))
export const kept = () => stored((storage) => storage.getItem(KEPT))
export const forget = () => stored((storage) => storage.removeItem(KEPT))

/** An answer of the service that is no success. */
export class Refusal extends Error {
  status: number
  /** By which the service declares it. */
  code: string
  /** After which it may be asked again. */
  minutes: number
  constructor(response: Response, message: string) {
    super(message)
    this.status = response.status
    this.code = response.headers.get('x-error-code') ?? ''
    this.minutes = Math.max(1, Math.ceil(Number(response.headers.get('retry-after') ?? 60) / 60))
  }
}

/** When to try again, and what else guests can do while there are too many of them. */
export function waitText({ code, minutes }: Refusal): string {
  const guests = code === 'too-many-guests' && texts.guestsLater
  return fill(guests || texts.tryLater, { minutes })
}

/** Asks the API. Throws Refusal, and what `fetch` throws. */
async function askApi<T>(method: string, path: string, body?: object): Promise<T> {
  const response = await fetch(`/api${path}`, {
    method,
    headers: { 'Content-Type': 'application/json' },
    cache: 'no-store',
    ...(body ? { body: JSON.stringify(body) } : {}),
  })
  const answer = await response.json().catch(() => ({}))
  if (!response.ok) throw new Refusal(response, answer.error ?? String(response.status))
  return answer
}

/** The same about this account. */
export const call = <T>(method: string, path: string, body?: object): Promise<T> =>
  askApi(method, `/cabinet/${own.token}${path}`, body)

/** The token of a new customer, who has come to buy without a link. */
export async function beGuest(): Promise<string> {
  const { lang } = document.documentElement
  return (await askApi<GuestAnswer>('POST', '/guest', { lang })).token
}

const RANKS = { active: 0, limited: 0, held: 1, disabled: 2, expired: 3 }

/** The soonest to end first, the paused ones after the active, then the ended, the latest of them first. */
function byUrgency(a: Subscription, b: Subscription): number {
  const sooner = timeOf(a.expires_at) - timeOf(b.expires_at)
  return RANKS[a.state] - RANKS[b.state] || (a.state === 'expired' ? -sooner : sooner)
}

export async function readShop(): Promise<ShopAnswer> {
  const found = await call<ShopAnswer>('GET', '/shop')
  found.subscriptions.sort(byUrgency)
  return found
}

/** Why something did not work: in the page's words, those of the service in small print. */
export function noteFault(
  id: 'buy-fault' | 'change-note' | 'device-note',
  error: unknown,
  { wait, refused }: { wait: string; refused: string },
): void {
  if (!(error instanceof Refusal)) note(id, texts.failed)
  else if (error.status === 429) note(id, wait)
  else note(id, refused, { detail: error.message })
}
