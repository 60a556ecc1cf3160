/** Long answers of nodes, honest and hostile: how much of them is taken, and how long other work waits meanwhile. */
import { expect, test } from 'vitest'
import { LONGEST_ANSWER, MOST_ENTRIES } from '#src/integrations/nodes/answer.ts'
import { nodeProgram } from '#src/integrations/nodes/program.ts'

const SHA = 'a'.repeat(64)
const uuidOf = (n: number) => `${n.toString(16).padStart(8, '0')}-0000-4000-8000-000000000000`
const longestLine = (n: number) => `["${uuidOf(n)}","${'g'.repeat(32)}","${'A'.repeat(43)}"]`
const shortestLine = (n: number) => `["${uuidOf(n)}","g"]`

function listOf(count: number, line: (n: number) => string, rest = ''): string {
  const lines = Array.from({ length: count }, (_, n) => line(n))
  return `{"ok":true,"clients":"${SHA}","lines":[${lines.join(',')}${rest}]}\n`
}

const status = (counters: string, hysteria = 'null') =>
  `{"ok":true,"owner":"p","config":"","clients":"${SHA}","count":1,"live":true,"core":{"up":true,"version":"1","uptime_s":1,"epoch":"e"},` +
  `"reading":"r","counters":${counters},"hysteria":${hysteria}}\n`

const program = (text: string) => nodeProgram(async () => text, '')

/** How often all else had its turn while `work` went on. */
async function turnsDuring(work: Promise<unknown>): Promise<number> {
  let turns = 0
  let isOver = false
  const count = () => {
    turns++
    if (!isOver) setImmediate(count)
  }
  setImmediate(count)
  await work.catch(() => {})
  isOver = true
  return turns
}

test('100,000 clients with the longest lines are one answer, read in at least 15 turns', async () => {
  const text = listOf(100_000, longestLine)
  expect(text.length).toBeLessThan(LONGEST_ANSWER)
  const listing = program(text).list()
  expect(await turnsDuring(listing)).toBeGreaterThanOrEqual(15)
  const { lines } = await listing
  expect(lines.length).toBe(100_000)
  expect(new Map(lines).get(uuidOf(99_999))).toBe(`${'g'.repeat(32)} ${'A'.repeat(43)}`)
})

test('the counters of both cores are read, each with its own', async () => {
  const counters = Array.from({ length: 12_000 }, (_, n) => `["${uuidOf(n)}",${n},${2 * n}]`)
  const own = `{"config":"","up":true,"epoch":"h","counters":[["${uuidOf(7)}",1,2]]}`
  const answer = await program(status(`[${counters.join(',')}]`, own)).status('', 1000)
  expect(answer.counters).toHaveLength(12_000)
  expect(answer.counters.at(-1)).toEqual([uuidOf(11_999), 11_999, 23_998])
  expect(answer.hysteria?.counters).toEqual([[uuidOf(7), 1, 2]])
})

const open = (length: number, text: string) => text.repeat(Math.ceil(length / text.length))

test.each<[string, string]>([
  ['a list of more clients than are believed', listOf(MOST_ENTRIES + 1, shortestLine)],
  ['a list whose last line is another', listOf(100_000, shortestLine, `,["x","g"]`)],
  ['a list with a comma at its end', listOf(3, shortestLine, ',')],
  ['a list that does not end', listOf(3, shortestLine).slice(0, -3)],
  ['two lists of a name, the second malformed', `{"lines":[],"lines":[1]}`],
  ['the number of a list in its place', `{"ok":true,"clients":"${SHA}","lines":0}`],
  ['brackets', open(LONGEST_ANSWER, '[')],
  ['an object of empty lists', `{"a":[${open(LONGEST_ANSWER, '[],')}[]]}`],
  ['empty lists of the right name', `{${open(LONGEST_ANSWER, '"lines":[],')}"ok":true}`],
  ['a list behind a long word', `{"x":"${open(20_000, 'x')}",${listOf(1, shortestLine).slice(1)}`],
])('refused as garbage at once: %s', async (_name, text) => {
  const begin = performance.now()
  await expect(program(text).list()).rejects.toMatchObject({ failure: 'garbage' })
  // A twentieth of it for the longest list on a quiet machine, nothing for what is none.
  expect(performance.now() - begin).toBeLessThan(3000)
})

test('no other verb may answer at length', async () => {
  const long = `{"ok":true,"x":[${open(20_000, '1,')}1]}`
  const given = program(long).configure({ owner: 'p', program: 2 }, '')
  await expect(given).rejects.toMatchObject({ failure: 'garbage' })
})

test('what a name says in a word of the answer is not taken for a list', async () => {
  const text = status('[]').replace('"owner":"p"', '"owner":"\\"counters\\":["')
  expect((await program(text).status('', 1000)).owner).toBe('"counters":[')
})
