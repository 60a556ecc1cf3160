/** The list of a customer as an app gets it: whose, which app, and what it says. */
import { useId, useState } from 'preact/hooks'
import { api, ok, paged } from '#src/admin-ui/api.ts'
import { userName } from '#src/admin-ui/format.ts'
import { Button, CopyButton } from '#src/admin-ui/kit/button.tsx'
import { SearchBox, SelectField, TextField } from '#src/admin-ui/kit/field.tsx'
import { Card, Facts } from '#src/admin-ui/kit/page.tsx'
import { Loaded } from '#src/admin-ui/kit/state.tsx'
import { useQuery } from '#src/admin-ui/query.ts'
import { settingsTexts } from './texts.ts'

export interface Customer {
  tgId: number
  name: string
}

const MOST_FOUND = '6'

function Found({ text, choose }: { text: string; choose: (customer: Customer) => void }) {
  const t = settingsTexts()
  const found = useQuery(`list-customers ${text}`, () =>
    paged(api.users.$get({ query: { q: text, limit: MOST_FOUND } })),
  )
  return (
    <Loaded query={found} lines={1}>
      {({ rows }) =>
        rows.length === 0 ? (
          <p class="muted">{t.nobodyFound}</p>
        ) : (
          <div class="row">
            {rows.map((user) => (
              <Button
                key={user.tg_id}
                small
                icon="user"
                label={`${userName(user)} ${user.tg_id}`}
                onClick={() => choose({ tgId: user.tg_id, name: userName(user) })}
              >
                {userName(user)}
              </Button>
            ))}
          </div>
        )
      }
    </Loaded>
  )
}

/** Whose list is looked at. */
export function CustomerChoice(p: {
  customer: Customer | null
  choose: (customer: Customer | null) => void
}) {
  const t = settingsTexts()
  const [text, setText] = useState('')
  if (p.customer) {
    return (
      <div class="row">
        <b>{p.customer.name}</b>
        <Button small onClick={() => p.choose(null)}>
          {t.otherCustomer}
        </Button>
      </div>
    )
  }
  return (
    <div class="stack">
      <SearchBox label={t.findCustomer} value={text} onValue={setText} />
      {text !== '' && <Found text={text} choose={p.choose} />}
    </div>
  )
}

/** A list as it is sent. */
export function ListText(p: { body: string; headers?: Record<string, string> }) {
  const t = settingsTexts()
  const id = useId()
  const headers = Object.entries(p.headers ?? {})
  return (
    <div class="stack">
      {headers.length > 0 && (
        <details class="list-headers">
          <summary>{t.listHeaders}</summary>
          <Facts list={headers.map(([name, value]) => [name, value] as const)} />
        </details>
      )}
      <div class="row end">
        <CopyButton text={p.body} label={t.copyList} small />
      </div>
      <div class="fld">
        <label for={id}>{t.listBody}</label>
        <textarea id={id} class="mono list-text" readOnly rows={16} value={p.body} />
      </div>
    </div>
  )
}

interface App {
  id: string
  label: string
  query: { agent?: string; format?: 'base64' | 'links' | 'xray' }
}

const agent = (label: string, agent: string): App => ({ id: agent, label, query: { agent } })

const singbox = (version: string) =>
  agent(`sing-box ${version}`, `SFA/${version} (600; sing-box ${version})`)

const OTHER = 'other'

/** Apps by what they call themselves, and formats that a link may ask for. */
const apps = (): App[] => {
  const t = settingsTexts()
  return [
    agent('Happ', 'Happ/3.26.3/Android'),
    agent('INCY', 'INCY/3.4.3/android'),
    agent('v2RayTun', 'v2raytun/android'),
    agent('v2rayNG', 'v2rayNG/2.3.5'),
    agent('Streisand', 'Streisand/1.6.4'),
    agent('Shadowrocket', 'Shadowrocket/2070 CFNetwork'),
    agent('V2Box', 'V2Box/9.9.9'),
    agent('Hiddify', 'HiddifyNext/2.5.7 (android) like ClashMeta v2ray sing-box'),
    agent('Mihomo, Clash Verge', 'clash-verge/v2.4.2'),
    agent('Karing', 'karing/1.2.4'),
    singbox('1.11.15'),
    singbox('1.12.12'),
    singbox('1.13.2'),
    singbox('1.14.1'),
    { id: 'base64', label: t.asBase64, query: { format: 'base64' } },
    { id: 'links', label: t.asLinks, query: { format: 'links' } },
    { id: 'xray', label: t.asXray, query: { format: 'xray' } },
    { id: OTHER, label: t.otherApp, query: {} },
  ]
}

function Shown({ tgId, query }: { tgId: number; query: App['query'] }) {
  const list = useQuery(
    `customer-list ${tgId} ${JSON.stringify(query)}`,
    () => ok(api.users[':tg_id'].list.$get({ param: { tg_id: String(tgId) }, query })),
    { stale: 0 },
  )
  return (
    <Loaded query={list} lines={6}>
      {({ body, headers }) => <ListText body={body} headers={headers} />}
    </Loaded>
  )
}

export function ListPreview() {
  const t = settingsTexts()
  const all = apps()
  const [customer, setCustomer] = useState<Customer | null>(null)
  const [id, setId] = useState((all[0] as App).id)
  const [other, setOther] = useState('')
  const chosen = all.find((app) => app.id === id) as App
  const query = id === OTHER ? { agent: other.trim() } : chosen.query
  return (
    <Card title={t.listPreview} sub={t.listPreviewSub}>
      <div class="stack">
        <CustomerChoice customer={customer} choose={setCustomer} />
        <SelectField
          label={t.app}
          name="app"
          value={id}
          onValue={setId}
          options={all.map((app) => ({ value: app.id, label: app.label }))}
        />
        {id === OTHER && (
          <TextField
            label="User-Agent"
            name="agent"
            mono
            maxLength={512}
            value={other}
            onValue={setOther}
          />
        )}
        {customer && query.agent !== '' && (
          <Shown key={`${customer.tgId} ${id} ${other}`} tgId={customer.tgId} query={query} />
        )}
      </div>
    </Card>
  )
}
