/** YAML as lists are written in it. */

export type Yaml = string | number | boolean | null | Yaml[] | { [key: string]: Yaml | undefined }

/** What no reader takes for anything but a text. */
const PLAIN_KEY = /^(?!(?:y|n|yes|no|on|off|true|false|null)$)[a-z][\w-]*$/i

const keyed = (key: string) => (PLAIN_KEY.test(key) ? key : quoted(key))

/** Block YAML. Every string is quoted, or `12e45678` would be a number; keys are where they could be taken for something else. */
export function yaml(value: Yaml, pad = ''): string {
  if (Array.isArray(value)) {
    if (value.length === 0) return '[]'
    return value.map((item) => `${pad}- ${yaml(item, `${pad}  `).trimStart()}`).join('\n')
  }
  if (typeof value === 'object' && value !== null) return mapping(value, pad)
  return typeof value === 'string' ? quoted(value) : String(value)
}

function mapping(value: { [key: string]: Yaml | undefined }, pad: string): string {
  const lines: string[] = []
  for (const [key, item] of Object.entries(value)) {
    if (item === undefined) continue
    const text = yaml(item, `${pad}  `)
    const nested = typeof item === 'object' && item !== null && text !== '[]' && text !== '{}'
    lines.push(`${pad}${keyed(key)}:${nested ? '\n' : ' '}${text}`)
  }
  return lines.length === 0 ? '{}' : lines.join('\n')
}

/** A JSON string is a YAML string once the characters that YAML 1.2 section 5.1 bars are escaped. */
function quoted(text: string): string {
  return JSON.stringify(text.toWellFormed()).replace(
    /[\u007f-\u009f\u2028\u2029\ufeff\ufffe\uffff]/g,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}
