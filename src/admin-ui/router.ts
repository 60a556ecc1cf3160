/** Routes live behind the `#` of the page's address: `#/users?q=anna`. State that a link should keep is in their query. */
import { createStore } from './store.ts'

export interface Route {
  /** `/settings/brand` */
  path: string
  /** `['settings', 'brand']` */
  segments: string[]
  query: URLSearchParams
}

function read(): Route {
  const [path = '', query = ''] = location.hash.slice(1).split('?', 2)
  const segments = path
    .split('/')
    .filter((part) => part !== '')
    .map(decode)
  return { path: `/${segments.join('/')}`, segments, query: new URLSearchParams(query) }
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}

const route = createStore(read())

/** Set by what asks before another route comes; null: nothing is to be asked. `stays`: on the same screen. */
export const guard: { ask: (stays: boolean) => Promise<boolean> | null } = { ask: () => null }

/** Links, Back and Forward; the old address stands again while it is asked. */
window.addEventListener('hashchange', async ({ oldURL, newURL }) => {
  const asked = guard.ask(read().path === route.get().path)
  if (asked !== null) {
    history.replaceState(null, '', oldURL)
    if (!(await asked)) return
    history.replaceState(null, '', newURL)
  }
  route.set(read())
})

export const currentRoute = () => route.get()
export const useRoute = () => route.use()

/** Values of a query; an empty one is left out. */
export type QueryValues = Record<string, string | number | boolean | null | undefined>

function write(query: URLSearchParams, values: QueryValues): void {
  for (const [name, value] of Object.entries(values)) {
    if (value === '' || value === null || value === undefined || value === false) query.delete(name)
    else query.set(name, String(value))
  }
}

/** The address of a route, for links. */
export function href(path: string, values: QueryValues = {}): string {
  const query = new URLSearchParams()
  write(query, values)
  const text = query.toString()
  return `#${path}${text && `?${text}`}`
}

export function go(path: string, values: QueryValues = {}): void {
  location.hash = href(path, values)
}

/** Changes the query of the route. `replace`: Back does not lead to the state before, as while someone types. */
export function setQuery(values: QueryValues, options: { replace?: boolean } = {}): void {
  const { path, query } = read()
  write(query, values)
  const text = query.toString()
  const hash = `#${path}${text && `?${text}`}`
  if (hash === location.hash) return
  if (options.replace) history.replaceState(null, '', hash)
  else history.pushState(null, '', hash)
  route.set(read())
}
