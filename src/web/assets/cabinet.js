/** The cabinet: reads the token from the fragment, asks the API, shows the answer as text. */
const root = document.getElementById('cabinet')
const texts = JSON.parse(root.dataset.texts)
const byId = (id) => document.getElementById(id)
// German dates are dd.mm.yyyy, as all dates of the service.
const dayFormat = new Intl.DateTimeFormat('de-DE', {
  day: '2-digit',
  month: '2-digit',
  year: 'numeric',
  timeZone: root.dataset.timezone,
})
let latest = 0

const fill = (text, values) => text.replace(/\{(\w+)\}/g, (_, key) => String(values[key]))

function show(part, message = '') {
  byId('ask').hidden = part !== 'ask'
  byId('account').hidden = part !== 'account'
  const state = byId('state')
  state.hidden = message === ''
  state.className = part === 'ask' ? 'note' : 'muted center'
  state.textContent = message
}

/** The token of a pasted link, of a cabinet link or alone. */
const tokenOf = (text) => /([A-Za-z0-9_-]{16,})[/?]*$/.exec(text.trim())?.[1] ?? ''

function subscriptionRow(subscription) {
  const row = document.createElement('li')
  const what = document.createElement('span')
  const node = document.createElement('strong')
  node.textContent = subscription.node
  const date = dayFormat.format(new Date(`${subscription.expires_at}Z`))
  const until = fill(texts.until, { date })
  what.append(node, ` ${subscription.plan_label}, ${until}`)
  const left = document.createElement('span')
  left.className = subscription.days_left <= 3 ? 'pill warn' : 'pill ok'
  left.textContent = fill(texts.days, { days: subscription.days_left })
  row.append(what, left)
  return row
}

function render(account) {
  const owner = byId('owner')
  owner.textContent = account.username ? `@${account.username}` : owner.dataset.title
  const rows = account.subscriptions.map(subscriptionRow)
  if (rows.length === 0) {
    const none = document.createElement('li')
    none.textContent = texts.none
    rows.push(none)
  }
  byId('subscriptions').replaceChildren(...rows)
  byId('sub-link').textContent = account.sub_link
  if (/^https?:\/\//.test(account.sub_link)) byId('open-link').href = account.sub_link
  byId('servers').hidden = account.nodes_available.length === 0
  byId('server-list').textContent = account.nodes_available.join(', ')
  show('account')
}

async function load() {
  const token = tokenOf(location.hash.slice(1))
  const turn = ++latest
  // The language switch would drop the fragment, and with it the account.
  for (const link of document.querySelectorAll('a[hreflang]')) link.hash = location.hash
  if (token === '') return show('ask')
  show('', texts.loading)
  try {
    const response = await fetch(`/api/cabinet/${encodeURIComponent(token)}`, {
      headers: { Accept: 'application/json' },
      cache: 'no-store',
    })
    const account = response.ok ? await response.json() : null
    if (turn !== latest) return
    if (account) render(account)
    else show('ask', response.status === 404 ? texts.unknown : texts.failed)
  } catch {
    if (turn === latest) show('ask', texts.failed)
  }
}

async function copyLink() {
  const box = byId('sub-link')
  getSelection().selectAllChildren(box)
  // Without a secure context there is no clipboard: the link stays selected for the user's own copy.
  if (!navigator.clipboard) return
  await navigator.clipboard.writeText(box.textContent)
  byId('copy').textContent = texts.copied
  setTimeout(() => {
    byId('copy').textContent = texts.copy
  }, 2000)
}

byId('ask-form').hidden = false
byId('ask-form').addEventListener('submit', (event) => {
  event.preventDefault()
  const link = new FormData(event.target).get('link')
  const hash = `#${tokenOf(link)}`
  if (hash === '#') show('ask', texts.unknown)
  else if (location.hash === hash) void load()
  else location.hash = hash
})
byId('copy').addEventListener('click', () => copyLink().catch(() => {}))
addEventListener('hashchange', () => void load())
void load()
