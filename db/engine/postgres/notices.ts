/**
 * What other processes of this database tell at once, by LISTEN over a connection of its own. Whoever hears must be well without it: a
 * proxy that hands out connections for single transactions lets nothing through, and what was told while the connection was lost is gone.
 */
import type { Client } from 'pg'
import { openClient } from './pool.ts'

const FIRST_PAUSE_MS = 100
const LONGEST_PAUSE_MS = 5000

export interface Notices {
  close(): Promise<void>
}

/** `hear` is called for each notice of the channel, and when a connection was made: something may have been missed before. */
export function listen(url: string, channel: string, hear: () => void): Notices {
  let client: Client | null = null
  let timer: NodeJS.Timeout | undefined
  let pauseMs = FIRST_PAUSE_MS
  let isClosed = false

  const again = (lost: Client) => {
    if (client !== lost) return
    client = null
    void lost.end().catch(() => {})
    if (isClosed) return
    timer = setTimeout(connect, pauseMs)
    timer.unref()
    pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS)
  }
  const connect = () => {
    const own = openClient(url)
    client = own
    own.on('error', () => again(own))
    own.on('end', () => again(own))
    own.on('notification', hear)
    own
      .connect()
      .then(() => own.query(`listen ${channel}`))
      .then(() => {
        pauseMs = FIRST_PAUSE_MS
        hear()
      })
      .catch(() => again(own))
  }
  connect()
  return {
    async close() {
      isClosed = true
      clearTimeout(timer)
      const last = client
      client = null
      await last?.end().catch(() => {})
    },
  }
}
