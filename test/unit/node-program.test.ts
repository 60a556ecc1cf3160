/** What the panel writes to the node program and what it takes from it. */
import { expect, test } from 'vitest'
import { nodeProgram } from '#src/integrations/nodes/program.ts'
import { sha256Hex } from '#src/lib/crypto.ts'
import { OTHER_UUID, UUID } from '#test/fixtures/lists/samples.ts'

const AUTH = 'A-_'.repeat(14)
const SHA = 'a'.repeat(64)

/** A program whose shell gives this answer, and what it was asked. */
function answering(answer: object) {
  const calls: { words: string[]; input: string }[] = []
  const program = nodeProgram(async (words, input) => {
    calls.push({ words, input })
    return JSON.stringify({ ok: true, ...answer })
  })
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
  await program.apply({ owner: 'p', from: 'any', to: '', force: false, add, remove: [UUID] })
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
  await program.hysteria('p', 'a\nb\n')
  await program.hysteria('p', '')
  expect(calls.map(({ words, input }) => [words, input])).toEqual([
    [['hysteria'], `{"owner":"p","config":"${sha256Hex('a\nb\n')}","lines":2}\na\nb\n`],
    [['hysteria'], `{"owner":"p","config":"${sha256Hex('')}","lines":0}\n`],
  ])
})
