/** Stores of an app as lines of text, and back: `Label https://…`, or `en:Label|ru:Название https://…`. */
import type { Answer, api } from '#src/admin-ui/api.ts'

export const SYSTEMS = ['ios', 'android', 'windows', 'macos', 'linux', 'tv'] as const
type System = (typeof SYSTEMS)[number]

export type App = Answer<(typeof api)['settings']['apps']['$get']>['apps'][number]
type Store = NonNullable<App['stores'][System]>[number]

const BY_LANGUAGE = /^[a-z]{2}:[^|]+(?:\|[a-z]{2}:[^|]+)*$/

function labelOf(text: string): Store['label'] {
  if (!BY_LANGUAGE.test(text)) return text
  return Object.fromEntries(text.split('|').map((part) => [part.slice(0, 2), part.slice(3).trim()]))
}

const textOf = (label: Store['label']) =>
  typeof label === 'string'
    ? label
    : Object.entries(label)
        .map(([language, text]) => `${language}:${text}`)
        .join('|')

export const linesOf = (stores: Store[]) =>
  stores.map(({ label, url }) => `${textOf(label)} ${url}`).join('\n')

/** The address is the last word of a line; what is wrong with it the service says. */
function storeOf(line: string): Store {
  const at = line.lastIndexOf(' ')
  return { label: labelOf(line.slice(0, Math.max(0, at)).trim()), url: line.slice(at + 1) }
}

export function storesOf(lines: Record<System, string>): App['stores'] {
  const found = SYSTEMS.flatMap((system) => {
    const stores = lines[system]
      .split('\n')
      .map((line) => line.trim())
      .filter((line) => line !== '')
      .map(storeOf)
    return stores.length === 0 ? [] : [[system, stores]]
  })
  return Object.fromEntries(found)
}
