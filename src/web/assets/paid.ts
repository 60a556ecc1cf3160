/** The way back from paying: asks how the payment of the key in the fragment stands, and shows the buyer their link. */
import type { PayStateAnswer } from '#src/http/schemas/payment.ts'
import type { PaidTexts } from '#src/web/pay-done-page.ts'

const byId = <E extends HTMLElement>(id: string) => document.getElementById(id) as E
const texts: PaidTexts = JSON.parse(byId('paid').dataset.texts as string)

const EVERY_MS = 3000
/** Most payments are confirmed within seconds; who waits for longer comes back. */
const TRIES = 60

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

const say = (message: string) => {
  byId('paid-state').textContent = message
}

/** How the payment stands; null while nobody can say, undefined where the key is none. */
async function ask(key: string): Promise<PayStateAnswer | null | undefined> {
  try {
    const response = await fetch('/api/pay/status', {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      cache: 'no-store',
      body: JSON.stringify({ key }),
    })
    if (response.status === 404) return undefined
    return response.ok ? await response.json() : null
  } catch {
    return null
  }
}

/** Takes back what the page says of a payment that is still to come, which stands above. */
function settle(message: string): void {
  const { previousElementSibling: before } = byId('paid')
  if (before instanceof HTMLElement) before.hidden = true
  say(message)
}

function showLink(link: string, connects: boolean, code: PayStateAnswer['qr']): void {
  settle(texts.paid)
  if (code) {
    byId('qr').setAttribute('viewBox', `0 0 ${code.size} ${code.size}`)
    byId('qr').querySelector('path')?.setAttribute('d', code.path)
  }
  byId('sub-link').textContent = link
  if (/^https?:\/\//.test(link)) byId<HTMLAnchorElement>('paid-open').href = link
  const connect = document.getElementById('paid-telegram') as HTMLAnchorElement | null
  if (connect && connects) {
    connect.href = `${link}/telegram`
    connect.hidden = false
    // The bot would know them as somebody else.
    byId('paid-bot').hidden = true
  }
  byId('paid-link').hidden = false
}

async function watch(key: string): Promise<void> {
  for (let tries = 0; tries < TRIES; tries++) {
    const state = await ask(key)
    // A key of another shop, or none at all: the page has said what there is to say.
    if (state === undefined) {
      byId('paid').hidden = true
      return
    }
    if (state?.sub_link !== undefined) {
      return showLink(state.sub_link, state.connect_telegram === true, state.qr)
    }
    if (state?.status === 'failed') return settle(texts.failed)
    if (state?.status === 'paid') break
    await pause(EVERY_MS)
  }
  say(texts.late)
}

// A gateway may write words of its own behind it.
const key = /^#([\w-]+\.[\w-]{22})(?![\w-])/.exec(location.hash)?.[1]
if (key !== undefined) {
  byId('paid').hidden = false
  say(texts.wait)
  void watch(key)
}
