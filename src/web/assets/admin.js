/** The plain panel. Everything is shown as text: no string ever becomes markup (Trusted Types forbid it here). */
const panel = document.getElementById('panel')
const texts = JSON.parse(panel.dataset.texts)
const byId = (id) => document.getElementById(id)
// German dates are dd.mm.yyyy, as all dates of the service.
const dayFormat = new Intl.DateTimeFormat('de-DE', {
  day: '2-digit',
  month: '2-digit',
  year: 'numeric',
  timeZone: panel.dataset.timezone,
})
let pendingToken = ''
let shownUser = ''

const fill = (text, values) => text.replace(/\{(\w+)\}/g, (_, key) => String(values[key]))

/** An answer of the API that is no success; its message is the service's own. */
class Refusal extends Error {}

async function call(method, path, body) {
  const response = await fetch(`/admin/api/${path}`, {
    method,
    cache: 'no-store',
    headers: { Accept: 'application/json', 'Content-Type': 'application/json' },
    body: body && JSON.stringify(body),
  })
  const answer = await response.json().catch(() => ({}))
  if (response.ok) return answer
  const message = answer.error || `${texts.failed} (${response.status})`
  if (response.status === 401 && message === 'unauthorized') showLogin()
  throw new Refusal(message)
}

function say(message, good = false) {
  byId('message').hidden = message === ''
  byId('message').className = good ? 'note ok' : 'note'
  byId('message').textContent = message
}

/** Runs an action of the user; its controls are off meanwhile, so that nothing is sent twice. */
async function run(controls, action) {
  for (const control of controls) control.disabled = true
  say('')
  try {
    await action()
  } catch (error) {
    say(error instanceof Refusal ? error.message : texts.failed)
  } finally {
    for (const control of controls) control.disabled = false
  }
}

function onClick(button, action) {
  button.addEventListener('click', () => run([button], action))
}

function onSubmit(id, action) {
  byId(id).addEventListener('submit', (event) => {
    event.preventDefault()
    const values = Object.fromEntries(new FormData(event.target))
    void run(event.target.querySelectorAll('button'), () => action(values, event.target))
  })
}

function element(name, className, ...children) {
  const node = Object.assign(document.createElement(name), { className })
  node.append(...children)
  return node
}

function button(label, className, action) {
  const node = element('button', `btn ${className}`, label)
  node.type = 'button'
  onClick(node, action)
  return node
}

function showLogin() {
  byId('content').hidden = true
  byId('user').replaceChildren()
  shownUser = ''
  askPassword()
  byId('login').hidden = false
}

function askPassword() {
  pendingToken = ''
  byId('password-form').hidden = false
  byId('code-form').hidden = true
}

onSubmit('password-form', async (values, form) => {
  const answer = await call('POST', 'login', values)
  form.reset()
  if (!answer.needs_totp) return start()
  pendingToken = answer.pending_token
  byId('password-form').hidden = true
  byId('code-form').hidden = false
  byId('code-form').elements.code.focus()
})

onSubmit('code-form', async ({ code }, form) => {
  form.reset()
  try {
    await call('POST', 'login/totp', { pending_token: pendingToken, code })
  } catch (error) {
    if (error.message.startsWith('login session expired')) askPassword()
    throw error
  }
  await start()
})

onClick(byId('code-back'), askPassword)
onClick(byId('logout'), async () => {
  await call('POST', 'logout')
  showLogin()
})

async function start() {
  const me = await call('GET', 'me')
  if (!me.authenticated) return showLogin()
  byId('admin-name').textContent = me.username
  byId('login').hidden = true
  askPassword()
  byId('content').hidden = false
  await Promise.all([loadNodes(), loadPlans()])
}

function fillSelect(select, entries) {
  const chosen = select.value
  select.replaceChildren(...entries.map(({ code, label }) => new Option(label, code)))
  if (entries.some(({ code }) => code === chosen)) select.value = chosen
}

async function loadPlans() {
  const plans = await call('GET', 'plans')
  const onSale = plans.filter((plan) => !plan.archived)
  fillSelect(byId('grant-form').elements.plan, onSale)
}

async function loadNodes() {
  const nodes = await call('GET', 'nodes')
  fillSelect(byId('grant-form').elements.node, nodes)
  byId('nodes').replaceChildren(...(nodes.length > 0 ? nodes.map(nodeRow) : [texts.noNodes]))
  byId('sync-force').hidden = !nodes.some((node) => node.sync_blocked)
}

function nodeRow(node) {
  const pills = [element('span', `pill ${node.status === 'active' ? 'ok' : 'warn'}`, node.status)]
  if (!node.enabled) pills.push(element('span', 'pill', texts.disabled))
  if (node.sync_blocked) pills.push(element('span', 'pill bad', texts.blocked))
  const detail = [node.code, node.kind, `${node.address}:${node.port}`, node.last_error]
  return element(
    'li',
    '',
    element('strong', '', node.label),
    element('span', 'row', ...pills),
    element('p', 'muted', detail.filter(Boolean).join(' · ')),
  )
}

async function sync(body) {
  const { nodes } = await call('POST', 'sync', body)
  const sum = (key) => nodes.reduce((total, node) => total + (node[key] || 0), 0)
  const failed = nodes.filter((node) => !node.ok)
  const done = fill(texts.synced, { added: sum('added'), removed: sum('removed') })
  const errors = failed.map((node) => (node.error ? `${node.code} (${node.error})` : node.code))
  await loadNodes()
  if (failed.length === 0) say(done, true)
  else say(`${done} ${fill(texts.syncFailed, { nodes: errors.join(', ') })}`)
}

onClick(byId('refresh'), loadNodes)
onClick(byId('sync'), () => sync({}))
onClick(byId('sync-force'), async () => {
  if (confirm(texts.forceQuestion)) await sync({ force: true })
})

onSubmit('grant-form', async ({ tg_id, node, plan }) => {
  await call('POST', `users/${encodeURIComponent(tg_id)}/grant`, { node, plan })
  byId('user-form').elements.tg_id.value = tg_id
  await loadUser(tg_id)
  say(texts.granted, true)
})

onSubmit('user-form', ({ tg_id }) => loadUser(tg_id))

async function loadUser(tgId) {
  byId('user').hidden = true
  const user = await call('GET', `users/${encodeURIComponent(tgId)}`)
  shownUser = tgId
  byId('grant-form').elements.tg_id.value = tgId
  const subscriptions = user.subscriptions.map(subscriptionRow)
  const title = user.username ? `@${user.username}` : `tg${user.tg_id}`
  byId('user').replaceChildren(
    element('h3', '', title),
    element('p', 'muted', fill(texts.devices, { count: user.devices.length })),
    ...linkBox(panel.dataset.subUrlBase + encodeURIComponent(user.token)),
    subscriptions.length > 0
      ? element('ul', 'rows', ...subscriptions)
      : element('p', 'muted', texts.noSubscriptions),
  )
  byId('user').hidden = false
}

function linkBox(url) {
  const box = element('code', 'link', url)
  Object.assign(box, { tabIndex: 0, role: 'group', ariaLabel: texts.subLink })
  const copy = button(texts.copy, '', async () => {
    getSelection().selectAllChildren(box)
    await navigator.clipboard?.writeText(url)
    say(texts.copied, true)
  })
  return [box, copy]
}

function stateOf(subscription) {
  if (!subscription.active) return 'revoked'
  if (subscription.held_at) return 'held'
  return Date.parse(`${subscription.expires_at}Z`) > Date.now() ? 'active' : 'expired'
}

const PILLS = { active: 'pill ok', held: 'pill warn', expired: 'pill', revoked: 'pill bad' }

function subscriptionRow(subscription) {
  const state = stateOf(subscription)
  const date = dayFormat.format(new Date(`${subscription.expires_at}Z`))
  const until = { date, days: subscription.days_left }
  const act = (action, className, question) =>
    button(texts[action], className, async () => {
      if (question && !confirm(question)) return
      await call('POST', `subscriptions/${encodeURIComponent(subscription.uuid)}/${action}`)
      if (shownUser) await loadUser(shownUser)
    })
  const actions = []
  if (state === 'active') actions.push(act('hold', ''))
  if (state === 'held') actions.push(act('resume', ''))
  if (state !== 'revoked') actions.push(act('revoke', 'bad', texts.revokeQuestion))
  const name = `${subscription.node_label}, ${subscription.plan_label}`
  return element(
    'li',
    '',
    element('strong', '', name),
    element('span', PILLS[state], texts[state]),
    element('p', 'muted', fill(texts.until, until)),
    element('span', 'row', ...actions),
  )
}

void run([], start)
