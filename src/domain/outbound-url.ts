/** Addresses of settings to which the service will send: what can be told of them before a look-up. */
import { isAllowedAddress, literalAddress } from '#src/lib/address-policy.ts'
import { badRequest } from '#src/lib/errors.ts'
import type { Services } from '#src/services.ts'

const MAX_LENGTH = 2048

/** Throws 400 naming `field` unless the text is an address that may be sent to. Names are checked when they are resolved. */
export function requireOutboundUrl(
  s: Pick<Services, 'config'>,
  field: string,
  text: string,
  schemes: ('http' | 'https')[],
): void {
  // WHATWG URLs drop line breaks and tabs silently.
  const url =
    text.length <= MAX_LENGTH && /^[^\s\p{Cc}]+$/u.test(text) && URL.canParse(text)
      ? new URL(text)
      : null
  if (!url || !schemes.some((scheme) => url.protocol === `${scheme}:`)) {
    throw badRequest(
      schemes.includes('http')
        ? `${field} must be an http or https address`
        : `${field} must be an https address`,
    )
  }
  if (url.username !== '' || url.password !== '') {
    throw badRequest(`${field} must not hold a name or a password`)
  }
  const address = literalAddress(url)
  if (address !== null && !isAllowedAddress(address, s.config.outboundDenyPrivate)) {
    throw badRequest(`${field} leads to an address that is not allowed`)
  }
}
