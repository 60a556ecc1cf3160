/** Hosts of a node in the lists of each format, used by the cores that read it: a second address, a relay, and a CDN with TLS of its own. */
import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { findCore } from '#test/support/cores.ts'
import { findProgram } from '#test/support/drivers/process.ts'
import { createLab, type Lab, startTarget, type Target, until } from '#test/support/labs/lab.ts'
import { type ClientCore, FORMATS, runEntry, runLink } from '#test/support/labs/list-clients.ts'
import { type ManagedPanel, startPanel } from '#test/support/labs/managed-panel.ts'
import { addServer, type NodeServer } from '#test/support/labs/node-lab.ts'
import { type Client, fetchThrough } from '#test/support/labs/service.ts'

const CDN = 'cdn.test'
const CDN_ADDRESS = '45.45.45.50'
/** The server has it beside its own. */
const SECOND = '45.45.46.177'
const ORIGIN_PORT = 9080
/** Of UDP: Hysteria answers from the main address of its server alone. */
const RELAY = '45.45.45.51'
const RELAY_PORT = 4443

const HOSTS = [
  { transport: 'reality', label: 'Second', address: SECOND, fingerprint: 'firefox' },
  { transport: 'ws', label: 'Second WS', address: SECOND },
  { transport: 'ws', label: 'CDN WS', address: CDN_ADDRESS, port: 443, sni: CDN },
  { transport: 'xhttp', label: 'Second XHTTP', address: SECOND },
  { transport: 'xhttp', label: 'CDN XHTTP', address: CDN, sni: CDN, fingerprint: 'safari' },
  { transport: 'hysteria2', label: 'Relay HY2', address: RELAY, port: RELAY_PORT },
]
const ALL = HOSTS.map(({ label }) => label)
const WITHOUT_XHTTP = ALL.filter((label) => !label.includes('XHTTP'))

let lab: Lab
let target: Target
let panel: ManagedPanel
let server: NodeServer
let token: string
/** Has a client trust the CA of the CDN, as it trusts public ones. */
let trusting: Record<string, string>

function makeCdnCertificate(): string {
  const file = (name: string) => join(lab.dir, name)
  const openssl = (args: string) =>
    execFileSync('openssl', args.split(' '), { cwd: lab.dir, stdio: 'ignore' })
  const key = '-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes'
  openssl(`req -x509 ${key} -days 30 -subj /CN=lab -keyout ca.key -out ca.crt`)
  openssl(`req ${key} -subj /CN=${CDN} -keyout cdn.key -out cdn.csr`)
  writeFileSync(file('cdn.ext'), `subjectAltName=DNS:${CDN}\nextendedKeyUsage=serverAuth\n`)
  openssl(
    'x509 -req -in cdn.csr -CA ca.crt -CAkey ca.key -CAcreateserial -days 30 -extfile cdn.ext -out cdn.crt',
  )
  return file('ca.crt')
}

/** What a web server on the node does for XHTTP: it says whose the connection is, as the inbound behind REALITY wants to know. */
function startOrigin(): void {
  const code = `require('node:net').createServer((one) => {
    const inbound = require('node:net').connect({ path: '\\0subpanel.${server.code}.xhttp' })
    inbound.write('PROXY TCP4 45.45.45.50 ${server.address} 40000 443\\r\\n')
    for (const end of [one, inbound]) end.on('error', () => { one.destroy(); inbound.destroy() })
    one.pipe(inbound).pipe(one)
  }).listen(${ORIGIN_PORT})`
  lab.spawn(process.execPath, ['-e', code], { machine: server.machine })
}

/** Passes datagrams on to the server, and its answers back. */
function startRelay(): void {
  const code = `const { createSocket } = require('node:dgram')
  const front = createSocket('udp4')
  const backs = new Map()
  front.on('message', (data, { address, port }) => {
    const from = address + ':' + port
    if (!backs.has(from)) {
      const back = createSocket('udp4').on('message', (answer) => front.send(answer, port, address))
      backs.set(from, back)
    }
    backs.get(from).send(data, 443, '${server.address}')
  })
  front.bind(${RELAY_PORT}, '${RELAY}')`
  lab.spawn(process.execPath, ['-e', code], { outside: true })
}

/** Caddy where the CDN is: TLS with its own certificate, and what it passes on to the server. */
async function startCdn(): Promise<void> {
  const [row] = panel.query<{ transports_json: string }>(
    'select transports_json from nodes where code = ?',
    server.code,
  )
  const pathOf = (type: string) =>
    JSON.parse(row?.transports_json ?? '').find((one: { type: string }) => one.type === type).path
  const config = `{
  admin off
  auto_https off
}
https://${CDN} {
  bind ${CDN_ADDRESS}
  tls ${lab.dir}/cdn.crt ${lab.dir}/cdn.key
  handle ${pathOf('ws')} {
    reverse_proxy https://${server.address}:8443 {
      transport http {
        tls_insecure_skip_verify
        versions 1.1
      }
    }
  }
  handle ${pathOf('xhttp')}/* {
    reverse_proxy h2c://${server.address}:${ORIGIN_PORT} {
      flush_interval -1
    }
  }
}
`
  const file = join(lab.dir, 'Caddyfile')
  writeFileSync(file, config)
  mkdirSync(join(lab.dir, 'caddy'))
  const args = ['run', '--config', file, '--adapter', 'caddyfile']
  const env = { HOME: join(lab.dir, 'caddy') }
  const caddy = lab.spawn(findProgram('caddy'), args, { outside: true, env })
  await until('the CDN serves', () => caddy.output().includes('serving initial configuration'))
}

beforeAll(async () => {
  lab = createLab({ [CDN]: CDN_ADDRESS, 'relay.test': RELAY })
  target = await startTarget(lab)
  panel = await startPanel(lab, target, 'node', 'data', {
    SYNC_INTERVAL_MS: '5000',
    HYSTERIA_BIN: findCore('hysteria'),
  })
  server = addServer(lab, 2, { sni: target.serverName, hysteria: true })
  await lab.exec('ip', ['address', 'add', `${SECOND}/32`, 'dev', 'lo'], { machine: server.machine })
  const route = ['route', 'add', `${SECOND}/32`, 'dev', server.machine]
  await lab.exec('ip', route, { outside: true })
  await panel.adopt(server, { transports: true, hysteria: true })
  await server.boot()
  trusting = { SSL_CERT_FILE: makeCdnCertificate() }
  startOrigin()
  startRelay()
  await startCdn()
  const { admin } = panel.service
  for (const host of HOSTS) {
    const { status, text } = await admin(`/nodes/${server.code}/hosts`, host)
    expect(status, text).toBe(200)
  }
  const granted = await admin('/users/42/grant', { node: server.code, plan: '1m' })
  expect(granted.status).toBe(200)
  token = (await admin('/users/42')).json.token
  await until('the node is in step', () => panel.inStep(server), 20_000)
}, 120_000)
afterAll(() => lab?.close())

const listOf = async (format: string, agent?: string) =>
  (await panel.service.request(`/sub/${token}?format=${format}`, agent ? { agent } : {})).text

async function works(client: Client): Promise<void> {
  const getsPage = async () => (await fetchThrough(lab, target, client)) === 'hello'
  await until(`${client.name} gets the page`, getsPage, 20_000).catch((error: Error) => {
    throw new Error(`${error.message}\n${client.process.output()}`)
  })
}

async function allWork(clients: Client[]): Promise<void> {
  await Promise.all(clients.map(works))
  for (const { process } of clients) process.signal('SIGTERM')
}

test('all formats have the hosts, and nothing of the node itself', async () => {
  for (const format of ['links', 'mihomo', 'singbox', 'xray']) {
    const list = await listOf(format)
    const labels = format === 'links' || format === 'xray' ? ALL : WITHOUT_XHTTP
    for (const label of labels) {
      expect(list).toContain(format === 'links' ? encodeURIComponent(label) : label)
    }
    expect(list).not.toContain(server.address)
  }
})

test('Xray gets a page through each, of its own format and of links', async () => {
  const xray = await listOf('xray')
  await allWork(ALL.map((entry) => runEntry(lab, xray, entry, { core: 'xray', env: trusting })))
  const links = await listOf('links')
  const vless = ALL.filter((label) => !label.includes('HY2'))
  await allWork(vless.map((entry) => runLink(lab, links, entry, trusting)))
}, 90_000)

test.each(['1.11.15', '1.12.12', '1.13.2', '1.14.1'])(
  'sing-box %s gets a page through each',
  async (version) => {
    const list = await listOf('singbox', `SFA/${version} (600; sing-box ${version})`)
    const options = { core: 'sing-box', version, env: trusting } as const
    await allWork(WITHOUT_XHTTP.map((entry) => runEntry(lab, list, entry, options)))
  },
  90_000,
)

test('mihomo gets a page through each, and Hysteria through its own', async () => {
  const list = await listOf('mihomo')
  const options = { core: 'mihomo', env: trusting } as const
  await allWork(WITHOUT_XHTTP.map((entry) => runEntry(lab, list, entry, options)))
  await allWork([runEntry(lab, await listOf('links'), 'Relay HY2', { core: 'hysteria' })])
}, 90_000)

test('the whole list of Xray works as it is, whichever entry is the fastest', async () => {
  const config = JSON.parse(await listOf('xray'))
  config.inbounds = [{ ...config.inbounds[0], port: 29_999 }]
  const file = join(lab.dir, 'whole.json')
  writeFileSync(file, JSON.stringify(config))
  const process = lab.spawn(findCore('xray'), ['run', '-c', file], { outside: true, env: trusting })
  await allWork([{ name: 'the whole list', socks: 29_999, process }])
}, 60_000)

test.each<ClientCore>(['xray', 'sing-box', 'mihomo'])(
  '%s that does not trust the certificate of the CDN is not led through it',
  async (core) => {
    const list = await listOf(FORMATS[core])
    const client = runEntry(lab, list, 'CDN WS', { core })
    const other = runEntry(lab, list, 'Second WS', { core })
    await works(other)
    expect(await fetchThrough(lab, target, client)).toBeNull()
    for (const { process } of [client, other]) process.signal('SIGTERM')
  },
  60_000,
)
