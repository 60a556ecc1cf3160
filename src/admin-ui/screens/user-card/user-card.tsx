/** The card of one user, beside any screen: who it is, link, subscriptions, devices, note, ban, deletion. */
import { api, ok, paged } from '#src/admin-ui/api.ts'
import { date, userName } from '#src/admin-ui/format.ts'
import { Drawer } from '#src/admin-ui/kit/dialog.tsx'
import { Note } from '#src/admin-ui/kit/page.tsx'
import { Loaded } from '#src/admin-ui/kit/state.tsx'
import { useQuery } from '#src/admin-ui/query.ts'
import { UserBadge } from '../access/state.tsx'
import { Danger } from './danger.tsx'
import { Devices } from './devices.tsx'
import { Link } from './link.tsx'
import { NoteForm } from './note.tsx'
import { Profile } from './profile.tsx'
import { Subscriptions } from './subscriptions.tsx'
import { cardTexts } from './texts.ts'
import './user-card.css'

/** The user's row of the listing has what the card of the API lacks: note, ban. An id comes before all longer ones that begin with it. */
async function rowOf(id: string) {
  const { rows } = await paged(
    api.users.$get({ query: { q: id, sort: 'tg_id', order: 'asc', limit: '50' } }),
  )
  return rows.find((user) => String(user.tg_id) === id) ?? null
}

export function UserCard({ id, close }: { id: string; close: () => void }) {
  const t = cardTexts()
  const card = useQuery(`user card ${id}`, () =>
    ok(api.users[':tg_id'].$get({ param: { tg_id: encodeURIComponent(id) } })),
  )
  // A customer without Telegram at first may be asked for by the Telegram id that came later.
  const own = String(card.data?.tg_id ?? id)
  const row = useQuery(`user row ${own}`, () => rowOf(own))
  const title = card.data ? userName(card.data) : t.loading(id)
  return (
    <Drawer title={title} onClose={close} wide>
      <Loaded query={card} lines={6} tall>
        {(user) => (
          <div class="user-card">
            <div class="row">
              {row.data && <UserBadge user={row.data} />}
              <span class="muted num">
                {user.tg_id} · {t.created(date(user.created_at))}
              </span>
            </div>
            {row.data?.banned_at && (
              <Note tone="bad">{t.bannedSince(date(row.data.banned_at))}</Note>
            )}
            {row.data?.blocked_at && <Note tone="warn">{t.blockedBot}</Note>}
            <Link user={user} />
            <Profile user={user} />
            <Subscriptions user={user} />
            <Devices user={user} />
            {row.data && <NoteForm key={row.data.note} row={row.data} />}
            {row.data && <Danger row={row.data} close={close} />}
          </div>
        )}
      </Loaded>
    </Drawer>
  )
}
