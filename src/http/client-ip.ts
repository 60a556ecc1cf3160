/** The client's address: that of `x-real-ip` from a peer that may set it, else the peer's, else `unknown`. */
import type { Config } from '#src/config.ts'
import { inNetworks, LOOPBACK, PRIVATE, parseIp } from '#src/lib/ip.ts'
import type { Log } from '#src/lib/log.ts'

/** No zone (`fe80::1%eth0`): what follows the sign is free text, and of another machine. */
const isAddress = (text: string) => !text.includes('%') && parseIp(text) !== null

/**
 * A reader of client addresses. Loopback, unix sockets and unknown peers are trusted, unless TRUSTED_PROXIES is `none`; private
 * peers while it is unset (with one warning), else exactly the networks that it names. What is no address counts as absent.
 */
export function createClientIp(config: Pick<Config, 'trustedProxies'>, log: Log) {
  let warned = false
  const isTrusted = (peer: string | undefined): boolean => {
    if (config.trustedProxies === 'none') return false
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
    if (isAddress(claimed) && isTrusted(peer)) return claimed
    return peer || 'unknown'
  }
}
