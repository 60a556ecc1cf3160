/** The node program killed at any moment, and on a disk that is full: what stands in the files is always one wanted set, whole. */
import { randomUUID } from 'node:crypto'
import { readFileSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { valuesOf } from '#src/domain/nodes/sync/values.ts'
import { type DrivenNode, driveNode, OWNER } from '#test/support/drivers/node-driver.ts'
import { ROOT } from '#test/support/drivers/process.ts'
import { seeded } from '#test/support/drivers/torture.ts'
import { createLab, type Lab, startTarget, type Target, until } from '#test/support/labs/lab.ts'
import { addServer, type NodeServer } from '#test/support/labs/node-lab.ts'

const PROGRAM = join(ROOT, 'templates/node-agent.sh')
const FULL = process.env.FULL === '1'
const KILLS = FULL ? 200 : 12
const TIMEOUT_MS = FULL ? 1_800_000 : 180_000
const TRANSPORTS = ['reality', 'xhttp', 'ws'] as const

let lab: Lab
let target: Target
let server: NodeServer
let node: DrivenNode

beforeAll(async () => {
  lab = createLab()
  target = await startTarget(lab)
  server = addServer(lab, 1, { hysteria: true, sni: target.serverName, diskMb: 8 })
  await lab.exec('bash', [join(server.dir, '../systemctl'), 'boot'], { machine: server.machine })
  node = await driveNode(lab, server, target)
  await node.configure()
})
afterAll(() => lab?.close())

const newUuids = (count: number) => Array.from({ length: count }, () => randomUUID())
const read = (name: string) => readFileSync(join(server.dir, name), 'utf8')
const uuidsIn = (text: string, before: string) =>
  Array.from(text.matchAll(new RegExp(`${before}([0-9a-f-]{36})`, 'g')), ([, uuid]) => uuid).sort()

/** Whether files and core hold the clients of the list, all of them the same. */
async function isWhole(): Promise<boolean> {
  const { live, hysteria } = await node.program.status('', 30_000)
  if (!live || !hysteria?.up) return false
  const clients = server.listed()
  expect(
    read('hy2-users')
      .split('\n')
      .filter(Boolean)
      .map((line) => line.slice(-36))
      .sort(),
  ).toEqual(clients)
  expect(uuidsIn(read('config.json'), '"id":"')).toEqual(TRANSPORTS.flatMap(() => clients).sort())
  for (const transport of TRANSPORTS) {
    if (JSON.stringify(await server.held(transport)) !== JSON.stringify(clients)) return false
  }
  return true
}

/** Starts a call of `apply` that replaces all clients by these. */
function startApply(uuids: string[]) {
  const valueFor = valuesOf(node.row, 2)
  const lines = uuids.map((uuid) => JSON.stringify(['+', uuid, ...valueFor(uuid).split(' ')]))
  const header = { owner: OWNER, from: 'none', to: '', force: false, lines: lines.length }
  const file = join(lab.dir, 'request')
  writeFileSync(file, `${[JSON.stringify(header), ...lines].join('\n')}\n`)
  return lab.spawn('sh', ['-c', `exec bash ${PROGRAM} apply <${file}`], {
    machine: server.machine,
    env: server.env,
  })
}

test('killed in the middle of apply, it leaves the old set or the new one, which the next status makes whole', {
  timeout: TIMEOUT_MS,
}, async () => {
  const random = seeded(6)
  await node.add(...newUuids(150))
  const begin = performance.now()
  await startApply(newUuids(300)).exited
  const longest = (performance.now() - begin) * 1.2
  const ends = { before: 0, after: 0 }
  for (let round = 0; round < KILLS; round++) {
    const before = server.listed()
    const wanted = [...before.slice(0, 100), ...newUuids(150)].sort()
    const call = startApply(wanted)
    await new Promise((resolve) => setTimeout(resolve, random() ** 2 * longest))
    try {
      process.kill(random() < 0.5 ? call.pid : -call.pid, 'SIGKILL')
    } catch {
      // It was quicker.
    }
    await call.exited
    await until(`round ${round}: whole`, isWhole, 20_000)
    const now = server.listed()
    expect([before, wanted]).toContainEqual(now)
    ends[JSON.stringify(now) === JSON.stringify(wanted) ? 'after' : 'before']++
  }
  console.log(`${KILLS} kills: the old set ${ends.before} times, the new one ${ends.after} times`)
  expect(Math.min(ends.before, ends.after)).toBeGreaterThan(0)
})

test('on a full disk a call fails as a whole, says so, and works when there is room again', async () => {
  const held = server.listed()
  const filler = join(server.dir, 'filler')
  let failed = 0
  // From no room at all to just not enough.
  for (const freeKb of [0, 4, 16, 64, 128, 192, 256, 320, 384, 448, 512]) {
    rmSync(filler, { force: true })
    const { bavail, bsize } = statfsSync(server.dir)
    writeFileSync(filler, Buffer.alloc(bavail * bsize - freeKb * 1024))
    const before = server.listed()
    const wanted = [...held, ...newUuids(400)].sort()
    const call = startApply(wanted)
    await call.exited
    // Behind what the tools complained of.
    const answer = JSON.parse(call.output().trim().split('\n').at(-1) as string)
    if (!answer.ok) {
      failed++
      expect(answer).toMatchObject({
        error: 'fault',
        message: expect.stringContaining('disk is full'),
      })
      expect(server.listed()).toEqual(before)
    }
    rmSync(filler)
    await until(`${freeKb} KB: whole`, isWhole, 20_000)
    expect([before, wanted]).toContainEqual(server.listed())
    await node.remove(...server.listed().filter((uuid) => !held.includes(uuid)))
  }
  expect(failed).toBeGreaterThan(3)
})
