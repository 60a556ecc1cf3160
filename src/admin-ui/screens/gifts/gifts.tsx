/** The gift codes: found and filtered by the service, copied, saved, revoked. */
import { useState } from 'preact/hooks'
import { api, ok, paged } from '#src/admin-ui/api.ts'
import { date, moment, number, relative } from '#src/admin-ui/format.ts'
import { Badge, type Tone } from '#src/admin-ui/kit/badge.tsx'
import { Button, CopyButton, IconButton } from '#src/admin-ui/kit/button.tsx'
import { confirm } from '#src/admin-ui/kit/dialog.tsx'
import { SearchBox, Segments } from '#src/admin-ui/kit/field.tsx'
import { ListView } from '#src/admin-ui/kit/list-view.tsx'
import { PageHeader } from '#src/admin-ui/kit/page.tsx'
import { Empty } from '#src/admin-ui/kit/state.tsx'
import type { Column } from '#src/admin-ui/kit/table.tsx'
import { messageOf, toast } from '#src/admin-ui/kit/toast.tsx'
import { useList, useSelection } from '#src/admin-ui/list.ts'
import { useNodeGroups } from '#src/admin-ui/node-groups.ts'
import { invalidate, useAction } from '#src/admin-ui/query.ts'
import { href } from '#src/admin-ui/router.ts'
import { common } from '#src/admin-ui/texts.ts'
import { PlaceFilters } from '../access/place-filters.tsx'
import { CreateDialog } from './create.tsx'
import { saveFound } from './csv.ts'
import { type Gift, type GiftQuery, giftTexts } from './texts.ts'
import './gifts.css'

const FILTERS = ['all', 'unused', 'used', 'expired', 'revoked'] as const
type State = Exclude<(typeof FILTERS)[number], 'all'>

const DEFAULTS = { q: '', status: '', node: '', plan: '' }
const TONES: Record<State, Tone> = { unused: 'ok', used: 'info', expired: 'warn', revoked: 'muted' }

/** Revoked ones are only ever listed alone. */
function stateOf({ used_at, expires_at }: Gift, asked: string): State {
  if (asked === 'revoked') return 'revoked'
  if (used_at !== null) return 'used'
  return expires_at !== null && moment(expires_at).getTime() <= Date.now() ? 'expired' : 'unused'
}

/** Revokes one after the other; the codes that were refused, with the first reason. */
async function revokeAll(codes: string[]): Promise<{ failed: string[]; reason: string }> {
  const failed: string[] = []
  let reason = ''
  for (const code of codes) {
    try {
      await ok(api['gift-codes'][':code'].$delete({ param: { code } }))
    } catch (error) {
      failed.push(code)
      reason ||= messageOf(error)
    }
  }
  invalidate('gifts', 'stats')
  return { failed, reason }
}

/** Node or group, and plan. */
function useGives(gift: Gift): string {
  return `${useNodeGroups().placeOf(gift)}, ${gift.plan_label}`
}

const Gives = ({ gift }: { gift: Gift }) => <>{useGives(gift)}</>

function Revoke({ gift }: { gift: Gift }) {
  const t = giftTexts()
  const gives = useGives(gift)
  const revoke = useAction(async () => {
    const text = t.revokeText(gives)
    const asked = { title: t.revokeTitle(gift.code), text, action: t.revoke, danger: true }
    if (!(await confirm(asked))) return
    await ok(api['gift-codes'][':code'].$delete({ param: { code: gift.code } }))
    toast(t.revoked(1))
    invalidate('gifts', 'stats')
  })
  return (
    <IconButton
      icon="ban"
      label={t.revokeOne(gift.code)}
      disabled={revoke.busy}
      onClick={revoke.run}
    />
  )
}

function UsedBy({ gift }: { gift: Gift }) {
  const { used_by, used_at } = gift
  if (used_at === null) return null
  return (
    <span>
      {used_by !== null && (
        <a class="link num" href={href('/gifts', { user: used_by })}>
          {used_by}
        </a>
      )}{' '}
      <small class="muted">{giftTexts().usedAt(relative(used_at))}</small>
    </span>
  )
}

function columnsOf(asked: string): Column<Gift>[] {
  const t = giftTexts()
  return [
    {
      key: 'code',
      title: t.code,
      phone: 'lead',
      cell: ({ code, link }) => (
        <span class="gift-code">
          <span class="mono">{code}</span>
          <CopyButton
            iconOnly
            text={link ?? code}
            label={link === null ? t.copyCode(code) : t.copyLink(code)}
          />
        </span>
      ),
    },
    {
      key: 'status',
      title: common().status,
      phone: 'state',
      cell: (gift) => {
        const state = stateOf(gift, asked)
        return <Badge tone={TONES[state]}>{t.states[state]}</Badge>
      },
    },
    { key: 'gives', title: t.gives, cell: (gift) => <Gives gift={gift} /> },
    { key: 'used', title: t.usedBy, cell: (gift) => <UsedBy gift={gift} /> },
    {
      key: 'expires',
      title: t.expires,
      end: true,
      cell: ({ expires_at }) => (expires_at === null ? t.noEnd : date(expires_at)),
    },
    {
      key: 'created',
      title: common().created,
      end: true,
      phone: 'off',
      cell: (gift) => date(gift.created_at),
    },
    {
      key: 'actions',
      title: '',
      phone: 'state',
      cell: (gift) => stateOf(gift, asked) === 'unused' && <Revoke gift={gift} />,
    },
  ]
}

function useGifts() {
  return useList({
    key: 'gifts',
    defaults: DEFAULTS,
    load: (query) => paged(api['gift-codes'].$get({ query: query as GiftQuery })),
  })
}

function Tools({ list }: { list: ReturnType<typeof useGifts> }) {
  const t = giftTexts()
  const { filters, change } = list
  return (
    <>
      <SearchBox
        label={t.search}
        value={filters.q}
        onValue={(q) => change({ q }, { replace: true })}
      />
      <Segments
        label={t.filterState}
        value={(filters.status || 'all') as (typeof FILTERS)[number]}
        options={FILTERS.map((value) => ({ value, label: t.filters[value] }))}
        onValue={(status) => change({ status: status === 'all' ? '' : status })}
      />
      <PlaceFilters filters={filters} change={change} />
    </>
  )
}

function useBulkRevoke(selection: ReturnType<typeof useSelection>) {
  const t = giftTexts()
  return useAction(async () => {
    const codes = selection.list()
    const title = t.revokeManyTitle(codes.length)
    const asked = { title, text: t.revokeManyText, action: t.revoke, danger: true }
    if (!(await confirm(asked))) return
    const { failed, reason } = await revokeAll(codes)
    const done = codes.filter((code) => !failed.includes(code))
    selection.setAll(done, false)
    if (done.length > 0) toast(t.revoked(done.length))
    if (failed.length > 0) toast(t.revokeFailed(failed.length, reason), 'bad')
  })
}

/** The filters that are set, for the service. */
const setFilters = (filters: typeof DEFAULTS) =>
  Object.fromEntries(Object.entries(filters).filter(([, value]) => value !== '')) as GiftQuery

export function Gifts() {
  const t = giftTexts()
  const [creating, setCreating] = useState(false)
  const list = useGifts()
  const selection = useSelection(list.filters)
  const revoke = useBulkRevoke(selection)
  const csv = useAction(async () => toast(t.exported(await saveFound(setFilters(list.filters)))))
  const { total } = list
  const create = (
    <Button kind="primary" icon="plus" onClick={() => setCreating(true)}>
      {t.create}
    </Button>
  )
  return (
    <>
      <PageHeader
        title={t.title}
        sub={total === undefined ? ' ' : t.sub(number(total), list.capped)}
      >
        <Button icon="download" busy={csv.busy} onClick={csv.run}>
          {t.csv}
        </Button>
        {create}
      </PageHeader>
      <ListView
        list={list}
        caption={t.title}
        columns={columnsOf(list.filters.status)}
        rowKey={(gift) => gift.code}
        selection={selection}
        bulk={
          <Button small icon="ban" busy={revoke.busy} onClick={revoke.run}>
            {t.revoke}
          </Button>
        }
        tools={<Tools list={list} />}
        empty={
          <Empty title={t.noneYet} hint={t.noneYetHint} icon="gifts">
            {create}
          </Empty>
        }
      />
      {creating && <CreateDialog close={() => setCreating(false)} />}
    </>
  )
}
