/** What every handler of the app can reach. */
import type { Context as HonoContext } from 'hono'
import type { Actor } from '#src/domain/audit.ts'
import type { Directory } from '#src/domain/directory.ts'
import type { Services } from '#src/services.ts'
import type { Panel } from '#src/web/panel-files.ts'

export interface AppEnv {
  Bindings: { peer: string | undefined }
  Variables: {
    /** Set behind the session check. */
    actor: Actor
    adminId: number
    sessionId: number
  }
}

export type Context = HonoContext<AppEnv>

/** Services and what http keeps beside them, one per process. */
export interface Http extends Services {
  clientIp: (realIp: string | null | undefined, peer: string | undefined) => string
  directory: (revision: number) => Directory
  /** The built panel; null while there is none. */
  panel: () => Panel | null
}

/** The address of a request's client. */
export function ipOf(s: Http, c: Context): string {
  return s.clientIp(c.req.header('x-real-ip'), c.env?.peer)
}
