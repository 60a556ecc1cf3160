/** The one stylesheet of all pages, inlined in each; per brand hue it is built and hashed once. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { sha256 } from '@noble/hashes/sha2.js'
import { base64, utf8 } from '#src/lib/encoding.ts'
import { type Accent, accentsOf, normalHue } from './palette.ts'

export interface Style {
  css: string
  /** As a CSP source: `'sha256-…'`. */
  source: string
}

const rules = ['tokens.css', 'page.css', 'parts.css', 'sub.css', 'site.css', 'legal.css']
  .map((name) => minify(readFileSync(join(import.meta.dirname, name), 'utf8')))
  .join('')

/** At most 360 entries: a memo of a pure function, not state. */
const styles = new Map<number, Style>()

/** The stylesheet in the colours of a brand hue, and what a CSP allows it by. */
export function styleOf(brandHue: number): Style {
  const hue = normalHue(brandHue)
  const known = styles.get(hue)
  if (known) return known
  const { light, dark } = accentsOf(hue)
  const css = `:root{${variables(light)}}@media (prefers-color-scheme:dark){:root{${variables(dark)}}}${rules}`
  const style = { css, source: `'sha256-${base64(sha256(utf8(css)))}'` }
  styles.set(hue, style)
  return style
}

const variables = (accent: Accent) =>
  [
    `--accent:${accent.accent}`,
    `--accent-hover:${accent.accentHover}`,
    `--accent-text:${accent.accentText}`,
    `--accent-soft:${accent.accentSoft}`,
    `--accent-border:${accent.accentBorder}`,
  ].join(';')

/** Without comments and needless spaces. The file keeps no strings that this would change. */
function minify(css: string): string {
  return css
    .replace(/\/\*[\s\S]*?\*\//g, '')
    .replace(/\s+/g, ' ')
    .replace(/ ?([{};,]) ?/g, '$1')
    .replace(/: /g, ':')
    .replaceAll(';}', '}')
    .replaceAll(' > ', '>')
    .trim()
}
