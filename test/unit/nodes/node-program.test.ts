/** What the panel writes to the node program and what it takes from it. */
import { describe, expect, test } from 'vitest'
import { nodeProgram } from '#src/integrations/nodes/program.ts'
import { sha256Hex } from '#src/lib/crypto.ts'
import { OTHER_UUID, UUID } from '#test/fixtures/lists/samples.ts'

const AUTH = 'A-_'.repeat(14)
const SHA = 'a'.repeat(64)

/** A program whose shell gives this answer, and what it was asked. */
function answering(answer: object, node = '') {
  const calls: { words: string[]; input: string }[] = []
  const program = nodeProgram(async (words, input) => {
    calls.push({ words, input })
    return JSON.stringify({ ok: true, ...answer })
  }, node)
  return { program, calls }
}

const STATUS = {
  ...{ owner: 'p', config: '', clients: SHA, count: 1, live: true, reading: 'r' },
  core: { up: true, version: '26.7.28', uptime_s: 1, epoch: 'e' },
  counters: [[UUID, 1, 2]],
}

test('a client with a Hysteria password goes as four fields and comes back as one value', async () => {
  const { program, calls } = answering({
    clients: SHA,
    added: 2,
    removed: 1,
    live: true,
    dropped: 0,
  })
  const add: [string, string][] = [
    [UUID, `n1 ${AUTH}`],
    [OTHER_UUID, 'n1'],
  ]
  await program.apply({
    owner: 'p',
    program: 2,
    from: 'any',
    to: '',
    force: false,
    add,
    remove: [UUID],
  })
  expect(calls[0]?.input.split('\n').slice(1)).toEqual([
    `["-","${UUID}"]`,
    `["+","${UUID}","n1","${AUTH}"]`,
    `["+","${OTHER_UUID}","n1"]`,
    '',
  ])
  const withPassword = [UUID, 'n1', AUTH]
  const lines = [withPassword, [OTHER_UUID, 'n1']]
  const listed = await answering({ clients: SHA, lines }).program.list()
  expect(listed.lines).toEqual(add)
})

test('a status without Hysteria, of an older program too, says null', async () => {
  for (const answer of [STATUS, { ...STATUS, hysteria: null }]) {
    expect((await answering(answer).program.status('', 1000)).hysteria).toBe(null)
  }
})

test.each([
  [{}, false],
  [{ hop: false }, false],
  [{ hop: true }, true],
])('a status with %j of Hysteria says whether its ports are redirected', async (said, hop) => {
  const hysteria = { config: SHA, up: true, epoch: 'e', counters: [], ...said }
  const { program } = answering({ ...STATUS, hysteria })
  expect((await program.status('', 1000)).hysteria?.hop).toBe(hop)
  expect(await answering(said).program.hysteria({ owner: 'p', program: 2 }, '')).toBe(hop)
})

test.each([
  { config: SHA, up: true, epoch: 'e', hop: 'yes', counters: [] },
  { config: SHA, up: true, epoch: 'e', counters: [[UUID, -1, 2]] },
  { config: SHA, up: true, epoch: 'e', counters: [[UUID, 1.5, 2]] },
  { config: SHA, up: true, epoch: 'e', counters: [['x', 1, 2]] },
  { config: 'x', up: true, epoch: 'e', counters: [] },
  { up: true },
])('a status with nonsense about Hysteria %j is garbage as a whole', async (hysteria) => {
  const { program } = answering({ ...STATUS, hysteria })
  await expect(program.status('', 1000)).rejects.toMatchObject({ failure: 'garbage' })
})

test('a reading that is no word, as earlier versions stored it, is asked for as none', async () => {
  const { program, calls } = answering(STATUS)
  for (const reading of ['', '"', 'a b', 'a\n', 'x'.repeat(201), '0']) {
    await program.status(reading, 1000)
  }
  expect(calls.map(({ words }) => words[1])).toEqual([...Array(5).fill('none'), '0'])
})

test('the configuration of Hysteria has the frame of the other one; none at all is no lines', async () => {
  const { program, calls } = answering({})
  await program.hysteria({ owner: 'p', program: 2 }, 'a\nb\n')
  await program.hysteria({ owner: 'p', program: 2 }, '')
  expect(calls.map(({ words, input }) => [words, input])).toEqual([
    [['hysteria'], `{"owner":"p","config":"${sha256Hex('a\nb\n')}","lines":2}\na\nb\n`],
    [['hysteria'], `{"owner":"p","config":"${sha256Hex('')}","lines":0}\n`],
  ])
})

describe('a node that has a name', () => {
  const change = { from: 'any', to: '', force: false, add: [], remove: [UUID] }
  const applied = { clients: SHA, added: 0, removed: 1, live: true, dropped: 0 }

  test('is meant by it in every change, unless it runs program 1', async () => {
    for (const program of [1, 2]) {
      const name = program === 1 ? {} : { node: 'far' }
      const { program: far, calls } = answering(applied, 'far')
      await far.apply({ owner: 'p', program, ...change })
      await far.configure({ owner: 'p', program }, '')
      await far.hysteria({ owner: 'p', program }, '')
      const headers = calls.map(({ input }) => JSON.parse(input.split('\n')[0] as string))
      for (const header of headers) expect(header).toMatchObject({ owner: 'p', ...name })
      expect(headers.every((header) => 'node' in header === program > 1)).toBe(true)
    }
  })

  test.each([
    [{ program: 2, node: 'far' }, null],
    [{ program: 2, node: 'near' }, 'the server at its address is the node near'],
    [
      { program: 2 },
      'its server does not know which node it is: have a new install command given out and run it there',
    ],
    [{}, null],
  ])('is refused by another name: %j', async (said, message) => {
    const status = answering({ ...STATUS, ...said }, 'far').program.status('', 1000)
    if (message === null) expect(await status).toMatchObject({ owner: 'p' })
    else await expect(status).rejects.toMatchObject({ failure: 'other-node', message })
  })

  test('retires under its name, and without one where the program knows none', async () => {
    const { program, calls } = answering({}, 'far')
    await program.retire('p', 1000)
    expect(calls.map(({ words }) => words)).toEqual([['retire', 'p', 'far']])
    const asked: string[][] = []
    const former = nodeProgram(async (words) => {
      asked.push(words)
      return JSON.stringify(
        words.length === 2 ? { ok: true } : { ok: false, error: 'unknown-verb' },
      )
    }, 'far')
    await former.retire('p', 1000)
    expect(asked).toEqual([
      ['retire', 'p', 'far'],
      ['retire', 'p'],
    ])
  })
})

test('the local core has no name, and what has one is not the local core', async () => {
  const status = answering({ ...STATUS, program: 2, node: 'far' }).program.status('', 1000)
  await expect(status).rejects.toMatchObject({ failure: 'other-node' })
})
