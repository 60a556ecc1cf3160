/** Servers that mean to hold up the panel by what they offer and send: the process goes on, and gives them up. */
import { readFileSync } from 'node:fs'
import { afterEach, describe, expect, test } from 'vitest'
import { generateManagementKey } from '#src/integrations/nodes/management-key.ts'
import { pause } from '#src/lib/pause.ts'
import {
  type HostileServer,
  startFloodServer,
  startGroupServer,
} from '#test/support/hostile-ssh.ts'
import { RUNTIMES, type Runtime } from '#test/support/process.ts'
import { type Driver, startDriver } from '#test/support/ssh-drivers.ts'

const management = await generateManagementKey()
const hostKey = (await generateManagementKey()).privateKey
/** The prime that a server sends takes 3 s to look at, a flood 20 s at a time. */
const LONGEST_WAIT_MS = 1000

let server: HostileServer
let node: Driver
afterEach(() => {
  node.end()
  server.close()
})

const memoryOf = (pid: number) =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024

async function begin(runtime: Runtime): Promise<void> {
  node = startDriver(runtime, server.port, management.privateKey)
  await node.state()
}

/** Asks the node for a word, and how long the process took for anything else meanwhile, in the worst case. */
async function watch() {
  const call = node.run('echo x', { timeoutMs: 6000 })
  let isOver = false
  void call.then(() => {
    isOver = true
  })
  let longestMs = 0
  let mostMb = 0
  for (let more = 20; more > 0; more -= isOver ? 1 : 0) {
    const begun = performance.now()
    await node.state()
    longestMs = Math.max(longestMs, performance.now() - begun)
    mostMb = Math.max(mostMb, memoryOf(node.pid))
    await pause(50)
  }
  return { ...(await call), longestMs, mostMb }
}

describe.each(RUNTIMES)('on %s', (runtime) => {
  test('who may choose the numbers of the key exchange is not let choose them', async () => {
    server = await startGroupServer()
    await begin(runtime)
    const seen = await watch()
    expect(seen).toMatchObject({
      failure: 'unreachable',
      message: expect.stringMatching(/key exchange|algorithm/i),
    })
    expect(seen.longestMs).toBeLessThan(LONGEST_WAIT_MS)
    expect(server.sent()).toBe(0)
  })

  test('nothing is unpacked', async () => {
    server = await startFloodServer(hostKey, { compress: 'zlib' })
    await begin(runtime)
    const seen = await watch()
    expect(seen).toMatchObject({
      failure: 'unreachable',
      message: expect.stringMatching(/compress/i),
    })
    expect(server.sent()).toBe(0)
  })

  test('who asks on and on and reads no answer is cut off', async () => {
    server = await startFloodServer(hostKey)
    await begin(runtime)
    const seen = await watch()
    expect(seen.failure).toBe('unreachable')
    expect(seen.longestMs).toBeLessThan(LONGEST_WAIT_MS)
    expect(seen.mostMb).toBeLessThan(250)
    expect(server.sent()).toBeGreaterThan(1000)
    console.log(
      `${runtime}: ${server.sent()} requests, ${seen.longestMs | 0} ms, ${seen.mostMb | 0} MB`,
    )
  })

  test('a long answer pays for no flood after it', async () => {
    server = await startFloodServer(hostKey, { answerBytes: 3_000_000 })
    await begin(runtime)
    expect(await node.run('echo x')).toMatchObject({ length: 3_000_000 })
    await pause(500)
    const seen = await watch()
    expect(seen.longestMs).toBeLessThan(LONGEST_WAIT_MS)
    expect(seen.mostMb).toBeLessThan(350)
    // It was cut off: another connection was opened, and answered.
    expect(seen).toMatchObject({ length: 3_000_000 })
    console.log(
      `${runtime}: ${server.sent()} requests, ${seen.longestMs | 0} ms, ${seen.mostMb | 0} MB`,
    )
  })
})
