/** Lists that are written once for all on the same nodes: what each client gets is what would be written for them. */
import { describe, expect, test } from 'vitest'
import { type ListSource, listEntries } from '#src/domain/lists/entries.ts'
import { LIST_FORMATS, writeList } from '#src/domain/lists/formats.ts'
import { createSharedLists } from '#src/domain/lists/shared-lists.ts'
import {
  ALL_TRANSPORTS,
  hostedSource,
  listSource,
  OTHER_UUID,
  UUID,
  WITH_GRPC,
} from '#test/fixtures/lists/samples.ts'
import { unchecked } from '#test/support/unchecked.ts'

const OPTIONS = { brandName: 'Subpanel', singboxVersion: null, wsAndXhttp: true }
const FORMATS = [...LIST_FORMATS, 'xray-array'] as const
const DISPLACED = '00000000-0000-4000-8000-00000000000f'

/** Of one client on nodes of every kind, which have Hysteria passwords of their own. */
const sourcesOf = (uuid: string): ListSource[] => [
  { ...hostedSource(undefined, { code: 'h1', hysteriaPassword: 'first' }), uuid: unchecked(uuid) },
  listSource({ code: 'g1', transports: WITH_GRPC, hysteriaPassword: 'second' }, uuid),
  listSource({ code: 'a1', transports: ALL_TRANSPORTS, hysteriaPassword: 'second' }, uuid),
  listSource({ code: 's1', sharedUuid: DISPLACED }, uuid),
  listSource({ code: 'r1', label: 'Только REALITY' }, uuid),
]

const writer = (format: (typeof FORMATS)[number], calls: ListSource[][] = []) => {
  const write = (sources: ListSource[]) => {
    calls.push(sources)
    return writeList(format, listEntries(sources), OPTIONS)
  }
  return write
}

describe.each(FORMATS)('%s', (format) => {
  test.each([
    ['nodes of every kind', sourcesOf],
    ['nodes without Hysteria', (uuid: string) => sourcesOf(uuid).slice(-2)],
    ['a node with one id for all', (uuid: string) => sourcesOf(uuid).slice(-2, -1)],
    ['no nodes', () => []],
  ])('of %s is the one of each client', (_, own) => {
    const calls: ListSource[][] = []
    const write = writer(format, calls)
    const shared = createSharedLists()
    const from = {}
    for (const uuid of [UUID, OTHER_UUID, UUID]) {
      const sources = own(uuid)
      expect(shared(from, format, sources, write)).toBe(writer(format)(sources))
    }
    // Written once, and for none of them.
    if (own('').length > 0) expect(calls).toHaveLength(1)
    expect(JSON.stringify(calls)).not.toMatch(`${UUID}|${OTHER_UUID}`)
  })
})

describe('what is kept', () => {
  const shared = createSharedLists()
  const [from, later] = [{}, {}]
  const calls: ListSource[][] = []
  const write = writer('links', calls)
  const ask = (source: object, how: string, ...codes: string[]) => {
    const before = calls.length
    const sources = codes.map((code) => listSource({ code, label: code }))
    expect(shared(source, how, sources, write)).toBe(writer('links')(sources))
    return calls.length > before ? 'written' : 'kept'
  }

  test('is another for other nodes, for another order of them, and for another form', () => {
    expect(ask(from, 'a', 'n1', 'n2')).toBe('written')
    expect(ask(from, 'a', 'n1', 'n2')).toBe('kept')
    expect(ask(from, 'a', 'n2', 'n1')).toBe('written')
    expect(ask(from, 'a', 'n1')).toBe('written')
    expect(ask(from, 'b', 'n1')).toBe('written')
    expect(ask(from, 'a', 'n1', 'n2')).toBe('kept')
  })

  test('is forgotten with what it is made of', () => {
    expect(ask(from, 'a', 'n1')).toBe('kept')
    expect(ask(later, 'a', 'n1')).toBe('written')
    expect(ask(from, 'a', 'n1')).toBe('written')
  })

  test('is bounded: who names ever new versions gets lists, and memory stays', () => {
    const large = () => 'x'.repeat(1024 ** 2)
    const bounded = createSharedLists()
    const sources = [listSource()]
    let written = 0
    const count = () => {
      written++
      return large()
    }
    for (let version = 0; version < 6; version++) bounded(from, `${version}`, sources, count)
    bounded(from, '5', sources, count)
    expect(written).toBe(6)
    bounded(from, '0', sources, count)
    expect(written).toBe(7)
  })
})
