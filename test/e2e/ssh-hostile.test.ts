/** Servers that mean to hold up the panel by what they offer and send: the process goes on, and gives them up; so do other nodes' calls. */
import { readFileSync } from 'node:fs'
import { afterEach, describe, expect, test } from 'vitest'
import { generateManagementKey } from '#src/integrations/nodes/management-key.ts'
import { pause } from '#src/lib/pause.ts'
import { RUNTIMES, type Runtime } from '#test/support/drivers/process.ts'
import { type Driver, startDriver } from '#test/support/drivers/ssh-drivers.ts'
import {
  type HostileServer,
  startFloodServer,
  startGroupServer,
  startPiecesServer,
  startTalkativeServer,
} from '#test/support/fakes/hostile-ssh.ts'
import { startSoundServer } from '#test/support/fakes/sound-ssh.ts'

const management = await generateManagementKey()
const hostKey = (await generateManagementKey()).privateKey
/** The prime that a server sends takes 3 s to look at, a flood 20 s at a time. */
const LONGEST_WAIT_MS = 1000
/** Other nodes' calls have their turn in the thread between a hostile server's. */
const LONGEST_CALL_MS = 3000

let server: HostileServer
let other: Awaited<ReturnType<typeof startSoundServer>>
let node: Driver
afterEach(() => {
  node.end()
  server.close()
  other.close()
})

const memoryOf = (pid: number) =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024

/** A process that knows the hostile server, and a sound one, with which it has a connection. */
async function begin(runtime: Runtime): Promise<void> {
  other = await startSoundServer()
  node = startDriver(runtime, [server.port, other.port], management.privateKey)
  expect(await node.run('echo x', { node: 1 })).toMatchObject({ length: 100 })
}

/** Asks the node for a word, and for how long the process was held up meanwhile, in the worst case, and a call to another node took. */
async function watch({ timeoutMs = 6000, input = 0 } = {}) {
  await node.lagMs()
  const call = node.run('echo x', { timeoutMs, input })
  let isOver = false
  void call.then(() => {
    isOver = true
  })
  let longestMs = 0
  let mostMb = 0
  let callMs = 0
  for (let more = 20; more > 0; more -= isOver ? 1 : 0) {
    longestMs = Math.max(longestMs, await node.lagMs())
    mostMb = Math.max(mostMb, memoryOf(node.pid))
    const { length, ms } = await node.run('echo x', { node: 1 })
    expect(length).toBe(100)
    callMs = Math.max(callMs, ms)
    await pause(20)
  }
  return { ...(await call), longestMs, mostMb, callMs }
}

type Seen = Awaited<ReturnType<typeof watch>>

function expectUnimpressed(
  runtime: Runtime,
  { longestMs, callMs, mostMb }: Seen,
  mb: number,
): void {
  console.log(
    `${runtime}: ${server.sent()} requests, held up ${longestMs | 0} ms, others' calls ${callMs | 0} ms, ${mostMb | 0} MB`,
  )
  expect(longestMs).toBeLessThan(LONGEST_WAIT_MS)
  expect(callMs).toBeLessThan(LONGEST_CALL_MS)
  expect(mostMb).toBeLessThan(mb)
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
    expectUnimpressed(runtime, seen, 250)
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
    expectUnimpressed(runtime, seen, 250)
    expect(server.sent()).toBeGreaterThan(1000)
  })

  test('a long answer pays for no flood after it', async () => {
    server = await startFloodServer(hostKey, { answerBytes: 3_000_000 })
    await begin(runtime)
    expect(await node.run('echo x')).toMatchObject({ length: 3_000_000 })
    await pause(500)
    const seen = await watch({ timeoutMs: 15_000 })
    expectUnimpressed(runtime, seen, 350)
    // It was cut off: another connection was opened, and answered.
    expect(seen).toMatchObject({ length: 3_000_000 })
  })

  test('requests beside an answer are paid for by no answer', async () => {
    server = await startPiecesServer(hostKey, {
      ...{ pieceBytes: 1024, requests: 60, answerBytes: 16_000_000 },
    })
    await begin(runtime)
    const seen = await watch({ timeoutMs: 15_000 })
    expect(seen.failure).toBe('unreachable')
    expectUnimpressed(runtime, seen, 250)
    expect(server.sent()).toBeGreaterThan(1000)
    expect(server.sent()).toBeLessThan(100_000)
  })

  test('as many as may be hold up nobody', async () => {
    server = await startPiecesServer(hostKey, {
      ...{ pieceBytes: 1024, requests: 8, answerBytes: 16_000_000 },
    })
    await begin(runtime)
    const seen = await watch({ timeoutMs: 10_000 })
    expectUnimpressed(runtime, seen, 350)
    expect(server.sent()).toBeGreaterThan(5000)
  })

  test('an answer in packets of a few bytes costs what it is long, or is cut off', async () => {
    server = await startPiecesServer(hostKey, { pieceBytes: 12, answerBytes: 16_000_000 })
    await begin(runtime)
    const seen = await watch({ timeoutMs: 10_000 })
    expect(seen.failure).toBe('unreachable')
    expectUnimpressed(runtime, seen, 250)
    server.close()
    node.end()
    other.close()
    server = await startPiecesServer(hostKey, { pieceBytes: 150, answerBytes: 4_000_000 })
    await begin(runtime)
    const whole = await watch({ timeoutMs: 30_000 })
    expect(whole).toMatchObject({ length: 4_000_000 })
    expectUnimpressed(runtime, whole, 350)
  })

  test('who takes input in pieces of nothing is given none', async () => {
    server = await startPiecesServer(hostKey, { pieceBytes: 1, answerBytes: 1, packetBytes: 0 })
    await begin(runtime)
    const seen = await watch({ input: 100_000 })
    expect(seen.failure).toBe('garbage')
    expectUnimpressed(runtime, seen, 250)
  })

  test.each(['before', 'behind'] as const)(
    'a complaint after the end of all that is said, %s the answer, ends no thread',
    async (when) => {
      server = await startTalkativeServer(hostKey, when)
      await begin(runtime)
      const seen = await watch({ timeoutMs: 1000 })
      expect(seen.failure).toMatch(/unreachable|timeout/)
      expect(server.sent()).toBeGreaterThan(0)
      expect((await node.state()).log).toEqual([])
    },
  )
})
