/** The connection to managed nodes against a real sshd: answers, limits, faults, host keys. */
import { copyFileSync, readFileSync } from 'node:fs'
import { createServer, type Server } from 'node:net'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { generateManagementKey } from '#src/integrations/nodes/management-key.ts'
import { sha256Hex } from '#src/lib/crypto.ts'
import { pause } from '#src/lib/pause.ts'
import { ROOT, RUNTIMES, type Runtime } from '#test/support/drivers/process.ts'
import { type Driver, startDriver } from '#test/support/drivers/ssh-drivers.ts'
import { until } from '#test/support/labs/lab.ts'
import { createSshServer, type SshServer } from '#test/support/labs/ssh-server.ts'

const management = await generateManagementKey()
const stranger = await generateManagementKey()

const times = <T>(count: number, make: () => Promise<T>) =>
  Promise.all(Array.from({ length: count }, make))

/** A server that takes connections and never says a word, or ends each at once; counts them. */
async function startFake(port: number, ends: boolean) {
  let connections = 0
  const server: Server = createServer((socket) => {
    connections++
    socket.on('error', () => {})
    if (ends) socket.destroy()
  })
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  return {
    connections: () => connections,
    close: () => new Promise((resolve) => server.close(resolve)),
  }
}

interface Setting {
  runtime: Runtime
  sshd: SshServer
  node: Driver
}

/** A test on both runtimes side by side, each with a server of its own: much of it is waiting. */
function onBoth(name: string, check: (setting: Setting) => Promise<void>): void {
  const runOn = async (runtime: Runtime) => {
    const sshd = await createSshServer(management.publicKey, 'bash $DIR/ssh-node.sh')
    copyFileSync(join(ROOT, 'test/support/fakes/ssh-node.sh'), join(sshd.dir, 'ssh-node.sh'))
    await sshd.start()
    const node = startDriver(runtime, sshd.port, management.privateKey)
    try {
      await check({ runtime, sshd, node })
    } catch (error) {
      if (error instanceof Error) error.message = `on ${runtime}: ${error.message}`
      throw error
    } finally {
      node.end()
      await sshd.close()
    }
  }
  test(name, async () => {
    const outcomes = await Promise.allSettled(RUNTIMES.map(runOn))
    for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason
  })
}

/** How many programs ran at a time at most. */
function atATime(turns: string): number {
  let now = 0
  let most = 0
  for (const line of readFileSync(turns, 'utf8').split('\n')) {
    if (line === '+') most = Math.max(most, ++now)
    if (line === '-') now--
  }
  return most
}

onBoth(
  'answers come over one connection, whole in both directions',
  async ({ runtime, sshd, node }) => {
    expect((await node.state()).loaded).toBe(false)
    expect(await node.run('echo hello 1.2:3')).toMatchObject({ answer: 'hello 1.2:3\n' })
    const sum = await node.run('sum', { input: 3_000_000 })
    expect(sum.answer).toBe(`${sha256Hex('i'.repeat(3_000_000))}  -\n`)
    const out = await node.run('out 8000000')
    expect(out).toMatchObject({ length: 8_000_000, sha: sha256Hex('o'.repeat(8_000_000)) })
    const quick = await times(40, () => node.run('echo x'))
    expect(quick.every(({ answer }) => answer === 'x\n')).toBe(true)
    expect(sshd.logins()).toBe(1)
    const one = await node.run('echo x')
    console.log(
      `${runtime}: 3 MB in ${sum.ms | 0} ms, 8 MB out ${out.ms | 0} ms, a call ${one.ms | 0} ms`,
    )
  },
)

onBoth('a program that fails, dies or writes too much costs its own call', async ({ node }) => {
  const begun = node.run('slow 1')
  expect(await node.run('fail')).toMatchObject({
    failure: 'garbage',
    message: 'the node program ended with 3: a reason',
  })
  expect((await node.run('die')).message).toMatch(/^the node program ended with (137|KILL|SIGKILL)/)
  expect(await begun).toMatchObject({ answer: '' })
  for (const word of ['flood', 'flood-aside']) {
    const long = await node.run(word)
    expect(long).toMatchObject({ failure: 'garbage' })
    expect(long.message).toMatch(/^the answer is longer than/)
  }
  expect(await node.run('echo on')).toMatchObject({ answer: 'on\n' })
  for (const word of ['$(id)', 'a;b', '', 'a\nb', "'", 'ü', 'x'.repeat(201)]) {
    expect(await node.run(`echo ${word}`)).toMatchObject({ failure: 'bad-input' })
  }
})

onBoth(
  'eight programs run at a time, and one that hangs leaves the others alone',
  async ({ sshd, node }) => {
    await times(30, () => node.run('slow 0.1'))
    expect(atATime(join(sshd.dir, 'turns'))).toBe(8)
    const other = node.run('slow 1.5')
    const hung = await times(3, () => node.run('hang', { timeoutMs: 500 }))
    for (const { failure, ms } of hung) {
      expect(failure).toBe('timeout')
      expect(ms).toBeLessThan(1500)
    }
    expect(await other).toMatchObject({ answer: '' })
    expect(sshd.logins()).toBe(1)
    // sshd keeps a session for each of them, ten on a connection: the next calls need another one.
    await times(8, () => node.run('hang', { timeoutMs: 300 }))
    expect(await node.run('echo on')).toMatchObject({ answer: 'on\n' })
    const late = await times(20, () => node.run('hang', { timeoutMs: 700 }))
    expect(Math.max(...late.map(({ ms }) => ms))).toBeLessThan(1700)
  },
)

onBoth(
  'a server that is killed is told at once, and used again as soon as it is back',
  async ({ runtime, sshd, node }) => {
    await node.run('echo x')
    const under = node.run('hang')
    await pause(300)
    const killed = performance.now()
    await sshd.kill()
    expect(await under).toMatchObject({ failure: 'unreachable' })
    expect(performance.now() - killed).toBeLessThan(2000)
    const down = await node.run('echo x')
    expect(down).toMatchObject({ failure: 'unreachable' })
    expect(down.message).toContain(`127.0.0.1:${sshd.port}: ECONNREFUSED`)
    expect(down.ms).toBeLessThan(1500)
    const fake = await startFake(sshd.port, true)
    for (let i = 0; i < 20; i++) {
      expect(await node.run('echo x')).toMatchObject({ failure: 'unreachable' })
      await pause(50)
    }
    expect(fake.connections()).toBeLessThanOrEqual(3)
    await fake.close()
    await sshd.start()
    const back = performance.now()
    await until('it answers', async () => (await node.run('echo x')).answer, 6000)
    console.log(`${runtime}: used again ${(performance.now() - back) | 0} ms after it was back`)
  },
)

onBoth('a restart between two calls is not noticed', async ({ sshd, node }) => {
  await node.run('echo x')
  await sshd.kill()
  await sshd.start()
  expect(await node.run('echo x')).toMatchObject({ answer: 'x\n' })
})

onBoth(
  'a server that hangs holds no call beyond its limit, and is used again when it goes on',
  async ({ runtime, sshd, node }) => {
    await node.run('echo x')
    sshd.freeze()
    const [short, long] = await Promise.all([
      node.run('echo x', { timeoutMs: 1000 }),
      node.run('echo x', { timeoutMs: 4000 }),
    ])
    expect(short).toMatchObject({ failure: 'timeout' })
    expect(short.ms).toBeLessThan(2000)
    expect(long.failure).toMatch(/^(timeout|unreachable)$/)
    expect(long.ms).toBeLessThan(5000)
    sshd.thaw()
    await until('it answers', async () => (await node.run('echo x')).answer, 10_000)
    // Only the kept connection is dead, as after a reboot or a lost entry of a NAT.
    sshd.freeze('sessions')
    const other = await node.run('echo x', { timeoutMs: 5000 })
    expect(other).toMatchObject({ answer: 'x\n' })
    expect(other.ms).toBeLessThan(3500)
    console.log(`${runtime}: past a dead connection in ${other.ms | 0} ms`)
    sshd.thaw()
  },
)

onBoth(
  'a server that takes connections and says nothing is given up after 5 s',
  async ({ sshd, node }) => {
    await sshd.kill()
    const fake = await startFake(sshd.port, false)
    const all = await times(20, () => node.run('echo x', { timeoutMs: 20_000 }))
    expect(Math.max(...all.map(({ ms }) => ms))).toBeLessThan(6000)
    expect(all[0]).toMatchObject({ failure: 'unreachable' })
    expect(all[0]?.message).toContain('no answer in 5 s')
    expect(fake.connections()).toBe(1)
    expect((await node.run('echo x')).ms).toBeLessThan(500)
  },
)

onBoth(
  'a server out of reach is told as such, before the SSH library is loaded',
  async ({ sshd, node }) => {
    await sshd.kill()
    const refused = { failure: 'unreachable', message: expect.stringContaining('ECONNREFUSED') }
    expect(await node.run('echo x')).toMatchObject(refused)
    expect((await node.state()).loaded).toBe(false)
    await sshd.start()
    await until('an answer', async () => (await node.run('echo x')).answer)
    // In the thread of SSH connections, and nowhere else.
    expect(await node.state()).toMatchObject({ loaded: true, isLoadedHere: false })
  },
)

onBoth(
  'the first key is pinned, its type asked for, another one refused',
  async ({ sshd, node }) => {
    await sshd.kill()
    sshd.renewHostKeys('rsa', 'ed25519')
    await sshd.start()
    const [rsa = '', ed25519 = ''] = sshd.hostKeys()
    await node.run('echo x')
    expect((await node.state()).pinned).toEqual([ed25519])
    await node.pin(rsa)
    // The kept connection proved another key than the one that is pinned now.
    expect(await node.run('echo x')).toMatchObject({ answer: 'x\n' })
    expect((await node.state()).pinned).toEqual([rsa])
    expect(sshd.logins()).toBe(2)
    await sshd.kill()
    sshd.renewHostKeys('ed25519')
    await sshd.start()
    const changed = await node.run('echo x')
    expect(changed).toMatchObject({ failure: 'host-key' })
    expect(changed.message).toMatch(/^the server presents another host key, SHA256:\S{43}:/)
    expect(await node.state()).toMatchObject({ pinned: [rsa], refused: sshd.hostKeys() })
    await node.pin('nonsense')
    await pause(1500)
    expect(await node.run('echo x')).toMatchObject({ failure: 'host-key' })
    expect(sshd.logins()).toBe(2)
    await node.pin('nonsense', ...sshd.hostKeys())
    await until('it answers', async () => (await node.run('echo x')).answer)
  },
)

onBoth('a server that does not know the key is told as such', async ({ runtime, sshd }) => {
  const other = startDriver(runtime, sshd.port, stranger.privateKey)
  const refused = await other.run('echo x')
  other.end()
  expect(refused).toMatchObject({ failure: 'unreachable' })
  expect(refused.message).toContain(
    "does not let subpanel in with this installation's management key",
  )
})

onBoth('a closed shell ends its connection and answers no more', async ({ node }) => {
  const under = node.run('hang')
  await node.run('echo x')
  await node.shut()
  expect(await under).toMatchObject({ failure: 'unreachable' })
  expect(await node.run('echo x')).toMatchObject({ failure: 'unreachable' })
})

onBoth('a thread that hangs or dies is replaced, and its calls fail', async ({ sshd, node }) => {
  await node.run('echo x')
  for (const aside of ['hang', 'throw'] as const) {
    const under = node.run('slow 20', { timeoutMs: 20_000 })
    await pause(500)
    void node.aside(aside)
    expect(await under).toMatchObject({
      failure: 'unreachable',
      message:
        'the connections to servers ' +
        (aside === 'hang' ? 'hang' : 'broke down') +
        ' and are made anew',
    })
    await until('an answer', async () => (await node.run('echo on')).answer)
  }
  const { log } = await node.state()
  expect(log.filter((line) => !line.includes('that hung has ended'))).toEqual([
    expect.stringContaining('hangs and is replaced'),
    expect.stringContaining('ended, and is started anew'),
  ])
  expect(sshd.logins()).toBeGreaterThanOrEqual(3)
})
