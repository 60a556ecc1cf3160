/** Part `listing`: pages of the admin's listing and user cards, asked for inside the process. */
import type { Figure } from './figures.ts'
import type { Options } from './options.ts'
import { type Runtime, runScript } from './processes.ts'
import { dataFolder } from './seed.ts'
import { serviceEnvironment } from './sub.ts'

/** What listing-pages.ts gives: the median milliseconds of each page. */
export interface PageTime {
  name: string
  ms: number
  plain: boolean
}

export async function measureListing(
  options: Options,
  runtime: Runtime,
  folder: string,
): Promise<Figure[]> {
  const env = serviceEnvironment(await dataFolder(folder, options.users))
  const input = { users: options.users }
  const pages = await runScript<PageTime[]>(runtime, 'scripts/bench/listing-pages.ts', input, env)
  return pages.map(({ name, ms, plain }) => ({
    part: 'listing',
    runtime: runtime.name,
    name,
    value: ms,
    unit: 'ms',
    atMost: plain ? 5 : 60,
  }))
}
