/** Addresses of settings to which the service will send: what can be told of them before a look-up. */
import { isAllowedAddress, literalAddress } from '#src/lib/address-policy.ts'
import { fieldRefusal } from '#src/refusals/index.ts'
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
    throw fieldRefusal(field, schemes.includes('http') ? 'not-http' : 'not-https')
  }
  if (url.username !== '' || url.password !== '') {
    throw fieldRefusal(field, 'name-in-address')
  }
  const address = literalAddress(url)
  if (address !== null && !isAllowedAddress(address, s.config.outboundDenyPrivate)) {
    throw fieldRefusal(field, 'address-not-allowed')
  }
}
