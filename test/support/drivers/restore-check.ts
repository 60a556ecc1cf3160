/**
 * Looks at uploaded databases as a restore does before it touches anything, in a process of its own, and writes what came of each and
 * the megabytes that they took. Arguments: a small sound one, which first loads what is used, and the files.
 */
import type { RestoreFacts } from '#db/restore/facts.ts'
import { prepareRows } from '#db/restore/prepare.ts'
import { rebuild } from '#db/upload.ts'
import { GATEWAY_IDS } from '#src/integrations/payments/index.ts'

/** What the check of an upload has to know. */
const FACTS = {
  at: '2026-01-01T00:00:00',
  generation: 'generation',
  accepted: () => new Set(),
  isFormerShop: () => false,
} satisfies Partial<RestoreFacts>

function examine(path: string): string | null {
  try {
    rebuild(path, `${path}-clean`, GATEWAY_IDS)
    prepareRows(`${path}-clean`, FACTS as unknown as RestoreFacts)
    return null
  } catch (error) {
    return (error as Error).message
  }
}

const peak = () => process.resourceUsage().maxRSS / 1024
const [sound = '', ...uploads] = process.argv.slice(2)
const refused = examine(sound)
if (refused !== null) throw new Error(refused)
const before = peak()
const messages = uploads.map(examine)
process.stdout.write(JSON.stringify({ messages, megabytes: peak() - before }))
