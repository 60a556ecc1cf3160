/** The thread of SSH connections: what is said to it and asked by it, and what its silence or its end costs. */
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createSshThread, type SshThread } from '#src/integrations/nodes/ssh-thread.ts'
import { packText, unpackText } from '#src/integrations/nodes/ssh-words.ts'
import { createLog } from '#src/lib/log.ts'

const worker = join(import.meta.dirname, '..', '..', 'support', 'fakes', 'stuck-ssh.ts')
const server = { address: '192.0.2.1', port: 22, user: 'subpanel' }

let log: string[]
let pinned: string[]
let thread: SshThread
const start = (options: { hangMs?: number; restMs?: number } = {}) => {
  const lines: string[] = []
  const write = (line: string) => lines.push(line)
  log = lines
  const own = createLog('info', () => new Date(), write)
  thread = createSshThread({ denyPrivate: false, log: own }, { ...options, worker })
}
beforeEach(() => {
  pinned = ['a key']
  start()
})
afterEach(() => thread.close())

const shellOf = (privateKey = async () => 'the private key') =>
  thread.shell({
    server,
    hostKeys: { pinned: () => pinned, admit: async (key) => pinned.includes(key) },
    privateKey,
  })
const broken = { failure: 'unreachable', message: expect.stringContaining('made anew') }

describe('a call', () => {
  test('takes its input and the host keys of its moment along', async () => {
    const shell = shellOf()
    await shell.run(['tell'], '', 5000)
    pinned = ['another one']
    expect(JSON.parse(await shell.run(['tell'], 'input, ü', 5000))).toMatchObject({
      pinned: ['another one'],
      input: 'input, ü',
    })
  })

  test('has what the database knows asked for, and its errors with their codes', async () => {
    expect(JSON.parse(await shellOf().run(['ask'], '', 5000))).toEqual([
      ['a key'],
      true,
      'the private key',
    ])
    const damaged = shellOf(async () => {
      throw Object.assign(new Error('damaged'), { code: 'SQLITE_CORRUPT' })
    })
    expect(JSON.parse(await damaged.run(['ask'], '', 5000))).toContainEqual({
      ...{ failure: null, message: 'damaged', code: 'SQLITE_CORRUPT' },
    })
  })

  test('fails as it failed there', async () => {
    await expect(shellOf().run(['fail'], '', 5000)).rejects.toMatchObject({
      name: 'NodeError',
      failure: 'host-key',
      message: 'another one',
    })
  })

  test('that is not answered is called off', async () => {
    const shell = shellOf()
    await expect(shell.run(['wait'], '', 200)).rejects.toMatchObject({ failure: 'timeout' })
    expect(JSON.parse(await shell.run(['tell'], '', 5000)).heard).toEqual([
      ...['call', 'call-off', 'call'],
    ])
  })

  test('of a closed shell fails, under way and later', async () => {
    const shell = shellOf()
    const under = expect(shell.run(['wait'], '', 5000)).rejects.toMatchObject({
      failure: 'unreachable',
    })
    thread.close()
    await under
    await expect(shell.run(['tell'], '', 5000)).rejects.toMatchObject({ failure: 'unreachable' })
  })
})

describe('a thread that hangs', () => {
  test('is replaced, and its calls fail', async () => {
    start({ hangMs: 500 })
    const [shell, other] = [shellOf(), shellOf()]
    await shell.run(['tell'], '', 5000)
    const under = [shell.run(['hang'], '', 5000), other.run(['wait'], '', 5000)]
    for (const outcome of await Promise.allSettled(under)) {
      expect(outcome).toMatchObject({ reason: broken })
    }
    // Another one: it has heard nothing.
    expect(JSON.parse(await other.run(['tell'], '', 5000)).heard).toEqual(['call'])
    expect(log.join()).toContain('hangs and is replaced')
    await expect.poll(() => log.join(), { timeout: 20_000 }).toContain('that hung has ended')
  })

  test('twice is not replaced a third time before one of them has ended', async () => {
    start({ hangMs: 200 })
    const shell = shellOf()
    for (let times = 0; times < 2; times++) {
      await shell.run(['tell'], '', 5000)
      await expect(shell.run(['hang'], '', 5000)).rejects.toMatchObject(broken)
    }
    await expect(shell.run(['tell'], '', 5000)).rejects.toMatchObject({
      message: 'the connections to servers hang',
    })
    await expect
      .poll(() => shell.run(['tell'], '', 5000).catch(() => null), { timeout: 20_000 })
      .not.toBeNull()
  })
})

test('a thread that dies is started anew, and its calls fail', async () => {
  const [shell, other] = [shellOf(), shellOf()]
  const under = [shell.run(['throw'], '', 5000), other.run(['wait'], '', 5000)]
  for (const outcome of await Promise.allSettled(under)) {
    expect(outcome).toMatchObject({ reason: broken })
  }
  expect(JSON.parse(await other.run(['tell'], '', 5000)).heard).toEqual(['call'])
  expect(log.join()).toMatch(/error the thread of SSH connections ended.* reason="a fault"/)
})

test('a thread that nobody asks ends, and comes again', async () => {
  start({ restMs: 50 })
  const shell = shellOf()
  const heard = async () => JSON.parse(await shell.run(['tell'], '', 5000)).heard.length
  expect([await heard(), await heard()]).toEqual([1, 2])
  await new Promise((resolve) => setTimeout(resolve, 200))
  expect(await heard()).toBe(1)
  expect(log).toEqual([])
})

describe('a text on its way', () => {
  const there = (bytes: Uint8Array<ArrayBuffer>) => unpackText(packText(bytes))
  const encode = (text: string) => new TextEncoder().encode(text)

  test.each(['', 'plain', 'ü, ツ, 😀', 'x'.repeat(100_000), 'ü'.repeat(100_000)])(
    'is the same there: %.20s',
    (text) => {
      expect(there(encode(text))).toBe(text)
    },
  )

  test('that is no UTF-8 is read as far as it is, and byte by byte where it is long', () => {
    expect(there(new Uint8Array([0x61, 0xff, 0x62]))).toBe('a\ufffdb')
    expect(there(new Uint8Array(100_000).fill(0xe9))).toBe('é'.repeat(100_000))
  })
})
