/** The description of the API as the service gives it. */
import type { Http } from './context.ts'

/** Makes it when it is first asked for: the service neither starts nor idles with it. */
export function createDescription(config: Http['config']): Http['description'] {
  let document: Promise<string> | undefined
  const create = async () => JSON.stringify((await import('./openapi.ts')).createDocument(config))
  return () => {
    document ??= create()
    return document
  }
}
