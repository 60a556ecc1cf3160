/** Names of servers for which nobody answers hold up no look-up of a gateway. */
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { RUNTIMES, runtimeBinary } from '#test/support/drivers/process.ts'

const DRIVER = join(import.meta.dirname, '../support/drivers/silent-names.ts')
const SECONDS = 8
const LONGEST_MS = 2000

test.each(RUNTIMES)('orders are quick while ten names do not answer: %s', async (runtime) => {
  const own = ['--net', '--mount', runtimeBinary('node'), DRIVER, runtime, String(SECONDS)]
  const { stdout } = await promisify(execFile)('unshare', own, { timeout: 60_000 })
  const orders: [status: number, ms: number][] = JSON.parse(stdout)
  expect(orders).toHaveLength(2 * SECONDS)
  expect(orders.filter(([status, ms]) => status !== 200 || ms > LONGEST_MS)).toEqual([])
})
