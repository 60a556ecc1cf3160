import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { nodeProgram } from '#src/integrations/nodes/program.ts'
import { endedWith, localShell } from '#src/integrations/nodes/shell.ts'
import { createWorld } from '#test/support/worlds/world.ts'

let directory: string
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'subpanel-shell-'))
})
afterEach(() => rmSync(directory, { recursive: true }))

/** A program that notes when it begins and ends. */
function shellOf(seconds: number) {
  const program = join(directory, 'program.sh')
  const turns = join(directory, 'turns')
  writeFileSync(program, `echo + >> ${turns}; sleep ${seconds}; echo - >> ${turns}; echo done\n`)
  const paths = { directory, conf: join(directory, 'node.conf') }
  return { run: localShell(program, paths, process.env.PATH ?? ''), turns }
}

/** How many programs ran, and how many at a time at most. */
function countTurns(turns: string) {
  let now = 0
  let most = 0
  let all = 0
  for (const line of readFileSync(turns, 'utf8').split('\n')) {
    if (line === '+') all++
    now += line === '+' ? 1 : line === '-' ? -1 : 0
    most = Math.max(most, now)
  }
  return { most, all }
}

test('eight programs run on a machine at a time, the others wait', async () => {
  // Long enough for a second one to begin meanwhile on a busy machine.
  const { run, turns } = shellOf(0.3)
  const answers = await Promise.all(Array.from({ length: 30 }, () => run(['status'], '', 60_000)))
  expect(new Set(answers)).toEqual(new Set(['done\n']))
  const { most, all } = countTurns(turns)
  expect(all).toBe(30)
  expect(most).toBeGreaterThan(1)
  expect(most).toBeLessThanOrEqual(8)
})

test('who has waited for as long as a call may take is not run any more', async () => {
  const { run, turns } = shellOf(5)
  const calls = Array.from({ length: 30 }, () => run(['status'], '', 800))
  const outcomes = await Promise.allSettled(calls)
  for (const outcome of outcomes) {
    expect(outcome).toMatchObject({ status: 'rejected', reason: { failure: 'timeout' } })
  }
  // A few have a moment left when those before them are killed.
  expect(countTurns(turns).all).toBeLessThan(30)
})

test('of what a program ended with and complained of a line of ASCII is told', () => {
  expect(endedWith(1, 'no\nbash').message).toBe('the node program ended with 1: no bash')
  const signal = `SIG\u202e\n\u001b[31m<b>${'я!'.repeat(10_000)}`
  expect(endedWith(signal, signal.repeat(10)).message).toMatch(/^[ -~]{1,400}$/)
})

test('a server is measured once for all who look at it meanwhile', async () => {
  let calls = 0
  let answer = () => {}
  const measured = new Promise<void>((resolve) => {
    answer = resolve
  })
  const said = { mem_total_mb: 1, mem_used_mb: 1, uptime_s: 1, load1: 0, cpu_count: 1 }
  const program = nodeProgram(async () => {
    calls++
    await measured
    return `${JSON.stringify({ ...said, core_version: null, core_up: true, clients: 3 })}\n`
  }, '')
  const all = Array.from({ length: 50 }, () => program.metrics(1000))
  answer()
  for (const one of await Promise.all(all)) expect(one.clients).toBe(3)
  expect(calls).toBe(1)
  await program.metrics(1000)
  expect(calls).toBe(2)
})

test('counters are read once for all who look at the traffic meanwhile', async () => {
  const w = await createWorld()
  const before = w.node.calls.length
  const statuses = () => w.node.calls.slice(before).filter(({ verb }) => verb === 'status').length
  await Promise.all(Array.from({ length: 50 }, () => w.s.nodeSync.readTraffic(1000)))
  expect(statuses()).toBe(1)
  // Who looks at one node wants to see what it has moved until then: what was being read already does not count.
  await Promise.all(Array.from({ length: 50 }, () => w.s.nodeSync.readNode('de1', 1000)))
  expect(statuses()).toBe(3)
  w.close()
})
