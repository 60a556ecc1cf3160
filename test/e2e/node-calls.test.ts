/** What a call of the node program costs a server, and what it remembers of the core between two calls to cost as little. */
import { randomUUID } from 'node:crypto'
import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { valuesOf } from '#src/domain/nodes/sync/values.ts'
import { findCore } from '#test/support/cores.ts'
import { bytesOf, type DrivenNode, driveNode, OWNER } from '#test/support/drivers/node-driver.ts'
import { ROOT } from '#test/support/drivers/process.ts'
import { createLab, type Lab, startTarget, type Target, until } from '#test/support/labs/lab.ts'
import { addServer, type NodeServer } from '#test/support/labs/node-lab.ts'
import { fetchThrough } from '#test/support/labs/service.ts'

/** Another file to compare the costs with. */
const PROGRAM = process.env.NODE_PROGRAM ?? join(ROOT, 'templates/node-agent.sh')

let lab: Lab
let target: Target
let server: NodeServer
let node: DrivenNode

/** REALITY, XHTTP and WS: three inbounds, no Hysteria. */
beforeAll(async () => {
  lab = createLab()
  target = await startTarget(lab)
  server = addServer(lab, 1, { sni: target.serverName })
  await lab.exec('bash', [join(server.dir, '../systemctl'), 'boot'], { machine: server.machine })
  node = await driveNode(lab, server, target)
  const transportsJson = node.row.transportsJson.filter(({ type }) => type !== 'hysteria2')
  Object.assign(node.row, { transportsJson, hysteriaPort: null, hysteriaPassword: null })
  await node.configure()
  // Without a group of the cores, to whom each call that writes hands its files by two more programs.
  const conf = readFileSync(server.conf, 'utf8')
  writeFileSync(server.conf, conf.replace(/^CONFIG_GROUP=.*\n/m, ''))
})
afterAll(() => lab?.close())

const newUuids = (count: number) => Array.from({ length: count }, () => randomUUID())
const status = (acknowledge = '') => node.program.status(acknowledge, 20_000)
const median = (numbers: number[]) => numbers.toSorted((a, b) => a - b)[numbers.length >> 1] ?? 0

function request(operation: '+' | '-', uuid: string): string {
  const header = { owner: OWNER, from: 'any', to: '', force: false, lines: 1 }
  const value = operation === '+' ? valuesOf(node.row, 2)(uuid).split(' ') : []
  return [header, [operation, uuid, ...value]].map((line) => `${JSON.stringify(line)}\n`).join('')
}

/** How many programs a call starts, itself included, and the medians of its processor time and its answer, of one call for each input. */
async function costOf(words: string, inputs: string[]) {
  const options = { machine: server.machine, env: server.env }
  const trace = join(lab.dir, 'trace')
  const watch = `strace -f -qq -e trace=execve -e signal=none -o ${trace}`
  const run = (command: string, input = '') =>
    lab.exec('bash', ['-c', command], { ...options, input })
  const [traced, ...timed] = inputs
  expect((await run(`${watch} bash ${PROGRAM} ${words}`, traced)).stdout).toContain('{"ok":true')
  const cpu: number[] = []
  const ms: number[] = []
  for (const input of timed) {
    const command = `TIMEFORMAT='%U %S'; time bash ${PROGRAM} ${words} >/dev/null`
    const result = await run(command, input)
    const [user = 0, system = 0] = result.stderr.split(' ').map(Number)
    cpu.push((user + system) * 1000)
    ms.push(result.ms)
  }
  // Not what was looked for in vain in a folder of PATH.
  const programs = readFileSync(trace, 'utf8').match(/execve.* = 0$/gm)?.length ?? 0
  return { programs, cpu: Math.round(median(cpu)), ms: Math.round(median(ms)) }
}

test('a call costs few programs', async () => {
  await node.add(...newUuids(2000))
  const { reading } = await status()
  const uuids = newUuids(20)
  const each = (operation: '+' | '-') => uuids.map((uuid) => request(operation, uuid))
  const costs = {
    status: await costOf(`status ${reading}`, Array(20).fill('')),
    'one added': await costOf('apply', each('+')),
    'one removed': await costOf('apply', each('-')),
  }
  for (const [name, { programs, cpu, ms }] of Object.entries(costs))
    console.log(`${name}: ${programs} programs, ${cpu} ms of processor, answer after ${ms} ms`)
  // One inbound less is two less of `status` and of a removal: Xray's client and `timeout` around it.
  // Three of them ask the core who is connected, and count that.
  expect(costs.status.programs).toBeLessThanOrEqual(20)
  expect(costs['one added'].programs).toBeLessThanOrEqual(14)
  expect(costs['one removed'].programs).toBeLessThanOrEqual(22)
  expect(await status()).toMatchObject({ live: true, count: 2000 })
})

/** Puts a program before Xray that answers `version` by itself and does `more` first. */
function wrapXray(version: string, more = '') {
  const xray = findCore('xray')
  const wrapper = join(server.dir, 'wrapper')
  const answer = `[ "$1" != version ] || exec echo "Xray ${version} (Xray)"`
  writeFileSync(`${wrapper}.new`, `#!/bin/sh\n${answer}\n${more}\nexec ${xray} "$@"\n`, {
    mode: 0o755,
  })
  renameSync(`${wrapper}.new`, wrapper)
  const { conf } = server
  writeFileSync(conf, readFileSync(conf, 'utf8').replace(`XRAY_BIN=${xray}`, `XRAY_BIN=${wrapper}`))
}

test('another binary of the core is another version at once, and its run goes on', async () => {
  wrapXray('1.2.3')
  const first = await status()
  expect(first.core.version).toBe('1.2.3')
  wrapXray('1.2.4')
  const { core } = await status()
  expect(core).toMatchObject({ version: '1.2.4', epoch: first.core.epoch })
  const passed = (core.uptimeS as number) - (first.core.uptimeS as number)
  expect(passed).toBeGreaterThanOrEqual(0)
  expect(passed).toBeLessThan(20)
})

test('counters that are more than one reply can carry are asked for in two', async () => {
  const [uuid] = newUuids(1) as [string]
  await node.add(uuid)
  const client = node.client(uuid, ['xray', 'reality'])
  const page = () => fetchThrough(lab, target, client, '/bytes/50000')
  await until('the page comes', async () => (await page())?.length === 50_000, 20_000)
  client.process.signal('SIGTERM')
  await client.process.exited
  const whole = await status()
  // As grpc-go says it.
  const refusal = 'grpc: received message larger than max (4194305 vs. 4194304)'
  wrapXray('1.2.4', `case "$*" in *'>>>traffic>>>') echo '${refusal}' >&2; exit 1 ;; esac`)
  const parted = await status()
  expect(parted).toMatchObject({ live: true, core: { up: true, epoch: whole.core.epoch } })
  expect(parted.counters).toEqual(whole.counters)
  expect(bytesOf(parted.counters, uuid).down).toBeGreaterThan(50_000)
})

test('a core that was started anew is another run, with its own time and counters', async () => {
  const before = await status()
  server.killCore()
  const after = await until('it is up', async () => {
    const answer = await status()
    return answer.core.up ? answer : null
  })
  expect(after.core.epoch).not.toBe(before.core.epoch)
  expect(after.core.uptimeS).toBeLessThan((before.core.uptimeS as number) + 1)
  expect(after).toMatchObject({ live: true, counters: [], count: before.count })
})
