/**
 * Connections to addresses that an admin may have set: a name is resolved once, what it resolves to is checked, and that very address
 * is connected to, so that a name which answers differently the second time leads nowhere else. However an address is written
 * (`0`, `2130706433`, `0x7f.0.0.1`), what counts is where it leads: anything but a plain IP address is resolved like a name.
 */
import { isIP, type LookupFunction, Socket } from 'node:net'
import { isAllowedAddress } from '#src/lib/address-policy.ts'
import { lookUpName, type Resolve } from './name-lookup.ts'

export interface OutboundPolicy {
  denyPrivate: boolean
  resolve?: Resolve
}

/** The code of the error with which a connection fails that lib/address-policy.ts forbids. */
export const ADDRESS_REFUSED = 'EADDRREFUSED'

export const addressRefused = () =>
  Object.assign(new Error('the address is not allowed'), { code: ADDRESS_REFUSED })

/** A look-up of names that gives allowed addresses only. Sockets ask it of no plain IP address. */
export function allowedLookup({
  denyPrivate,
  resolve = lookUpName,
}: OutboundPolicy): LookupFunction {
  return (host, options, callback) => {
    resolve(host).then(
      (found) => {
        const usable = found
          .filter((address) => isAllowedAddress(address, denyPrivate))
          .map((address) => ({ address, family: isIP(address) }))
        const [first] = usable
        if (!first) callback(addressRefused(), '', 0)
        else if (options.all) callback(null, usable)
        else callback(null, first.address, first.family)
      },
      (error) => callback(error, '', 0),
    )
  }
}

/** Begins a TCP connection; its failures are the socket's `error`. */
export type Connect = (to: { host: string; port: number; noDelay?: boolean }) => Socket

/** A Connect that keeps to the policy of lib/address-policy.ts. */
export function createConnect(policy: OutboundPolicy): Connect {
  const lookup = allowedLookup(policy)
  return (to) => {
    const socket = new Socket()
    return isIP(to.host) !== 0 && !isAllowedAddress(to.host, policy.denyPrivate)
      ? socket.destroy(addressRefused())
      : socket.connect({ ...to, lookup })
  }
}
