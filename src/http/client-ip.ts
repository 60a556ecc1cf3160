/** The client's address: that of `x-real-ip` from a peer that may set it, else the peer's, else `unknown`. */
import type { Config } from '#src/config.ts'
import { inNetworks, LOOPBACK, PRIVATE, parseIp } from '#src/lib/ip.ts'
import type { Log } from '#src/lib/log.ts'

/** No zone (`fe80::1%eth0`): what follows the sign is free text, and of another machine. */
const isAddress = (text: string) => !text.includes('%') && parseIp(text) !== null

/**
 * Whether a peer is a proxy that we know. Loopback, unix sockets and unknown peers are, unless TRUSTED_PROXIES is `none`; private
 * peers while it is unset, else exactly the networks that it names.
 */
export function isProxy(proxies: Config['trustedProxies'], peer: string | undefined): boolean {
  if (proxies === 'none') return false
  const address = peer ? parseIp(peer) : null
  return (
    address === null || inNetworks(address, LOOPBACK) || inNetworks(address, proxies ?? PRIVATE)
  )
}

/** A reader of client addresses: those that proxies name (with one warning while none is configured). What is no address is absent. */
export function createClientIp({ trustedProxies }: Pick<Config, 'trustedProxies'>, log: Log) {
  let warned = false
  const isTrusted = (peer: string | undefined): boolean => {
    if (!isProxy(trustedProxies, peer)) return false
    const address = peer ? parseIp(peer) : null
    if (warned || trustedProxies || address === null || inNetworks(address, LOOPBACK)) return true
    warned = true
    log.warn('x-real-ip is taken from private peers; name your proxy in TRUSTED_PROXIES', {
      peer: peer ?? '',
    })
    return true
  }
  return (realIp: string | null | undefined, peer: string | undefined): string => {
    const claimed = realIp?.trim() ?? ''
    if (isAddress(claimed) && isTrusted(peer)) return claimed
    return peer || 'unknown'
  }
}
