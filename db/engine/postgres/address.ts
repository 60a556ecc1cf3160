/** Addresses of PostgreSQL servers: `postgres://user:password@server:port/name?…`, as libpq has them. */

/** Of ours, beside the driver's own: connections are handed out for single transactions (PgBouncer), which forget what was prepared or listened to. */
const PROXIED = 'pgbouncer'

export interface Address {
  /** What the driver is given. */
  url: string
  /** As operators are told of it: no user, and no password. */
  name: string
  isProxied: boolean
}

/** Throws for what is no address. */
export function readAddress(text: string): Address {
  const url = new URL(text)
  const isProxied = url.searchParams.get(PROXIED) === 'true'
  url.searchParams.delete(PROXIED)
  const server = url.searchParams.get('host') ?? url.host
  return {
    url: url.toString(),
    name: `${decodeURIComponent(url.pathname.slice(1)) || 'the database'} on ${server || 'this machine'}`,
    isProxied,
  }
}
