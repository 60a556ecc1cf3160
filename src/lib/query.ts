/** The query of a request: what is asked for is found without decoding what is not. */

const ESCAPED = /%([0-9a-f]{2})/gi
const byteOf = (_: string, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))

/** Whether a part of a query has this name, which is ASCII and may be escaped. */
function isNamed(part: string, name: string): boolean {
  if (part.startsWith(name)) return part.length === name.length || part[name.length] === '='
  const equals = part.indexOf('=')
  const length = equals < 0 ? part.length : equals
  if (length <= name.length || length > 3 * name.length) return false
  return part.slice(0, length).replace(ESCAPED, byteOf) === name
}

/**
 * A reader of a query, as URLSearchParams reads it: the first value of a name of ASCII, null where there is none. Of thousands of
 * names in 14 KB that are no UTF-8 Node makes as many errors, for which everybody waits 100 to 200 ms.
 */
export function parametersOf(query: string): (name: string) => string | null {
  const parts = query.split('&')
  return (name) => {
    const part = parts.find((one) => isNamed(one, name))
    return part === undefined ? null : new URLSearchParams(part).get(name)
  }
}
