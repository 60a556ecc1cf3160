/** The client's address: `x-real-ip` from a peer that may set it, else the peer's, else `unknown`. */
import type { Config } from '#src/config.ts'
import { inNetworks, LOOPBACK, PRIVATE, parseIp } from '#src/lib/ip.ts'
import type { Log } from '#src/lib/log.ts'

const PRINTABLE = /^[\x21-\x7e]{1,64}$/

/**
 * A reader of client addresses. Loopback, unix sockets and unknown peers are always trusted; private peers while
 * TRUSTED_PROXIES is unset (with one warning), else exactly the networks that it names.
 */
export function createClientIp(config: Pick<Config, 'trustedProxies'>, log: Log) {
  let warned = false
  const isTrusted = (peer: string | undefined): boolean => {
    const address = peer ? parseIp(peer) : null
    if (address === null || inNetworks(address, LOOPBACK)) return true
    if (config.trustedProxies) return inNetworks(address, config.trustedProxies)
    if (!inNetworks(address, PRIVATE)) return false
    if (!warned) {
      warned = true
      log.warn('x-real-ip is taken from private peers; name your proxy in TRUSTED_PROXIES', {
        peer: peer ?? '',
      })
    }
    return true
  }
  return (realIp: string | null | undefined, peer: string | undefined): string => {
    const claimed = realIp?.trim() ?? ''
    if (PRINTABLE.test(claimed) && isTrusted(peer)) return claimed
    return peer || 'unknown'
  }
}
