/** Reads 60 JSON bodies of 500 strings each that Bun hashes to one, and says how many milliseconds that took. */
import { decodeJson } from '#src/lib/json.ts'

// The first factor of the hash's product is 0, whatever stands between.
const [head, tail] = ['\u0093K\u00b8\u008b', '\u00c9\u00ac.\u0096']
let made = 0
const bodies = Array.from({ length: 60 }, () => {
  const keys = Array.from({ length: 500 }, () => {
    return `"${head}${(made++).toString(36).padStart(5, '-')}${tail}":0`
  })
  return new TextEncoder().encode(`{${keys.join(',')}}`)
})
const started = performance.now()
for (const bytes of bodies) decodeJson(bytes)
console.log(performance.now() - started)
