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
    const { worker, leave } = startThread('${ROOT}/test/support/loading-thread.ts', {})
    worker.on('error', (error) => { throw error })
    await new Promise((resolve) => worker.once('message', resolve))
    await new Promise((resolve) => setTimeout(resolve, times % 12))
    await leave()
  }
  console.log('all gone')
`

test('a thread that is ended while it loads the driver takes nobody with it', () => {
  const folder = mkdtempSync(join(tmpdir(), 'subpanel-thread-'))
  const script = join(folder, 'script.mjs')
  writeFileSync(script, SCRIPT)
  const ended = spawnSync(process.execPath, [script], { encoding: 'utf8', cwd: ROOT })
  rmSync(folder, { recursive: true })
  expect(ended).toMatchObject({ status: 0, stdout: 'all gone\n' })
}, 60_000)
