/** What happens to servers and the way to them: others are never late, no request waits long, and all is right one pass later. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { findProgram } from '#test/support/drivers/process.ts'
import type { ProxyOrder } from '#test/support/fakes/cut-proxy.ts'
import { createLab, type Lab, startTarget, until } from '#test/support/labs/lab.ts'
import { type ManagedPanel, startPanel, startProxy } from '#test/support/labs/managed-panel.ts'
import { addServer, assignments, type NodeServer } from '#test/support/labs/node-lab.ts'
import type { Runtime } from '#test/support/labs/service.ts'

const FULL = process.env.FULL === '1'
const TICK_MS = 5000
/** What a pass itself may take on a busy machine. */
const PASS_MS = 9000
const FAULT_MS = FULL ? 20_000 : 7000
const LONGEST_ANSWER_MS = 6000

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

interface Fault {
  name: string
  begin(server: NodeServer): unknown
  end(server: NodeServer): unknown
  /** The server obeys all the same. */
  harmless?: boolean
}

describe.each<Runtime>(FULL ? ['node', 'bun'] : ['node'])('on %s', (runtime) => {
  let lab: Lab
  let panel: ManagedPanel
  let victim: NodeServer
  let others: NodeServer[]
  let order: (order: ProxyOrder) => Promise<number>
  /** Sends an admin's request and checks that it is answered in time. */
  const ask = async (path: string, body?: unknown, method?: string) => {
    const begin = performance.now()
    const answer = await panel.service.admin(path, body, method)
    const ms = performance.now() - begin
    expect([path, answer.status, ms < LONGEST_ANSWER_MS]).toEqual([path, 200, true])
    return answer.json
  }
  const change = (uuid: string, verb: string) =>
    ask(`/subscriptions/${uuid}/${verb}`, undefined, 'POST')
  const uuidsOf = (code: string) => panel.wanted(code)

  /** The longest time in which a server was not seen, of all but the victim, while `work` runs. */
  async function watchOthers(work: () => Promise<void>): Promise<number> {
    let worst = 0
    const codes = others.map(({ code }) => `'${code}'`).join()
    const sql = `select code, last_seen_at as value from nodes where code in (${codes})`
    const seen = new Map<string, { value: string; at: number }>()
    const look = () => {
      const now = performance.now()
      for (const { code, value } of panel.query<{ code: string; value: string }>(sql)) {
        const known = seen.get(code) ?? { value, at: now }
        worst = Math.max(worst, now - known.at)
        seen.set(code, known.value === value ? known : { value, at: now })
      }
    }
    const watch = setInterval(look, 200)
    try {
      await work()
      look()
    } finally {
      clearInterval(watch)
    }
    return worst
  }

  const faketime = (offset: string) => {
    const program = findProgram('faketime')
    const agent = join(import.meta.dirname, '../../templates/node-agent.sh')
    return `${assignments(victim.env)} exec '${program}' -f '${offset}' bash '${agent}' "$@"`
  }

  const faults: Fault[] = [
    { name: 'sshd is stopped', begin: (on) => on.stopSshd(), end: (on) => on.startSshd() },
    {
      name: 'sshd hangs',
      begin: (on) => on.signalSshd('SIGSTOP'),
      end: (on) => on.signalSshd('SIGCONT'),
    },
    { name: 'the cable is out', begin: (on) => on.setLink(false), end: (on) => on.setLink(true) },
    {
      name: 'the way refuses every connection',
      begin: () => order({ broken: true }),
      end: () => order({ broken: false }),
    },
    {
      name: 'the way swallows everything',
      begin: () => order({ silent: true }),
      end: () => order({ silent: false }),
    },
    {
      name: 'the way is slow',
      begin: () => order({ bytesPerSecond: 1500 }),
      end: () => order({ bytesPerSecond: null }),
      harmless: true,
    },
    {
      name: 'the disk is full',
      begin: (on) => fillDisk(on.dir),
      end: (on) => writeFileSync(join(on.dir, 'filler'), ''),
    },
    {
      name: 'the core is killed again and again',
      begin: async (on) => {
        for (let i = 0; i < 5; i++) {
          on.killCore('xray')
          await pause(700)
        }
      },
      end: () => {},
      harmless: true,
    },
    {
      name: 'the clock of the node program is 40 days ahead',
      begin: (on) => on.answerWith(faketime('+40d')),
      end: (on) => on.answerWith(null),
      harmless: true,
    },
    {
      name: 'the clock of the node program is 9 years behind',
      begin: (on) => on.answerWith(faketime('-9y')),
      end: (on) => on.answerWith(null),
      harmless: true,
    },
    {
      name: 'the machine loses its power',
      begin: (on) => on.powerOff(),
      end: async (on) => {
        await on.boot()
        order = await startProxy(lab, on)
      },
    },
  ]

  function fillDisk(dir: string): void {
    const block = Buffer.alloc(64 * 1024)
    for (const size of [block.length, 512, 1]) {
      try {
        for (;;) writeFileSync(join(dir, 'filler'), block.subarray(0, size), { flag: 'a' })
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error
      }
    }
  }

  beforeAll(async () => {
    lab = createLab()
    const target = await startTarget(lab)
    const env = { SYNC_INTERVAL_MS: String(TICK_MS) }
    panel = await startPanel(lab, target, runtime, 'data', env)
    const sni = target.serverName
    victim = addServer(lab, 1, { sni, hysteria: true, diskMb: 8 })
    others = [addServer(lab, 2, { sni }), addServer(lab, 3, { sni })]
    order = await startProxy(lab, victim)
    await panel.adopt(victim, { transports: true, hysteria: true, sshPort: 2222 })
    for (const server of others) await panel.adopt(server)
    for (const server of [victim, ...others]) {
      panel.fill(server.code, 40)
      await server.boot()
    }
    const servers = [victim, ...others]
    const settled = async () => (await Promise.all(servers.map(panel.inStep))).every(Boolean)
    await until('all are in step', settled, 60_000)
  })
  afterAll(() => lab?.close())

  test.each(faults)('$name', { timeout: 300_000 }, async ({ begin, end, harmless }) => {
    const [held, revoked, other] = [
      uuidsOf('n1')[0] as string,
      uuidsOf('n1')[1] as string,
      uuidsOf('n2')[0] as string,
    ]
    let healedMs = 0
    const gap = await watchOthers(async () => {
      await begin(victim)
      try {
        const since = performance.now()
        const grant = { node: 'n1', plan: '1m' }
        const tgId = Math.floor(Math.random() * 1e9) + 1e6
        await Promise.all([
          change(held, 'hold'),
          change(revoked, 'revoke'),
          change(other, 'hold'),
          ask(`/users/${tgId}/grant`, grant),
          ask('/nodes'),
          ask('/traffic'),
          ask('/sync', {}),
          ask('/nodes/n1/check', undefined, 'POST'),
        ])
        const metrics = await ask('/nodes/n1/metrics')
        if (!harmless && !metrics.ok) expect(metrics.error).toMatch(/\S/)
        await until('the other is in step', () => panel.inStep(others[0] as NodeServer), PASS_MS)
        await change(other, 'resume')
        await pause(Math.max(0, FAULT_MS - (performance.now() - since)))
      } finally {
        await end(victim)
      }
      const ended = performance.now()
      await until('the server is in step', () => panel.inStep(victim), TICK_MS + PASS_MS).catch(
        async (error: Error) => {
          const [row] = panel.query(
            'select last_error, last_seen_at from nodes where code = ?',
            'n1',
          )
          const lines = panel.service.process.output().split('\n').slice(-25).join('\n')
          throw new Error(`${error.message}: ${JSON.stringify(row)}\n${lines}`)
        },
      )
      healedMs = performance.now() - ended
      await change(held, 'resume')
      await until('and again', () => panel.inStep(victim), TICK_MS + PASS_MS)
    })
    console.log(
      `${runtime}: healed ${Math.round(healedMs)} ms after the end; others unseen for at most ${Math.round(gap)} ms`,
    )
    // Times are noted in whole seconds.
    expect(gap).toBeLessThan(TICK_MS + PASS_MS + 1000)
  })

  test('afterwards no alarm stands and every node is in step', async () => {
    await until('no error stands', () => {
      const sql = 'select 1 from nodes where kind = ? and last_error is not null'
      return panel.query(sql, 'managed').length === 0
    })
    for (const server of [victim, ...others]) expect(await panel.inStep(server)).toBe(true)
  })
})
