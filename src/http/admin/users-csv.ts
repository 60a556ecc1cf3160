/** The listing of users as a table (CSV). */

import type { PageRequest } from '#db/paging.ts'
import type { UserFilter, UserSort } from '#db/user-listing.ts'
import { hasProfiles } from '#db/users.ts'
import { noteFault } from '#src/lib/note-fault.ts'
import { formatTimestamp } from '#src/lib/time.ts'
import type { Http } from '../context.ts'
import { csvResponse } from '../csv.ts'
import { customerView, listedUserView } from '../views.ts'

/** How many users are read between two turns of other requests. */
const CSV_BATCH = 500

const CSV_COLUMNS = [
  'tg_id',
  'username',
  'created_at',
  'note',
  'banned_at',
  'blocked_at',
  'active',
  'held',
  'next_expiry',
  'devices',
] as const

/** Those of customers who did not come by Telegram: in the table only where there are such. */
const CUSTOMER_COLUMNS = ['telegram_id', 'name', 'email', 'tags'] as const

/** All users that match, from the page's cursor on. */
export async function usersAsCsv(
  s: Http,
  filter: UserFilter,
  sort: UserSort,
  page: PageRequest,
): Promise<Response> {
  const now = formatTimestamp(s.clock.now())
  const columns = [...CSV_COLUMNS, ...((await s.db.read(hasProfiles)) ? CUSTOMER_COLUMNS : [])]
  async function* batches() {
    let cursor = page.cursor
    for (;;) {
      const { rows, next } = await s.reads.ask(
        'usersAlone',
        filter,
        sort,
        { ...page, limit: CSV_BATCH, cursor },
        now,
      )
      yield rows.map((user) => {
        const { tags, ...view } = { ...customerView(user), ...listedUserView(user) }
        const row = { ...view, tags: tags.join(' ') }
        return columns.map((column) => row[column])
      })
      if (next === null) return
      cursor = next
    }
  }
  return csvResponse(`users-${now.slice(0, 10)}.csv`, columns, batches(), (error) =>
    noteFault(s, 'error', 'a download broke off', error, { what: 'users' }),
  )
}
