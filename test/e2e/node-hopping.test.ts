/** Clients of Hysteria that hop among the ports of a range, which a server redirects for real, by nftables or iptables. */
import { randomUUID } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { hysteriaParameters } from '#src/domain/nodes/hysteria-config.ts'
import type { SoundNode } from '#src/domain/nodes/sound.ts'
import { sha256Hex } from '#src/lib/crypto.ts'
import { CALLER, type DrivenNode, driveNode } from '#test/support/drivers/node-driver.ts'
import {
  createLab,
  type Lab,
  type LabProcess,
  startTarget,
  type Target,
  until,
} from '#test/support/labs/lab.ts'
import { type ClientCore, SPOKEN } from '#test/support/labs/list-clients.ts'
import { addServer, type NodeServer } from '#test/support/labs/node-lab.ts'
import { type Client, fetchThrough, openStream } from '#test/support/labs/service.ts'

const RANGE = '20000-20019'
const HOPS: Partial<SoundNode> = { hysteriaHop: RANGE, hysteriaHopping: true }

let lab: Lab
let target: Target
let server: NodeServer
let node: DrivenNode
let uuid: string

const onServer = (command: string) => lab.exec('sh', ['-c', command], { machine: server.machine })
const rules = async () => (await onServer('nft list table inet subpanel')).stdout
const takeAway = () => onServer('nft delete table inet subpanel')
const REDIRECTED = `udp dport ${RANGE} redirect to :443`
const hysteriaOf = async () => (await node.program.status('', 20_000)).hysteria

beforeAll(async () => {
  lab = createLab()
  target = await startTarget(lab)
  server = addServer(lab, 1, { hysteria: true, sni: target.serverName })
  await server.boot()
  // Its address is on its wire as on a real server: what is redirected goes to the one that came it over.
  await onServer(`ip address add ${server.address}/32 dev wire`)
  node = await driveNode(lab, server, target, HOPS)
  await node.configure()
  // On the way to its cores the server's one port is closed, and the ports that are used are noted.
  const way = await onServer(`nft -f - <<'END'
table inet way {
  set used { type inet_service; flags dynamic; }
  chain in {
    type filter hook prerouting priority raw
    udp dport 20000-30000 update @used { udp dport }
  }
}
END`)
  expect(way).toMatchObject({ code: 0 })
  await close()
})
const close = () => onServer('nft add rule inet way in udp dport 443 drop')
const open = () =>
  onServer(
    'nft flush chain inet way in; nft add rule inet way in udp dport 20000-30000 update @used { udp dport }',
  )
afterAll(() => lab?.close())

const running = new Set<LabProcess>()
beforeEach(async () => {
  uuid = randomUUID()
  await node.add(uuid)
})
afterEach(async () => {
  const left = [...running]
  for (const process of left) process.signal('SIGTERM')
  await Promise.all(left.map((process) => process.exited))
})
function start(core: ClientCore, of: DrivenNode = node): Client {
  const client = of.client(uuid, [core, 'hysteria2'])
  running.add(client.process)
  void client.process.exited.then(() => running.delete(client.process))
  return client
}
const works = (client: Client) =>
  until(
    `${client.name} gets the page`,
    async () => (await fetchThrough(lab, target, client)) === 'hello',
    20_000,
  )
const used = async () => {
  const { stdout } = await onServer('nft list set inet way used')
  return [...stdout.matchAll(/\b20\d{3}\b/g)].map(([port]) => port)
}

test('the server redirects the range, and says so', async () => {
  expect(await rules()).toContain(REDIRECTED)
  expect(await hysteriaOf()).toMatchObject({ up: true, hop: true })
})

test('each client reaches a server whose one port is closed by the range of its list', async () => {
  const cores = SPOKEN.filter(([, kind]) => kind === 'hysteria2').map(([core]) => core)
  expect(cores).toEqual(['xray', 'sing-box', 'mihomo', 'hysteria'])
  await Promise.all(cores.map((core) => works(start(core))))
})

test('a list without it goes on where the port is open, and only there', async () => {
  const plain = await driveNode(lab, server, target, { ...node.row, hysteriaHopping: false })
  const cores = ['hysteria', 'sing-box'] as const
  const shut = cores.map((core) => start(core, plain))
  for (const client of shut) expect(await fetchThrough(lab, target, client)).toBe(null)
  await open()
  await Promise.all(cores.map((core) => works(start(core, plain))))
  await close()
})

test('a stream lives on while its client hops', async () => {
  const client = start('hysteria')
  await works(client)
  await onServer('nft flush set inet way used')
  const stream = openStream(lab, target, client)
  await until('it has hopped', async () => (await used()).length >= 2, 40_000)
  const length = stream.output().length
  await until('the stream goes on', () => stream.output().length > length + 100)
  stream.signal('SIGTERM')
})

test('another range is put in place without a new start of Hysteria, and goes with it', async () => {
  const before = await hysteriaOf()
  const give = (changes: Partial<SoundNode>) => {
    const text = hysteriaParameters({ ...node.row, ...changes } as SoundNode)
    return node.program.hysteria(CALLER, text).then((hop) => ({ hop, config: sha256Hex(text) }))
  }
  const { hop, config } = await give({ hysteriaHop: '30000-30000' })
  expect(hop).toBe(true)
  expect(await rules()).toMatch(/udp dport 30000(-30000)? redirect to :443/)
  expect(await rules()).not.toContain(REDIRECTED)
  expect(await hysteriaOf()).toMatchObject({ config, hop: true, epoch: before?.epoch })
  expect((await give({ hysteriaHop: null })).hop).toBe(false)
  expect(await rules()).toBe('')
  expect(await hysteriaOf()).toMatchObject({ hop: false, epoch: before?.epoch })
  expect((await give({})).hop).toBe(true)
  await works(start('hysteria'))
})

test('who takes the rules away, as a firewall that is loaded anew, has them put back by the next status', async () => {
  await takeAway()
  expect(await rules()).toBe('')
  expect(await hysteriaOf()).toMatchObject({ hop: true })
  expect(await rules()).toContain(REDIRECTED)
  await works(start('xray'))
})

test('after a start of the machine the range is redirected before anybody asks', async () => {
  server.powerOff()
  await takeAway()
  await server.boot()
  await until('the rules are there', async () => (await rules()).includes(REDIRECTED))
  await works(start('hysteria'))
})

test('where there is no nftables, iptables does it', async () => {
  await takeAway()
  const tools = join(lab.dir, 'no-nft')
  mkdirSync(tools)
  writeFileSync(join(tools, 'nft'), '#!/bin/sh\nexit 1\n', { mode: 0o755 })
  const env = { ...server.env, PATH: `${tools}:${server.env.PATH}` }
  const status = async () => {
    const args = [join(lab.dir, server.machine, 'program'), 'status']
    const { stdout } = await lab.exec(args[0] as string, args.slice(1), {
      machine: server.machine,
      env,
    })
    return JSON.parse(stdout).hysteria
  }
  server.answerWith(`PATH=${tools}:$PATH; export PATH
SUBPANEL_NODE_DIR='${server.env.SUBPANEL_NODE_DIR}' SUBPANEL_NODE_CONF='${server.conf}' exec bash '${join(import.meta.dirname, '../../templates/node-agent.sh')}' "$@"`)
  expect(await status()).toMatchObject({ hop: true })
  const count = async () => (await onServer('iptables-save -t nat | grep -c SUBPANEL-HOP')).stdout
  const first = await count()
  expect((await onServer('iptables-save -t nat')).stdout).toMatch(
    /-p udp .*--dport 20000:20019 -j REDIRECT --to-ports 443/,
  )
  // What is in place stays as it is.
  expect(await status()).toMatchObject({ hop: true })
  expect(await count()).toBe(first)
  await works(start('hysteria'))
})
