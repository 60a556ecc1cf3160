/** `known_hosts`, table and file, made from the pinned keys of the nodes. */

import { readKnownHosts, readPinnedServers, replaceKnownHosts } from '#db/known-hosts.ts'
import type { KnownHost } from '#db/schema/index.ts'
import { splitHostKeys } from '#src/lib/host-key.ts'
import { noteFault } from '#src/lib/note-fault.ts'
import { formatTimestamp } from '#src/lib/time.ts'
import type { Services } from '#src/services.ts'
import { type Sound, soundRow } from './sound.ts'

type Deps = Pick<Services, 'db' | 'clock' | 'log' | 'fatal'>

type Server = { address: string; sshPort: number; hostKey: string | null }

const idOf = ({ host, port, keyType }: KnownHost) => `${host} ${port} ${keyType}`

/** One row for each server and type of key; of two nodes on one server the first one's count. */
function rowsOf(servers: Server[], present: KnownHost[], now: string): KnownHost[] {
  const known = new Map(present.map((row) => [`${idOf(row)} ${row.key}`, row.createdAt]))
  const rows = new Map<string, KnownHost>()
  for (const { address, sshPort, hostKey } of servers) {
    for (const line of splitHostKeys(hostKey)) {
      const [keyType = '', key = ''] = line.split(' ')
      const row = { host: address.toLowerCase(), port: sshPort, keyType, key, createdAt: now }
      const createdAt = known.get(`${idOf(row)} ${key}`) ?? now
      if (!rows.has(idOf(row))) rows.set(idOf(row), { ...row, createdAt })
    }
  }
  return [...rows.values()]
}

/** A host that the file can name: `*`, `?`, `!` and `,` would make it a pattern (sshd(8), SSH_KNOWN_HOSTS FILE FORMAT). */
const isPlain = ({ host }: KnownHost) => /^[a-z0-9._:-]+$/.test(host)

const lineOf = ({ host, port, keyType, key }: Sound<KnownHost>): string =>
  `${port === 22 ? host : `[${host}]:${port}`} ${keyType} ${key}\n`

/**
 * `writeKnownHosts` of a process. The file is written by `write` inside the transaction, so that of two processes the one
 * with the newer rows writes last.
 */
export function createKnownHosts(s: Deps, write: (text: string) => void): () => Promise<void> {
  const tell = (error: unknown) => noteFault(s, 'warn', 'known_hosts could not be written', error)
  const writeFile = (rows: KnownHost[]) => {
    try {
      write(
        rows
          .filter(isPlain)
          .map((row) => lineOf(soundRow('known_hosts', row)))
          .join(''),
      )
    } catch (error) {
      // The rows are the truth: the next change or start writes the file again.
      tell(error)
    }
  }
  return async () => {
    const now = formatTimestamp(s.clock.now())
    try {
      await s.db.tx(function* (tx) {
        const present = yield* readKnownHosts(tx)
        const rows = rowsOf(yield* readPinnedServers(tx), present, now)
        const ids = new Set(present.map((row) => JSON.stringify(row)))
        const same = rows.length === ids.size && rows.every((row) => ids.has(JSON.stringify(row)))
        if (!same) yield* replaceKnownHosts(tx, rows)
        writeFile(yield* readKnownHosts(tx))
      })
    } catch (error) {
      tell(error)
    }
  }
}
