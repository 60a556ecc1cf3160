/** What every handler of the app can reach. */
import type { Context as HonoContext } from 'hono'
import type { Principal } from '#src/domain/accounts/principals.ts'
import type { Catalogue } from '#src/domain/lists/catalogue.ts'
import type { ByteBudget } from '#src/lib/byte-budget.ts'
import { networkKey } from '#src/lib/ip.ts'
import type { Turns } from '#src/lib/turns.ts'
import type { Services } from '#src/services.ts'
import type { PageScripts } from '#src/web/page-scripts.ts'
import type { Panel } from '#src/web/panel-files.ts'
import type { FindOwner } from './list-owners.ts'
import type { ListParts } from './list-parts.ts'
import type { LiveFeed } from './live-feed.ts'
import type { NoticeLimits } from './notice-limits.ts'

/** How a request came, and what the server that took it can do about it. */
export interface Connection {
  /** The address of the other end. */
  peer: string | undefined
  /** Aborted with the refusal to answer when the time for the body is over. */
  late?: AbortSignal | undefined
  /** What the large bodies that are under way share. */
  bodies?: ByteBudget | undefined
  /** Lets body and answer take as long as they need: for whom we know, on the few routes that move whole databases. */
  unhurried?: (() => void) | undefined
}

export interface AppEnv {
  Bindings: Connection
  Variables: {
    /** Set behind the check of who asks. */
    principal: Principal
    /** What logs and metrics call the operation that was asked for. */
    label: string
  }
}

export type Context = HonoContext<AppEnv>

/** The origins of the three names, and the scheme by which this service is reached. */
export interface OwnOrigins {
  origins: string[]
  scheme: string
}

/** Services and what http keeps beside them, one per process. */
export interface Http extends Services {
  own: OwnOrigins
  clientIp: (realIp: string | null | undefined, peer: string | undefined) => string
  catalogue: (revision: number) => Catalogue
  /** The built panel; null while there is none. */
  panel: () => Panel | null
  /** The built scripts of the pages; null while there are none. */
  pageScripts: () => PageScripts | null
  lists: ListParts
  findOwner: FindOwner
  live: LiveFeed
  noticeLimits: NoticeLimits
  /** How often an installation reports, by its token. */
  installReports: Turns
  /** The description of the API, as JSON. */
  description: () => Promise<string>
}

/** The address of a request's client. */
export function ipOf(s: Http, c: Context): string {
  return s.clientIp(c.req.header('x-real-ip'), c.env?.peer)
}

/** The services for a request whose client may go away before it is its turn to read: then it is passed over. */
export const whileHeard = (s: Http, c: Context): Http => ({
  ...s,
  reads: s.reads.for(c.req.raw.signal),
})

/**
 * The same for a request of somebody whom nobody knows yet: the database answers it in the turns of its network, for whoever has one
 * has thousands of addresses.
 */
export function inTurnOf(s: Http, c: Context): Http {
  const db = s.db.onBehalfOf(networkKey(ipOf(s, c)))
  return db === s.db ? s : { ...s, db }
}
