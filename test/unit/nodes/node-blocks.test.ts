/** The verbs of the node program by which a caller who keeps no copy finds where a node differs, with each awk that is here. */
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { nodeProgram } from '#src/integrations/nodes/program.ts'
import { localShell, type NodeShell } from '#src/integrations/nodes/shell.ts'
import { sha256Hex } from '#src/lib/crypto.ts'
import type { NodeProgram } from '#src/ports/node-program.ts'
import { ROOT } from '#test/support/drivers/process.ts'

const SCRIPT = join(ROOT, 'templates/node-agent.sh')
const AUTH = 'A-_'.repeat(14)

const pathOf = (tool: string) =>
  spawnSync('sh', ['-c', `command -v ${tool}`], { encoding: 'utf8' }).stdout.trim()
const AWKS = ['awk', 'gawk', 'mawk'].filter((name) => pathOf(name) !== '')

const uuidOf = (block: string, n: number) =>
  `${block}${n.toString(16).padStart(6, '0')}-0000-4000-8000-000000000000`
const nameOf = (i: number) => i.toString(16).padStart(2, '0')
const ALL = Array.from({ length: 256 }, (_, i) => nameOf(i))

let dir: string
beforeEach(() => {
  dir = join(mkdtempSync(join(tmpdir(), 'node-blocks-')), 'a b')
  mkdirSync(join(dir, 'bin'), { recursive: true })
  writeFileSync(`${dir}.conf`, 'API_SOCK=/nonexistent\nXRAY_BIN=/nonexistent\n')
})
afterEach(() => rmSync(join(dir, '..'), { recursive: true, force: true }))

const textOf = (lines: string[]) => lines.map((line) => `${line}\n`).join('')
const put = (lines: string[]) => writeFileSync(join(dir, 'clients'), textOf(lines.sort()))
const linesOf = (listed: { lines: [string, string][] }) =>
  listed.lines.map(([uuid, value]) => `${uuid} ${value}`)

test('who takes nothing of a long list keeps no other call waiting', () => {
  put(Array.from({ length: 5000 }, (_, n) => `${uuidOf('0a', n)} n1`))
  const script = 'bash "$0" list | { read -r -n 1; timeout 10 bash "$0" blocks; }'
  const { stdout } = spawnSync('bash', ['-c', script, SCRIPT], {
    encoding: 'utf8',
    env: { PATH: process.env.PATH, SUBPANEL_NODE_DIR: dir, SUBPANEL_NODE_CONF: `${dir}.conf` },
  })
  expect(JSON.parse(stdout)).toMatchObject({ ok: true, count: 5000 })
})

describe.each(AWKS)('with %s', (awk) => {
  let shell: NodeShell
  let program: NodeProgram
  beforeEach(() => {
    symlinkSync(pathOf(awk), join(dir, 'bin/awk'))
    const paths = { directory: dir, conf: `${dir}.conf` }
    shell = localShell(SCRIPT, paths, `${join(dir, 'bin')}:${process.env.PATH}`)
    program = nodeProgram(shell, '')
  })

  test('a node without clients has 256 empty blocks', async () => {
    const empty = { clients: sha256Hex(''), count: 0, blocks: ALL.map(() => '') }
    expect(await program.blocks()).toMatchObject(empty)
    expect((await program.list(['00', 'ff'])).lines).toEqual([])
  })

  test('a block is the SHA-256 of its own lines, and list gives the lines of those that are named', async () => {
    const values = ['de1', `n2 auth=${AUTH}`]
    const lines = ['00', '09', '0a', '7f', 'ff'].flatMap((block) =>
      Array.from({ length: 3 }, (_, i) => `${uuidOf(block, i)} ${values[i % 2]}`),
    )
    put(lines)
    const clients = sha256Hex(textOf(lines))
    const answer = await program.blocks()
    expect(answer).toMatchObject({ clients, count: 15 })
    const own = (block: string) => lines.filter((line) => line.startsWith(block))
    const wanted = ALL.map((block) => (own(block).length > 0 ? sha256Hex(textOf(own(block))) : ''))
    expect(answer.blocks).toEqual(wanted)

    const some = await program.list(['7f', '0a', '33'])
    expect(some.clients).toBe(clients)
    expect(linesOf(some)).toEqual([...own('0a'), ...own('7f')])
    expect(linesOf(await program.list(ALL))).toEqual(lines)
    expect(linesOf(await program.list())).toEqual(lines)
  })

  test('all blocks at once', async () => {
    const lines = ALL.flatMap((block) => [0, 1].map((i) => `${uuidOf(block, i)} n1`))
    put(lines)
    const { blocks } = await program.blocks()
    expect(blocks).toEqual(
      ALL.map((block) => sha256Hex(textOf([0, 1].map((i) => `${uuidOf(block, i)} n1`)))),
    )
  })

  test.each([['0'], ['0A'], ['000'], ['g0'], ['00', 'x'], [...ALL, '00']])(
    'list of %j … is refused',
    async (...blocks) => {
      await expect(program.list(blocks)).rejects.toMatchObject({ failure: 'bad-input' })
    },
  )

  test('version and status say that it is program 2', async () => {
    expect(JSON.parse(await shell(['version'], '', 10_000))).toMatchObject({ program: 2 })
    expect((await program.status('', 10_000)).program).toBe(2)
  })
})

test('a program that says nothing of its number is the first one', async () => {
  const core = { up: false, version: null, uptime_s: null, epoch: null }
  const answer = { owner: '', config: '', clients: '', count: 0, live: false, core, counters: [] }
  const program = nodeProgram(async () => JSON.stringify({ ok: true, reading: '0', ...answer }), '')
  expect((await program.status('', 1000)).program).toBe(1)
})

test.each([
  { blocks: ALL.slice(1).map(() => '') },
  { blocks: [...ALL, ''].map(() => '') },
  { blocks: ALL.map(() => 'x') },
  { blocks: ALL.map(() => 'A'.repeat(64)) },
  { blocks: ALL.map(() => null) },
  { blocks: {} },
  {},
])('blocks that cannot be are garbage as a whole', async (answer) => {
  const program = nodeProgram(
    async () => JSON.stringify({ ok: true, clients: 'a'.repeat(64), count: 1, ...answer }),
    '',
  )
  await expect(program.blocks()).rejects.toMatchObject({ failure: 'garbage' })
})
