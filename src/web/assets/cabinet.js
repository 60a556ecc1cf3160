/** The cabinet: reads the token from the fragment, asks the API, shows the answers as text, buys and removes. */
const root = document.getElementById('cabinet')
const texts = JSON.parse(root.dataset.texts)
const byId = (id) => document.getElementById(id)
const { lang } = document.documentElement
const dayFormat = new Intl.DateTimeFormat(root.dataset.locale, {
  day: 'numeric',
  month: 'long',
  year: 'numeric',
  timeZone: root.dataset.timezone,
})
const DAY_MS = 86_400_000
let token = ''
let shop = null
let latest = 0

const fill = (text, values) => text.replace(/\{(\w+)\}/g, (_, key) => String(values[key]))
const timeOf = (timestamp) => Date.parse(`${timestamp}Z`)
const day = (timestamp) => dayFormat.format(timeOf(timestamp))

/** The token of a subscription link or a cabinet link, whatever stands around them, or of what ends in one. */
const tokenOf = (text) =>
  (/\/sub\/([\w-]{16,})/.exec(text) ??
    /#([\w-]{16,})/.exec(text) ??
    /([\w-]{16,})[^\w-]*$/.exec(text))?.[1] ?? ''

/** The account of who is away to pay: kept for this tab alone, until it is another. */
const KEPT = 'account'

/** What `use` gives for the storage of this tab; null where the browser has none for us. */
function stored(use) {
  try {
    return use(sessionStorage)
  } catch {
    return null
  }
}

const forget = () => stored((storage) => storage.removeItem(KEPT))

/** An answer of the service that is no success. */
class Refusal extends Error {
  constructor(response, message) {
    super(message)
    this.status = response.status
    this.minutes = Math.max(1, Math.ceil(Number(response.headers.get('retry-after') ?? 60) / 60))
  }
}

async function call(method, path, body) {
  const response = await fetch(`/api/cabinet/${encodeURIComponent(token)}${path}`, {
    method,
    headers: { Accept: 'application/json', 'Content-Type': 'application/json' },
    cache: 'no-store',
    ...(body ? { body: JSON.stringify(body) } : {}),
  })
  const answer = await response.json().catch(() => ({}))
  if (!response.ok) throw new Refusal(response, answer.error ?? String(response.status))
  return answer
}

/** The part of the page that counts now: the question, the account, a fault, or that it is loading. */
function show(part) {
  for (const id of ['ask', 'account', 'state', 'loading']) byId(id).hidden = id !== part
}

function note(id, message, { good = false, detail = '' } = {}) {
  const place = byId(id)
  const words = document.createElement('span')
  words.textContent = message
  if (detail) {
    const small = document.createElement('small')
    small.lang = 'en'
    small.textContent = detail
    words.append(small)
  }
  place.className = good ? 'note ok' : 'note bad'
  place.replaceChildren(words)
  place.hidden = message === ''
}

/** Why something did not work: in the page's words, those of the service in small print. */
function noteFault(id, error, { wait, refused }) {
  if (error.status === 429) note(id, wait)
  else if (error instanceof Refusal) note(id, refused, { detail: error.message })
  else note(id, texts.failed)
}

/** A copy of a template's element, with texts in its named places. */
function made(template, values) {
  const element = byId(template).content.firstElementChild.cloneNode(true)
  for (const [name, value] of Object.entries(values)) {
    element.querySelector(`[data-${name}]`).textContent = value
  }
  return element
}

const RANKS = { active: 0, held: 1, expired: 2 }

/** The soonest to end first, the paused ones after the active, then the ended, the latest of them first. */
function byUrgency(a, b) {
  const sooner = timeOf(a.expires_at) - timeOf(b.expires_at)
  return RANKS[a.state] - RANKS[b.state] || (a.state === 'expired' ? -sooner : sooner)
}

async function readShop() {
  const found = await call('GET', '/shop')
  found.subscriptions.sort(byUrgency)
  return found
}

/** How a subscription stands: in words, and in what colour. */
function standing({ state, expires_at }) {
  if (state === 'held') return [texts.held, 'pill warn']
  if (state === 'expired') return [texts.expired, 'pill']
  const days = Math.ceil((timeOf(expires_at) - Date.now()) / DAY_MS)
  const words = days <= 1 ? texts.lastDay : fill(texts.days, { days })
  return [words, days <= 3 ? 'pill warn' : 'pill ok']
}

/** Flags of Unicode, for which Windows has no pictures: two letters that name a country. */
const FLAG = /^\s*([\u{1f1e6}-\u{1f1ff}])([\u{1f1e6}-\u{1f1ff}])\s*/u
const letters = (flag) =>
  flag
    .slice(1, 3)
    .map((letter) => String.fromCharCode(letter.codePointAt(0) - 0x1f1a5))
    .join('')

/** A node's label without its flag. */
function plain(label) {
  const flag = FLAG.exec(label)
  return flag ? label.slice(flag[0].length) || letters(flag) : label
}

/** The flag before a node's label as the page draws it, else its letters; nothing where there is none. */
function signOf(label) {
  const flag = FLAG.exec(label)
  if (!flag || plain(label) === letters(flag)) return []
  const drawn = byId('flags').content.querySelector(`[data-country=${letters(flag)}] > svg`)
  if (drawn) return [drawn.cloneNode(true), ' ']
  const sign = document.createElement('span')
  sign.className = 'flag'
  sign.ariaHidden = 'true'
  sign.textContent = letters(flag)
  return [sign, ' ']
}

function subscriptionRow(subscription) {
  const { node_label, plan_label, expires_at, state, uuid } = subscription
  const name = plain(node_label)
  const [words, colour] = standing(subscription)
  const when = fill(state === 'expired' ? texts.ended : texts.until, { date: day(expires_at) })
  const row = made('subscription-row', { name, detail: `${plan_label}, ${when}`, state: words })
  row.querySelector('[data-state]').className = colour
  row.querySelector('[data-name]').prepend(...signOf(node_label))
  const button = row.querySelector('[data-renew]')
  button.hidden = !shop.payments_enabled || shop.providers.length === 0
  button.setAttribute('aria-label', fill(texts.renewLabel, { name }))
  button.addEventListener('click', () => {
    byId('renews').value = uuid
    showRenewal()
    byId('buy').scrollIntoView()
    byId('buy-title').focus({ preventScroll: true })
  })
  return row
}

function option(value, label) {
  return new Option(label, value)
}

/** Radio buttons of one name; the chosen one stays chosen while it is there. */
function fillChoices(id, entries) {
  const chosen = new FormData(byId('buy-form')).get(id)
  const rows = entries.map(({ value, name, price = '' }) => {
    const row = made('choice', { name, price })
    const input = row.querySelector('input')
    input.name = id
    input.value = value
    return row
  })
  byId(id).replaceChildren(...rows)
  const inputs = [...byId(id).querySelectorAll('input')]
  const again = inputs.find(({ value }) => value === chosen) ?? inputs[0]
  if (again) again.checked = true
}

function priceText(price, currency) {
  if (!/^[A-Za-z]{3}$/.test(currency)) return `${price} ${currency}`
  return new Intl.NumberFormat(lang, {
    style: 'currency',
    currency,
    currencyDisplay: 'narrowSymbol',
    maximumFractionDigits: 0,
  }).format(price)
}

/** What a plan costs at a way to pay; empty where it is not sold there. */
function priceAt(plan, provider) {
  if (provider === 'stars') {
    return plan.price_stars ? fill(texts.stars, { count: plan.price_stars }) : ''
  }
  return plan.price > 0 ? priceText(plan.price, plan.currency) : ''
}

/** Brings the form in line with what is chosen in it. */
function showChoices() {
  const form = byId('buy-form')
  const provider = new FormData(form).get('providers')
  const entries = shop.plans.flatMap((plan) => {
    const price = priceAt(plan, provider)
    return price === '' ? [] : [{ value: plan.code, name: plan.label, price }]
  })
  fillChoices('plans', entries)
  byId('node-part').hidden = byId('renews').value !== '' || shop.nodes.length < 2
  showPrice()
}

/** The same for another subscription, beginning with the plan that it has. */
function showRenewal() {
  showChoices()
  const renewed = shop.subscriptions.find(({ uuid }) => uuid === byId('renews').value)
  const plan = shop.plans.find(({ label }) => label === renewed?.plan_label)
  const input = [...byId('plans').querySelectorAll('input')].find(
    ({ value }) => value === plan?.code,
  )
  if (input) input.checked = true
  byId('renews-held').hidden = renewed?.state !== 'held'
  showPrice()
}

function showPrice() {
  const chosen = new FormData(byId('buy-form'))
  const plan = shop.plans.find(({ code }) => code === chosen.get('plans'))
  const price = plan ? priceAt(plan, chosen.get('providers')) : ''
  byId('pay').querySelector('span').textContent = price
    ? fill(texts.payPrice, { price })
    : texts.pay
  byId('pay').disabled = price === ''
}

function showShop() {
  const open = shop.payments_enabled && shop.providers.length > 0 && shop.plans.length > 0
  byId('buy-form').hidden = !open
  byId('closed').hidden = open
  byId('no-subscriptions').textContent = open ? texts.none : texts.noneClosed
  if (!open) return
  const nodes = shop.nodes.map(({ code, label }) => option(code, plain(label)))
  const renewable = shop.subscriptions.map(({ uuid, node_label, plan_label }) =>
    option(uuid, fill(texts.renew, { name: `${plain(node_label)}, ${plan_label}` })),
  )
  const kept = byId('renews').value
  byId('renews').replaceChildren(
    ...renewable,
    ...(nodes.length > 0 ? [option('', texts.fresh)] : []),
  )
  // What is paused waits for support, not for money.
  const due = shop.subscriptions.find(({ state }) => state !== 'held') ?? shop.subscriptions[0]
  const known = shop.subscriptions.find(({ uuid }) => uuid === kept) ?? due
  if (known) byId('renews').value = known.uuid
  byId('renews-part').hidden = renewable.length === 0
  byId('node').replaceChildren(...nodes)
  fillChoices(
    'providers',
    shop.providers.map(({ id, label }) => ({ value: id, name: label })),
  )
  byId('providers-part').hidden = shop.providers.length < 2
  showRenewal()
}

function deviceRow(device) {
  const { id, device_model, device_os, last_seen_at } = device
  const name = device_model || device_os || texts.unknownDevice
  const seen = last_seen_at ? fill(texts.seen, { date: day(last_seen_at) }) : ''
  const detail = [device_model ? device_os : '', seen].filter(Boolean).join(', ')
  const row = made('device-row', { name, detail })
  const button = row.querySelector('[data-remove]')
  button.setAttribute('aria-label', fill(texts.removeLabel, { name }))
  button.addEventListener('click', () => askToRemove(id, name))
  return row
}

function showDevices() {
  const { limit, list } = shop.devices
  byId('devices').hidden = limit === null && list.length === 0
  byId('devices-used').hidden = limit === null
  byId('devices-used').textContent = fill(texts.used, { count: list.length, limit })
  byId('device-list').replaceChildren(...list.map(deviceRow))
  byId('no-devices').hidden = list.length > 0
}

function askToRemove(id, name) {
  const dialog = byId('remove')
  byId('remove-title').textContent = fill(texts.removeAsk, { name })
  dialog.returnValue = ''
  dialog.showModal()
  dialog.onclose = () => {
    if (dialog.returnValue === 'remove') void removeDevice(id, name)
  }
}

async function removeDevice(id, name) {
  try {
    await call('DELETE', `/devices/${id}`)
    const at = shop.devices.list.findIndex((device) => device.id === id)
    shop = await readShop()
    const focused = byId('device-list').contains(document.activeElement)
    showDevices()
    note('device-note', fill(texts.removed, { name }), { good: true })
    // Even when it was the last one, and nobody counts them.
    byId('devices').hidden = false
    const next = byId('device-list').querySelectorAll('[data-remove]')[at]
    if (focused) (next ?? byId('devices-title')).focus()
  } catch (error) {
    noteFault('device-note', error, { wait: texts.tooMany, refused: texts.removeFailed })
  }
}

async function pay() {
  const chosen = new FormData(byId('buy-form'))
  const renews = chosen.get('renews')
  const order = { plan: chosen.get('plans'), provider: chosen.get('providers') }
  const button = byId('pay')
  button.disabled = true
  note('buy-fault', '')
  button.querySelector('span').textContent = texts.paying
  try {
    const target = renews ? { renews } : { node: chosen.get('node') }
    const { pay_url } = await call('POST', '/payments', { ...order, ...target })
    if (!/^https?:\/\//.test(pay_url)) throw new Error('no address')
    stored((storage) => storage.setItem(KEPT, token))
    location.assign(pay_url)
  } catch (error) {
    const wait = fill(texts.tryLater, { minutes: error.minutes })
    const refused = texts.refusals[error.message] ?? texts.refused
    noteFault('buy-fault', error, { wait, refused })
    showPrice()
  }
}

function render(account) {
  const owner = byId('owner')
  owner.textContent = account.username ? `@${account.username}` : owner.dataset.title
  const rows = shop.subscriptions.map(subscriptionRow)
  byId('subscriptions').replaceChildren(...rows)
  byId('no-subscriptions').hidden = rows.length > 0
  byId('connect').hidden = !shop.subscriptions.some(({ state }) => state === 'active')
  byId('sub-link').textContent = account.sub_link
  if (/^https?:\/\//.test(account.sub_link)) byId('open-link').href = account.sub_link
  const telegram = byId('telegram')
  if (telegram) {
    telegram.hidden = !shop.connect_telegram
    byId('connect-telegram').href = `${account.sub_link}/telegram`
  }
  note('device-note', '')
  note('buy-fault', '')
  showShop()
  showDevices()
  show('account')
}

/** A link that is none is said beside its field; anything else leaves the question alone and offers another try. */
function fail(error) {
  if (error instanceof Refusal && error.status === 404) {
    forget()
    show('ask')
    note('ask-fault', texts.unknown)
    return
  }
  byId('state-text').textContent =
    error.status === 429 ? fill(texts.tryLater, { minutes: error.minutes }) : texts.failed
  show('state')
}

async function load() {
  token = tokenOf(location.hash)
  if (token !== stored((storage) => storage.getItem(KEPT))) forget()
  const turn = ++latest
  // The language switch and the footer would drop the fragment, and with it the account.
  const links = document.querySelectorAll('a[hreflang], .foot a[href*="/cabinet.html"]')
  for (const link of links) link.hash = location.hash
  if (token === '') return show('ask')
  note('ask-fault', '')
  show('loading')
  try {
    const [account, offered] = await Promise.all([call('GET', ''), readShop()])
    if (turn !== latest) return
    shop = offered
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
  if (target.name === 'plans') showPrice()
  else if (target.name === 'renews') showRenewal()
  else showChoices()
})
byId('again').addEventListener('click', () => void load())
addEventListener('hashchange', () => void load())
// Back from the payment page: what it has changed, and a button that works again.
addEventListener('pageshow', ({ persisted }) => {
  if (persisted) void load()
})
// Back by a link that names nobody. The fragment stays out of what is sent.
const kept = stored((storage) => storage.getItem(KEPT))
if (location.hash === '' && kept) history.replaceState(null, '', `#${kept}`)
void load()
