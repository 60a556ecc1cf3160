/** What the tests of deploy/ run: programs in the foreground, https calls, and an Xray with REALITY. */
import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { request } from 'node:https'
import { type AddressInfo, connect, createServer as createTcpServer } from 'node:net'
import { tmpdir } from 'node:os'
import { delimiter, join, resolve } from 'node:path'
import { findCore } from '#test/support/cores.ts'

export const ROOT = resolve(import.meta.dirname, '../..')

export const sample = (path: string) => readFileSync(join(ROOT, 'deploy', path), 'utf8')

/** The path of a program. Throws with the package that has it: a missing tool fails the test. */
export function tool(name: string, aptPackage: string): string {
  for (const folder of [...(process.env.PATH ?? '').split(delimiter), '/usr/sbin', '/sbin']) {
    if (folder && existsSync(join(folder, name))) return join(folder, name)
  }
  throw new Error(`${name} is needed for this test: apt-get install ${aptPackage}`)
}

export const portOf = (server: { address(): unknown }) => (server.address() as AddressInfo).port

export async function freePort(): Promise<number> {
  const server = createTcpServer()
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  const port = portOf(server)
  await new Promise((done) => server.close(done))
  return port
}

export async function waitForPort(port: number): Promise<void> {
  const deadline = Date.now() + 15_000
  for (;;) {
    const open = await new Promise<boolean>((done) => {
      const socket = connect(port, '127.0.0.1')
      socket.once('connect', () => done(true)).once('error', () => done(false))
      socket.once('connect', () => socket.destroy())
    })
    if (open) return
    if (Date.now() > deadline) throw new Error(`nothing listens on port ${port}`)
    await new Promise((done) => setTimeout(done, 50))
  }
}

export interface Lab {
  folder: string
  children: ChildProcess[]
}

export function createLab(): Lab {
  return { folder: mkdtempSync(join(tmpdir(), 'subpanel-deploy-test-')), children: [] }
}

/** Ends what was started and removes the folder. */
export async function closeLab({ folder, children }: Lab): Promise<void> {
  const running = children.filter((child) => child.exitCode === null && child.signalCode === null)
  await Promise.all(
    running.map(
      (child) =>
        new Promise((done) => {
          child.once('exit', done)
          child.kill('SIGTERM')
        }),
    ),
  )
  rmSync(folder, { recursive: true, force: true })
}

/** Starts a program that stays in the foreground; its output is kept. */
export function start(
  { folder, children }: Lab,
  program: string,
  args: string[],
  env: Record<string, string> = {},
) {
  const child = spawn(program, args, {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { PATH: process.env.PATH, HOME: folder, ...env },
  })
  children.push(child)
  const kept = { text: '' }
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on('data', (chunk) => {
      kept.text += chunk
    })
  }
  return kept
}

export interface Ask {
  port: number
  name: string
  path?: string
  headers?: Record<string, string>
  body?: Uint8Array
}

export function ask({
  port,
  name,
  path = '/',
  headers = {},
  body,
}: Ask): Promise<{ status: number; text: string }> {
  return new Promise((done, reject) => {
    const call = request(
      {
        host: '127.0.0.1',
        port,
        servername: name,
        rejectUnauthorized: false,
        agent: false,
        path,
        method: body ? 'POST' : 'GET',
        headers: { host: name, ...headers },
      },
      (response) => {
        let text = ''
        response.setEncoding('utf8').on('data', (chunk) => {
          text += chunk
        })
        response.on('end', () => done({ status: response.statusCode ?? 0, text }))
      },
    )
    call.on('error', reject)
    call.end(body)
  })
}

/** An Xray with one REALITY inbound whose target is the local HTTPS site, and a client of it. */
export async function startXray(lab: Lab, sitePort: number, pagePort: number) {
  const xray = findCore('xray')
  const ports = { server: await freePort(), client: await freePort() }
  const uuid = 'c7e0ff55-6f2f-4d56-a3a6-1d8f3c1d2b40'
  const pair = (await crypto.subtle.generateKey('X25519', true, ['deriveBits'])) as CryptoKeyPair
  const key = await crypto.subtle.exportKey('jwk', pair.privateKey)
  const serverName = 'site.example.com'
  const server = {
    log: { loglevel: 'warning' },
    inbounds: [
      {
        listen: '127.0.0.1',
        port: ports.server,
        protocol: 'vless',
        settings: { decryption: 'none', clients: [{ id: uuid, flow: 'xtls-rprx-vision' }] },
        streamSettings: {
          network: 'tcp',
          security: 'reality',
          realitySettings: {
            target: `127.0.0.1:${sitePort}`,
            xver: 0,
            serverNames: [serverName],
            privateKey: key.d,
            shortIds: ['0123456789abcdef'],
            minClientVer: '1.0.0',
          },
        },
      },
    ],
    outbounds: [{ protocol: 'freedom', settings: { finalRules: [{ action: 'allow' }] } }],
  }
  const client = {
    log: { loglevel: 'warning' },
    inbounds: [
      {
        listen: '127.0.0.1',
        port: ports.client,
        protocol: 'dokodemo-door',
        settings: { address: '127.0.0.1', port: pagePort, network: 'tcp' },
      },
    ],
    outbounds: [
      {
        protocol: 'vless',
        settings: {
          vnext: [
            {
              address: '127.0.0.1',
              port: ports.server,
              users: [{ id: uuid, encryption: 'none', flow: 'xtls-rprx-vision' }],
            },
          ],
        },
        streamSettings: {
          network: 'tcp',
          security: 'reality',
          realitySettings: {
            serverName,
            fingerprint: 'chrome',
            password: key.x,
            shortId: '0123456789abcdef',
          },
        },
      },
    ],
  }
  for (const [name, config] of Object.entries({ server, client })) {
    const file = join(lab.folder, `xray-${name}.json`)
    writeFileSync(file, JSON.stringify(config))
    start(lab, xray, ['run', '-config', file])
  }
  await waitForPort(ports.server)
  await waitForPort(ports.client)
  return ports
}
