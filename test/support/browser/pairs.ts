/** The circumstances in which pages are seen, chosen so that they meet in pairs. */
import { RUNTIMES, type Runtime } from '#test/support/drivers/process.ts'

export interface Circumstances {
  javaScript: boolean
  width: 390 | 1440
  theme: 'light' | 'dark'
  lang: 'en' | 'ru'
  runtime: Runtime
}

/** An orthogonal array of strength 2: of any two circumstances every pair of values is there. */
export const VIEWS = [0, 1, 2, 3, 4, 5, 6, 7].map((row): Circumstances => {
  const [a, b, c] = [row & 1, (row >> 1) & 1, (row >> 2) & 1] as [number, number, number]
  return {
    javaScript: a === 0,
    width: b === 0 ? 390 : 1440,
    theme: c === 0 ? 'light' : 'dark',
    lang: (a ^ b) === 0 ? 'en' : 'ru',
    runtime: RUNTIMES[a ^ c] as Runtime,
  }
})

const scripted = (row: number): Circumstances => ({
  ...(VIEWS[row] as Circumstances),
  javaScript: true,
})

/**
 * The same in twos that differ in width, theme, language and runtime, all with scripts. What is seen in one of the twos has met
 * every value; three of them have every pair.
 */
export const OPPOSITES = [0, 1, 4, 5].map((row): [Circumstances, Circumstances] => [
  scripted(row),
  scripted(row ^ 0b110),
])
