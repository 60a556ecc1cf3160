/** Whom a name is looked up by: names that nobody answers for hold up no other. */
import { setTimeout as pause } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { createNameLookup, lookUpName, type NameSources } from '#src/integrations/name-lookup.ts'

const never = () => new Promise<never>(() => {})

/** A look-up of which DNS knows some names and is silent for those of evil.test; `asked`: what getaddrinfo is asked. */
function createNames(known: Record<string, string[]> = {}, own: Partial<NameSources> = {}) {
  const asked: string[] = []
  const resolve = createNameLookup({
    async system(host) {
      asked.push(host)
      return ['192.0.2.1']
    },
    ask: async (host) => ({ found: known[host] ?? [], isSilent: host.endsWith('evil.test') }),
    hosts: async () => '127.0.0.1 localhost # nothing.test\n\n192.0.2.7\tBox.test box\n',
    ...own,
  })
  return { resolve, asked }
}

test('what DNS knows no thread is asked for', async () => {
  const { resolve, asked } = createNames({ 'good.test': ['192.0.2.5', '2001:db8::5'] })
  expect(await resolve('Good.test')).toEqual(['192.0.2.5', '2001:db8::5'])
  expect(asked).toEqual([])
})

test.each([
  'localhost',
  'box.test',
  'box',
  '127.1',
  '2130706433',
  '0x7f000001',
  '0x7f.0.0.1',
  'a.0x',
])('%s is not asked of DNS', async (host) => {
  const { resolve, asked } = createNames({}, { ask: never })
  expect(await resolve(host)).toEqual(['192.0.2.1'])
  expect(asked).toEqual([host])
})

test('a name that DNS does not know may be one of a search domain', async () => {
  const { resolve, asked } = createNames({})
  expect(await resolve('nothing.test')).toEqual(['192.0.2.1'])
  expect(asked).toEqual(['nothing.test'])
})

test('a name for which nobody answers is asked no further', async () => {
  const { resolve, asked } = createNames({})
  await expect(resolve('n1.evil.test')).rejects.toMatchObject({ code: 'EAI_AGAIN' })
  expect(asked).toEqual([])
})

test('what an answer lacks does not matter where the other has addresses', async () => {
  const { resolve } = createNames({ 'half.evil.test': ['192.0.2.5'] })
  expect(await resolve('half.evil.test')).toEqual(['192.0.2.5'])
})

test('names that only the system may know take one thread, each once', async () => {
  const asked: string[] = []
  const { resolve } = createNames(
    { 'good.test': ['192.0.2.5'] },
    {
      system(host) {
        asked.push(host)
        return never()
      },
    },
  )
  for (const host of ['a.test', 'b.test', 'a.test', 'c.test']) void resolve(host)
  expect(await resolve('good.test')).toEqual(['192.0.2.5'])
  await pause(20)
  expect(asked).toEqual(['a.test'])
})

test('this machine is found by its name', async () => {
  expect(await lookUpName('localhost')).toContainEqual(
    expect.stringMatching(/^(?:127\.0\.0\.1|::1)$/),
  )
})
