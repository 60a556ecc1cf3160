/** Gift codes as a table to save. */
import { api, paged } from '#src/admin-ui/api.ts'
import { saveText } from '#src/admin-ui/kit/download.ts'
import type { Gift, GiftQuery } from './texts.ts'

/** As many as the service gives at once. */
const BATCH = '1000'

const COLUMNS = [
  'code',
  'link',
  'node',
  'plan',
  'created_at',
  'expires_at',
  'used_at',
  'used_by',
] as const

type Line = Pick<Gift, 'code' | 'link'> & Partial<Gift>

/** None of these values has a comma or a quote: codes, links, times, ids. */
function saveCsv(lines: Line[], columns: readonly (typeof COLUMNS)[number][]): void {
  const rows = lines.map((line) => columns.map((column) => line[column] ?? '').join(','))
  saveText('gift-codes.csv', `${[columns.join(','), ...rows].join('\r\n')}\r\n`)
}

/** Saves codes that were just made. */
export const saveCreated = (codes: Line[]) => saveCsv(codes, ['code', 'link'])

/** Saves all that the filters find, read page by page; how many there were. */
export async function saveFound(query: GiftQuery): Promise<number> {
  const found: Gift[] = []
  let cursor: string | null = null
  do {
    const page: { rows: Gift[]; next: string | null } = await paged(
      api['gift-codes'].$get({
        query: { ...query, limit: BATCH, ...(cursor !== null && { cursor }) },
      }),
    )
    found.push(...page.rows)
    cursor = page.next
  } while (cursor !== null)
  saveCsv(found, COLUMNS)
  return found.length
}
