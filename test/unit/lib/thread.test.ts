/** Threads that end when they are asked to: also while they load the driver, where an end by force aborts the whole process. */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'

const ROOT = join(import.meta.dirname, '..', '..', '..')

/** Asks threads to leave at moments of their load, in a process of its own. */
const SCRIPT = `
  const { startThread } = await import('${ROOT}/src/lib/thread.ts')
  for (let times = 0; times < 60; times++) {
    const { worker, leave } = startThread('${ROOT}/test/support/fakes/loading-thread.ts', {})
    worker.on('error', (error) => { throw error })
    await new Promise((resolve) => worker.once('message', resolve))
    await new Promise((resolve) => setTimeout(resolve, times % 12))
    await leave()
  }
  console.log('all gone')
`

/** Ends while a thread reads for seconds (test/support/fakes/stuck-reads.ts), or while it leaves. */
const END = `
  const { endProcess, startThread } = await import('${ROOT}/src/lib/thread.ts')
  process.on('SIGTERM', () => console.log('heard'))
  const { worker, leave } = startThread('${ROOT}/test/support/fakes/stuck-reads.ts', {})
  const answered = new Promise((resolve) => worker.once('message', resolve))
  worker.postMessage({ name: 'gifts', input: [] })
  await answered
  if (process.argv[2] === 'reads') {
    worker.postMessage({ name: 'payments', input: [] })
    await new Promise((resolve) => setTimeout(resolve, 500))
  } else void leave()
  await endProcess(3)
`

function run(source: string, ...args: string[]) {
  const folder = mkdtempSync(join(tmpdir(), 'subpanel-thread-'))
  const script = join(folder, 'script.mjs')
  writeFileSync(script, source)
  const ended = spawnSync(process.execPath, [script, ...args], { encoding: 'utf8', cwd: ROOT })
  rmSync(folder, { recursive: true })
  return ended
}

test('a process ends while a thread reads, and with its code when none does', () => {
  const byNode = { signal: 'SIGTERM', stdout: '' }
  expect(run(END, 'reads')).toMatchObject(process.versions.bun ? { status: 3 } : byNode)
  expect(run(END, 'left')).toMatchObject({ signal: null, status: 3, stdout: '' })
})

test('a thread that is ended while it loads the driver takes nobody with it', () => {
  expect(run(SCRIPT)).toMatchObject({ status: 0, stdout: 'all gone\n' })
}, 60_000)
