/** The cabinet: reads the token from the fragment, asks the API, shows the answers as text, buys and removes. */
import type { CabinetAnswer } from '#src/http/schemas/cabinet.ts'
import {
  beGuest,
  call,
  forget,
  keep,
  kept,
  own,
  type Refusal,
  readShop,
  tokenOf,
  waitText,
} from './cabinet/account.ts'
import { pay, showChoices, showPlan, showRenewal, showShop } from './cabinet/buying.ts'
import { showDevices } from './cabinet/devices.ts'
import { byId, find, note, show } from './cabinet/parts.ts'
import { showSubscriptions } from './cabinet/subscriptions.ts'
import { texts } from './cabinet/words.ts'

let latest = 0

function render(account: CabinetAnswer): void {
  const owner = byId('owner')
  owner.textContent = account.username ? `@${account.username}` : (owner.dataset.title as string)
  showSubscriptions()
  byId('sub-link').textContent = account.sub_link
  if (/^https?:\/\//.test(account.sub_link)) byId('open-link').href = account.sub_link
  const telegram = find('telegram')
  if (telegram) {
    telegram.hidden = !own.shop.connect_telegram
    byId('connect-telegram').href = `${account.sub_link}/telegram`
  }
  const guest = find('guest-note')
  if (guest) guest.hidden = !own.shop.guest
  note('device-note', '')
  if (find('change-note')) note('change-note', '')
  note('buy-fault', '')
  showShop()
  showDevices()
  show('account')
}

/** A link that is none is said beside its field; anything else leaves the question alone and offers another try. */
function fail(error: unknown): void {
  const refused = error as Refusal
  const { status } = refused
  if (status === 404) {
    forget()
    show('ask')
    note('ask-fault', texts.unknown)
    return
  }
  byId('state-text').textContent = status === 429 ? waitText(refused) : texts.failed
  show('state')
}

const BUY = /^#buy(?:=([\w-]+))?$/

/** Makes a customer of who has come to buy, and puts their link in place of the wish; who has been one in this tab is the same again. */
async function enter(plan: string | undefined): Promise<void> {
  show('loading')
  try {
    const token = kept() ?? (await beGuest())
    keep(token)
    own.wanted = plan
    history.replaceState(null, '', `#${token}`)
  } catch (error) {
    return fail(error)
  }
  await load()
}

async function load(): Promise<void> {
  const wish = BUY.exec(location.hash)
  if (wish && 'guests' in byId('cabinet').dataset) return enter(wish[1])
  own.token = tokenOf(location.hash)
  if (own.token !== kept()) forget()
  const turn = ++latest
  // The language switch and the footer would drop the fragment, and with it the account.
  const links = document.querySelectorAll<HTMLAnchorElement>(
    'a[hreflang], .foot a[href*="/cabinet.html"]',
  )
  for (const link of links) link.hash = location.hash
  if (own.token === '') return show('ask')
  note('ask-fault', '')
  show('loading')
  try {
    const [account, shop] = await Promise.all([call<CabinetAnswer>('GET', ''), readShop()])
    if (turn !== latest) return
    own.shop = shop
    render(account)
  } catch (error) {
    if (turn === latest) fail(error)
  }
}

byId('ask-form').hidden = false
byId('ask-form').addEventListener('submit', (event) => {
  event.preventDefault()
  const hash = `#${tokenOf(byId('ask-link').value)}`
  if (hash === '#') note('ask-fault', texts.unknown)
  else if (location.hash === hash) void load()
  else location.hash = hash
})
byId('buy-form').addEventListener('submit', (event) => {
  event.preventDefault()
  void pay()
})
byId('buy-form').addEventListener('change', ({ target }) => {
  const { name } = target as HTMLInputElement
  if (name === 'plans') showPlan()
  else if (name === 'renews') showRenewal()
  else showChoices()
})
byId('again').addEventListener('click', () => void load())
addEventListener('hashchange', () => {
  own.wanted = undefined
  void load()
})
// Back from the payment page: what it has changed, and a button that works again.
window.addEventListener('pageshow', ({ persisted }) => {
  if (persisted) void load()
})
// Back by a link that names nobody. The fragment stays out of what is sent.
const before = kept()
if (location.hash === '' && before) history.replaceState(null, '', `#${before}`)
void load()
