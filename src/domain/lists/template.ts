/** Lists as an operator writes them: read once, and then written for everybody around their entries. */
import type { ListTemplate } from '#db/schema/index.ts'
import type { TemplateFormat } from '#db/values.ts'
import { ApiError } from '#src/lib/errors.ts'
import { cut } from '#src/lib/format.ts'
import { refusal } from '#src/refusals/index.ts'
import { SAMPLE_ENTRIES } from './entries.ts'
import { type MihomoEntry, mihomoProfile, mihomoProxy } from './mihomo.ts'
import type { Routing } from './routing.ts'
import { singboxOutbound, singboxProfile } from './singbox.ts'
import { checkTemplate, NAMES, PROXIES, type Tree } from './template-rules.ts'
import { MOST_REASON, parseTemplate } from './template-text.ts'
import { type Yaml, yaml } from './yaml.ts'

/** What both formats have entries of. */
type Entry = MihomoEntry

type Write = (entries: readonly Entry[]) => string

export interface Template {
  /** What entries may not be called: what of it is called so. */
  names: ReadonlySet<string>
  /** The list of these entries, of which there is one at least. */
  write: Write
  /** The same of two that lead nowhere, as a core reads it that has no data files. */
  sample(): string
}

interface Form {
  text(tree: Tree): string
  entry(entry: Entry): Yaml | object
  /** Items of a list, each line behind `pad`. */
  items(items: (Yaml | object)[], pad: string): string
  builtIn(routing: Routing | null): string
}

/** In a list so deep that its items stand behind `pad`; of its brackets the k-th is a line of 2k + 2 characters. */
function jsonItems(items: (Yaml | object)[], pad: string): string {
  const levels = pad.length / 2
  let list: unknown = items
  for (let level = 1; level < levels; level++) list = [list]
  const brackets = levels * (levels + 1)
  return JSON.stringify(list, null, 2).slice(brackets, -brackets)
}

const FORMS: Record<TemplateFormat, Form> = {
  mihomo: {
    text: (tree) => `${yaml(tree)}\n`,
    entry: mihomoProxy,
    items: (items, pad) => yaml(items as Yaml[], pad),
    builtIn: (routing) => mihomoProfile([PROXIES], [NAMES], routing),
  },
  singbox: {
    text: (tree) => JSON.stringify(tree, null, 2),
    entry: singboxOutbound,
    items: jsonItems,
    builtIn: (routing) => singboxProfile([PROXIES], [NAMES], null, routing),
  },
}

/** A line of an item that others are put in place of, in either format: all strings are quoted there, and none spans lines. */
const PLACE = /^( *)(?:- )?"\$(proxies|names)"(,?)$/gm

/** A writer of what is written of a tree but once: between the places. */
function writerOf({ text, entry, items }: Form, tree: Tree): Write {
  const whole = text(tree)
  const places = [...whole.matchAll(PLACE)].map((match) => {
    const [line, pad = '', what, comma = ''] = match
    const write = (entries: readonly Entry[]) =>
      items(entries.map(what === 'names' ? ({ name }) => name : entry), pad) + comma
    return { start: match.index, end: match.index + line.length, write }
  })
  const texts = [...places, null].map((place, i) =>
    whole.slice(places[i - 1]?.end ?? 0, place?.start ?? whole.length),
  )
  return (entries) => texts.map((before, i) => before + (places[i]?.write(entries) ?? '')).join('')
}

/**
 * What apps bring data for is put as what needs none: a core would go and get the data. `fallback-filter` has no other form.
 */
function withoutGeodata(tree: Tree): Tree {
  let sites = 0
  const text = (said: string) =>
    said
      .replace(/\bGEOSITE\s*,[^,()]+/gi, 'DOMAIN-SUFFIX,geosite.invalid')
      .replace(/\b(SRC-)?(?:GEOIP|IP-ASN)\s*,[^,()]+/gi, '$1IP-CIDR,192.0.2.0/24')
      .replace(/^geosite:.*/i, () => `+.geosite${++sites}.invalid`)
  const all = (value: Yaml): Yaml => {
    if (typeof value === 'string') return text(value)
    if (Array.isArray(value)) return value.map(all)
    if (typeof value !== 'object' || value === null) return value
    return Object.fromEntries(
      Object.entries(value)
        .filter(([key]) => key !== 'fallback-filter')
        .map(([key, one]) => [text(key), one === undefined ? one : all(one)]),
    )
  }
  const nowhere = 'http://127.0.0.1:1/'
  const urls = { geoip: nowhere, geosite: nowhere, mmdb: nowhere, asn: nowhere }
  return { ...(all(tree as Yaml) as Tree), 'geo-auto-update': false, 'geox-url': urls }
}

/** Reads a template. Throws 400 naming what is wrong with it, and where. */
export function readTemplate(format: TemplateFormat, body: string): Template {
  const { tree, names } = checkTemplate(format, parseTemplate(format, body))
  const form = FORMS[format]
  return {
    names,
    write: writerOf(form, tree),
    sample: () => writerOf(form, format === 'mihomo' ? withoutGeodata(tree) : tree)(SAMPLE_ENTRIES),
  }
}

/** Our own list as a template. */
export const builtInTemplate = (format: TemplateFormat, routing: Routing | null): string =>
  FORMS[format].builtIn(routing)

/** A template that was kept, or what is wrong with it. */
export type KeptTemplate = Template | { fault: ApiError }

/** What was read last of each format: the text stays, whatever else of lists changes. */
const known = new Map<TemplateFormat, { body: string; read: KeptTemplate }>()

/** What else is thrown of a text is a fault of it too: thrown on, it would leave everybody without a list. */
const faultOf = (error: unknown): ApiError =>
  error instanceof ApiError
    ? error
    : refusal('template-refused', { core: 'Subpanel', reason: cut(String(error), MOST_REASON) })

/** The same of one that is kept, which may have come with an archive, or be of another version. */
export function keptTemplate({
  format,
  body,
}: Pick<ListTemplate, 'format' | 'body'>): KeptTemplate {
  const last = known.get(format)
  if (last?.body === body) return last.read
  let read: KeptTemplate
  try {
    read = readTemplate(format, body)
  } catch (error) {
    read = { fault: faultOf(error) }
  }
  known.set(format, { body, read })
  return read
}
