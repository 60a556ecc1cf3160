/** Xray and Hysteria side by side on one server, from our own configurations, used by real clients with our own lists. */
import { randomUUID } from 'node:crypto'
import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { hysteriaParameters } from '#src/domain/nodes/hysteria-config.ts'
import { sha256Hex } from '#src/lib/crypto.ts'
import {
  bytesOf,
  CALLER,
  type DrivenNode,
  driveNode,
  OWNER,
} from '#test/support/drivers/node-driver.ts'
import {
  createLab,
  type Lab,
  type LabProcess,
  startTarget,
  type Target,
  until,
} from '#test/support/labs/lab.ts'
import { SPOKEN } from '#test/support/labs/list-clients.ts'
import { addServer, type NodeServer } from '#test/support/labs/node-lab.ts'
import { type Client, fetchThrough, openStream } from '#test/support/labs/service.ts'
import { unchecked } from '#test/support/unchecked.ts'

let lab: Lab
let target: Target
let server: NodeServer
let node: DrivenNode

beforeAll(async () => {
  lab = createLab({
    'inside.test': '127.0.0.1',
    'neighbour-net.test': '192.168.0.7',
    'azure.test': '168.63.129.16',
  })
  target = await startTarget(lab)
  server = addServer(lab, 1, { hysteria: true, sni: target.serverName })
  await lab.exec('bash', [join(server.dir, '../systemctl'), 'boot'], { machine: server.machine })
  node = await driveNode(lab, server, target)
  await node.configure()
})
afterAll(() => lab?.close())

/** Addresses that the server answers at as others do elsewhere. */
const OWN = [
  ...['45.45.45.99/32', '168.63.129.16/32', '2a00::99/128', '64:ff9b::7f00:1/128'],
  '2002:7f00:1::1/128',
]

/** What a test started and what still runs of it. */
const running = new Set<LabProcess>()
function endWithTest<Process extends LabProcess>(process: Process): Process {
  running.add(process)
  void process.exited.then(() => running.delete(process))
  return process
}
afterEach(async () => {
  const left = [...running]
  // Not SIGKILL: Hysteria would send to the lost client for half a minute, and count that.
  for (const process of left) process.signal('SIGTERM')
  await Promise.all(left.map((process) => process.exited))
})

/** A client that ends with the test. */
function startClient(uuid: string, spoken: (typeof SPOKEN)[number]): Client {
  const client = node.client(uuid, spoken)
  endWithTest(client.process)
  return client
}

const read = (client: Client, path = '/') => fetchThrough(lab, target, client, path)
const works = (client: Client) =>
  until(`${client.name} gets the page`, async () => (await read(client)) === 'hello', 20_000)
const status = (acknowledge = '') => node.program.status(acknowledge, 20_000)
const file = (name: string) => readFileSync(join(server.dir, name), 'utf8')

async function streams(clients: Client[]): Promise<LabProcess[]> {
  const opened = clients.map((client) => endWithTest(openStream(lab, target, client)))
  await until('the streams run', () => opened.every((stream) => stream.output().length > 200))
  return opened
}

/** A client of Hysteria that has got a page. */
async function connected(uuid: string, core: 'hysteria' | 'xray' | 'sing-box' = 'hysteria') {
  const client = startClient(uuid, [core, 'hysteria2'])
  await works(client)
  return client
}

test('each kind of client connects by each entry of its list that it speaks', async () => {
  const uuid = randomUUID()
  await node.add(uuid)
  expect((await status()).hysteria).toMatchObject({ up: true, counters: [] })
  const clients = SPOKEN.map((spoken) => startClient(uuid, spoken))
  await Promise.all(clients.map(works))
  const { counters, hysteria, live } = await status()
  expect(live).toBe(true)
  expect(bytesOf(counters, uuid).down).toBeGreaterThan(500)
  expect(bytesOf(hysteria?.counters, uuid).down).toBeGreaterThan(300)

  const opened = await streams(clients)
  const begin = performance.now()
  await node.remove(uuid)
  await Promise.all(opened.map((stream) => stream.exited))
  const ms = Math.round(performance.now() - begin)
  console.log(`${clients.length} clients of one user were cut off after ${ms} ms`)
  // Two seconds, on a machine that does nothing else.
  expect(ms).toBeLessThan(6000)
  expect(await Promise.all(clients.map((client) => read(client)))).toEqual(clients.map(() => null))
})

test('users of Hysteria come and go while it runs on', async () => {
  const [kept, removed, late] = [randomUUID(), randomUUID(), randomUUID()] as const
  await node.add(kept, removed)
  const before = await status()
  const neighbour = await connected(kept)
  const leaving = await connected(removed)
  const [stays, ends] = (await streams([neighbour, leaving])) as [LabProcess, LabProcess]
  await node.add(late)
  await node.remove(removed)
  await ends.exited
  expect(await read(leaving)).toBe(null)
  await connected(late)
  const length = stays.output().length
  await until('the other stream goes on', () => stays.output().length > length + 100)
  const after = await status()
  expect(after.hysteria?.epoch).toBe(before.hysteria?.epoch)
  expect(after.core.epoch).toBe(before.core.epoch)
  expect(file('hy2-users').split('\n').filter(Boolean)).toHaveLength(2)
  expect(statSync(join(server.dir, 'hy2-users')).mode & 0o007).toBe(0)
  expect(file('hy2-users')).not.toContain(removed)
})

test('who was let in before their removal is kicked by the next status', async () => {
  const uuid = randomUUID()
  await node.add(uuid)
  const stream = (await streams([await connected(uuid)]))[0] as LabProcess
  // As if the call that removed them had been killed before it kicked them.
  const sneak = `sed -i /${uuid}/d clients hy2-users config.json; touch dirty`
  await lab.exec('sh', ['-c', `cd ${server.dir} && ${sneak}`])
  await status()
  await stream.exited
})

test('the numbers of both cores are told apart, and neither counts twice when one restarts', async () => {
  const uuid = randomUUID()
  await node.add(uuid)
  const first = await status()
  const hysteria = await connected(uuid)
  const xray = startClient(uuid, ['xray', 'reality'])
  await works(xray)
  expect(await read(hysteria, '/bytes/400000')).toHaveLength(400_000)
  expect(await read(xray, '/bytes/200000')).toHaveLength(200_000)
  // A core may count a moment after its client has the bytes.
  const second = await until('all is counted', async () => {
    const answer = await status(first.reading)
    const down = [answer.hysteria?.counters, answer.counters].map((c) => bytesOf(c, uuid).down)
    return Number(down[0]) > 400_000 && Number(down[1]) > 200_000 ? answer : null
  })
  const byHysteria = bytesOf(second.hysteria?.counters, uuid)
  expect(byHysteria.down).toBeLessThan(450_000)
  expect(byHysteria.up).toBeLessThan(100_000)
  expect(bytesOf(second.counters, uuid).down).toBeLessThan(250_000)
  const quiet = await status(second.reading)
  expect([quiet.counters, quiet.hysteria?.counters]).toEqual([[], []])
  expect(quiet.reading).toBe(second.reading)
  hysteria.process.signal('SIGTERM')

  server.killCore('hysteria')
  await until('it is started again', async () => (await status(second.reading)).hysteria?.up)
  // The former client waits for its killed server: a new one does not.
  expect(await read(await connected(uuid), '/bytes/100000')).toHaveLength(100_000)
  const third = await status(second.reading)
  expect(third.hysteria?.epoch).not.toBe(second.hysteria?.epoch)
  expect(third.core.epoch).toBe(second.core.epoch)
  expect(bytesOf(third.counters, uuid).down).toBe(0)
  const anew = bytesOf(third.hysteria?.counters, uuid)
  expect(anew.down).toBeGreaterThan(100_000)
  expect(anew.down).toBeLessThan(150_000)

  server.killCore('xray')
  await until('it is started again', async () => (await status(third.reading)).core.up)
  await works(xray)
  const fourth = await status(third.reading)
  expect(fourth.hysteria?.epoch).toBe(third.hysteria?.epoch)
  expect(fourth.hysteria?.counters).toEqual([])
  expect(bytesOf(fourth.counters, uuid).down).toBeLessThan(50_000)
})

test('a reading that was lost is told again, of both cores', async () => {
  const uuid = randomUUID()
  await node.add(uuid)
  const first = await status()
  await connected(uuid)
  const lost = await status(first.reading)
  expect(bytesOf(lost.hysteria?.counters, uuid).down).toBeGreaterThan(0)
  const again = await status(first.reading)
  expect(again.hysteria?.counters).toEqual(lost.hysteria?.counters)
  const acknowledged = await status(again.reading)
  expect(acknowledged.hysteria?.counters).toEqual([])
  const forgotten = await status('some-other')
  expect(forgotten.hysteria?.counters).toEqual(
    expect.arrayContaining(again.hysteria?.counters ?? []),
  )
})

test.each([
  ['hysteria', 'hysteria2'],
  ['sing-box', 'hysteria2'],
  ['xray', 'ws'],
] as const)(
  'nothing behind the server is reached by %s through %s, by address or by name',
  async (...spoken) => {
    const uuid = randomUUID()
    await node.add(uuid)
    const client = startClient(uuid, spoken)
    await works(client)
    for (const address of OWN) {
      const add = ['-c', `ip address replace ${address} dev lo`]
      expect((await lab.exec('sh', add, { machine: server.machine })).code).toBe(0)
    }
    const args = ['-m', 'http.server', '8000', '--bind', '::']
    endWithTest(lab.spawn('python3', args, { machine: server.machine }))
    const curl = ['-sS', '-m', '4', '--socks5-hostname', `127.0.0.1:${client.socks}`]
    const reached = async (url: string) =>
      (await lab.exec('curl', [...curl, '-o', '/dev/null', url], { outside: true })).code === 0
    await until('the page is there', async () => {
      const args = ['-s', '-o', '/dev/null', `http://${server.address}:8000`]
      return (await lab.exec('curl', args, { outside: true })).code === 0
    })
    expect(await reached(target.pageUrl)).toBe(true)
    // Neither is private: what is blocked below is so by its address.
    for (const address of ['45.45.45.99', '[2a00::99]']) {
      expect([address, await reached(`http://${address}:8000`)]).toEqual([address, true])
    }
    const urls = [
      '127.0.0.1:8000',
      '127.0.0.1:9999',
      '[::1]:8000',
      '0.0.0.0:8000',
      '127.1.2.3:8000',
      '168.63.129.16:8000',
      '[64:ff9b::7f00:1]:8000',
      '[2002:7f00:1::1]:8000',
    ]
    const names = [
      'inside.test:8000',
      'localhost:8000',
      'neighbour-net.test',
      'azure.test:8000',
      '[::ffff:127.0.0.1]:8000',
    ]
    const tried = await Promise.all(
      [...urls, ...names].map(async (url) => ((await reached(`http://${url}`)) ? [url] : [])),
    )
    expect(tried.flat()).toEqual([])
  },
)

test('a client whose password alone changes keeps its connections to Xray', async () => {
  const uuid = randomUUID()
  await node.add(uuid)
  const client = startClient(uuid, ['xray', 'ws'])
  await works(client)
  const stream = (await streams([client]))[0] as LabProcess
  const add: [string, string][] = [[uuid, `${server.code} auth=${'x'.repeat(43)}`]]
  const request = { ...CALLER, from: 'any', to: '', force: false, add, remove: [] }
  expect(await node.program.apply(request)).toMatchObject({ live: true, dropped: 0 })
  expect(file('hy2-users')).toContain(`${'x'.repeat(43)} ${uuid}`)
  const length = stream.output().length
  await until('the stream goes on', () => stream.output().length > length + 100)
  const { lines } = await node.program.list()
  expect(lines).toContainEqual([uuid, `${server.code} auth=${'x'.repeat(43)}`])
})

test('a new configuration restarts Hysteria, the same text does not; a damaged file is put right', async () => {
  const parameters = hysteriaParameters(node.row)
  const before = await status()
  expect(before.hysteria?.config).toBe(sha256Hex(parameters))
  await node.program.hysteria(CALLER, parameters)
  expect((await status()).hysteria?.epoch).toBe(before.hysteria?.epoch)

  await lab.exec('sh', ['-c', `echo '#' >>${server.dir}/hysteria.yaml`])
  expect((await status()).hysteria?.config).toBe('')
  await node.program.hysteria(CALLER, parameters)
  const after = await status()
  expect(after.hysteria).toMatchObject({ config: sha256Hex(parameters), up: true })
  expect(after.hysteria?.epoch).not.toBe(before.hysteria?.epoch)
  expect(file('hysteria.yaml')).not.toMatch(/@(dir|auth|api|secret)@/)
  await expect(
    node.program.hysteria({ ...CALLER, owner: 'panel-2' }, parameters),
  ).rejects.toMatchObject({
    failure: 'owner',
  })
})

test('a configuration that a former program made is made anew once, and the core started with it', async () => {
  const made = () => JSON.parse(file('config.json')).outbounds[0].settings.finalRules
  const before = await status()
  const rules = made()
  expect(rules).toHaveLength(2)
  // Its log came first.
  const { log, ...rest } = JSON.parse(file('config.json'))
  const former = { log, ...rest }
  former.outbounds[0].settings.finalRules = rules.slice(0, 1)
  writeFileSync(join(server.dir, 'config.json'), JSON.stringify(former))
  expect(await status()).toMatchObject({ live: true, config: '' })
  // Clients that come before the configuration do not hide it.
  await node.add(randomUUID())
  expect(made()).toEqual(rules)
  expect((await status()).config).toBe('')
  await node.configure()
  const after = await status()
  expect(after).toMatchObject({ live: true, config: before.config })
  expect(after.core.epoch).not.toBe(before.core.epoch)
  await node.configure()
  expect((await status()).core.epoch).toBe(after.core.epoch)
})

test('metrics, version and a dropped client tell of Hysteria too', async () => {
  const uuid = randomUUID()
  await node.add(uuid)
  const client = await connected(uuid)
  const stream = (await streams([client]))[0] as LabProcess
  expect(await node.program.metrics(5000)).toMatchObject({ coreUp: true, hysteriaUp: true })
  const { stdout } = await server.run('version')
  expect(JSON.parse(stdout)).toMatchObject({
    core_version: expect.stringMatching(/^\d+\.\d+\.\d+$/),
    hysteria_version: expect.stringMatching(/^\d+\.\d+\.\d+$/),
  })
  await server.run('drop', uuid)
  await stream.exited
  await works(client)
})

test('a target is probed from the server', async () => {
  const probe = async (host: string) => JSON.parse((await server.run('probe-sni', host)).stdout)
  expect(await probe('target.test')).toMatchObject({
    suits: true,
    tls13: true,
    x25519: true,
    first_flight: expect.any(Number),
    reason: '',
  })
  expect((await probe('target.test:80')).reason).toBe('no TLS 1.3')
  expect((await probe('target.test:81')).reason).toBe('no connection')
  const old = [
    's_server',
    '-accept',
    '4433',
    '-cert',
    target.certificateFile,
    '-key',
    target.keyFile,
  ]
  const serve = (port: string, ...more: string[]) =>
    lab.spawn('openssl', [...old.with(2, port), '-quiet', ...more], { machine: server.machine })
  serve('4433', '-tls1_2')
  serve('4434', '-groups', 'P-256')
  const at = (port: number) =>
    until('it listens', async () => {
      const answer = await probe(`server.test:${port}`)
      return answer.reason === 'no connection' ? null : answer
    })
  await lab.exec('ip', ['address', 'add', '45.45.45.45/32', 'dev', 'lo'], {
    machine: server.machine,
  })
  expect(await at(4433)).toMatchObject({ suits: false, tls13: false, reason: 'no TLS 1.3' })
  expect(await at(4434)).toMatchObject({ suits: false, tls13: true, x25519: false })
  expect(await probe('-x')).toMatchObject({ ok: false, error: 'bad-input' })
})

test('no Hysteria any more: it is stopped, and Xray serves on', async () => {
  const uuid = randomUUID()
  await node.add(uuid)
  const client = await connected(uuid)
  const transportsJson = node.row.transportsJson.filter(({ type }) => type !== 'hysteria2')
  await node.configure(unchecked({ ...node.row, transportsJson }))
  expect((await status()).hysteria).toBe(null)
  expect(await node.program.metrics(5000)).toMatchObject({ hysteriaUp: null })
  expect(await read(client)).toBe(null)
  await works(startClient(uuid, ['xray', 'xhttp']))
  await node.configure()
  await connected(uuid)
})

test('a retired node lets nobody in, runs nothing and can be taken into use again', async () => {
  const uuid = randomUUID()
  await node.add(uuid)
  const clients = [await connected(uuid), startClient(uuid, ['xray', 'reality'])]
  await Promise.all(clients.map(works))
  const opened = await streams(clients)
  await expect(node.program.retire('panel-2', 20_000)).rejects.toMatchObject({ failure: 'owner' })
  await node.program.retire(OWNER, 60_000)
  await Promise.all(opened.map((stream) => stream.exited))
  await node.program.retire(OWNER, 60_000)
  expect(await status()).toMatchObject({
    ...{ owner: '', config: '', count: 0, hysteria: null },
    core: { up: false },
  })
  const left = (await lab.exec('ls', ['-A', server.dir])).stdout.trim().split('\n')
  expect(left.toSorted()).toEqual(['clients', 'lock', 'program', 'tls'])
  await node.configure()
  await node.add(uuid)
  await connected(uuid)
  await works(clients[1] as Client)
})
