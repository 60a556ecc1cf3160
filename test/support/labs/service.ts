/** The whole service in a lab: started as a user would, spoken to over HTTP, used by real client cores. */
import { writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { parseShareLink } from '#test/fixtures/lists/share-link-parser.ts'
import { findCore } from '#test/support/cores.ts'
import { COMPILED } from '#test/support/drivers/process.ts'
import { LAB_HOSTS, type Lab, type LabProcess, type Target, until } from './lab.ts'

const ROOT = resolve(import.meta.dirname, '../../..')
export const PASSWORD = 'a password for the lab'

export type Runtime = 'node' | 'bun'

/** The runtime's binary: BUN_BIN or the first `bun` of PATH; for Node the one that runs this, or the project's. */
export function runtimeBinary(runtime: Runtime): string {
  if (runtime === 'node')
    return 'Bun' in globalThis ? join(ROOT, 'node_modules/.bin/node') : process.execPath
  return process.env.BUN_BIN ?? 'bun'
}

export interface HttpAnswer {
  status: number
  headers: string
  text: string
  // biome-ignore lint/suspicious/noExplicitAny: fields are checked where they are read
  json: any
}

export interface Service {
  process: LabProcess
  /** Sends a request from outside, as a phone or a browser would. */
  request(
    path: string,
    options?: { agent?: string; body?: unknown; method?: string; headers?: string[] },
  ): Promise<HttpAnswer>
  /** The same with an admin's session. */
  admin(path: string, body?: unknown, method?: string): Promise<HttpAnswer>
  /** SIGTERM, and the exit code. */
  stop(): Promise<number | null>
}

/** Starts `src/main.ts` in the lab with its data under `name`, and waits until it answers. */
export async function startService(
  lab: Lab,
  target: Target,
  runtime: Runtime,
  name: string,
  env: Record<string, string> = {},
): Promise<Service> {
  const dataDir = join(lab.dir, name)
  const process = lab.spawn(runtimeBinary(runtime), [join(ROOT, 'src/main.ts')], {
    env: {
      ...COMPILED,
      DATA_DIR: dataDir,
      ENV_FILE: `${dataDir}.env`,
      PANEL_PASSWORD: PASSWORD,
      HOST: '0.0.0.0',
      PORT: '3000',
      SUB_DOMAIN: 'sub.test',
      SITE_DOMAIN: 'site.test',
      PANEL_DOMAIN: 'panel.test',
      LOCAL_NODE_ADDRESS: LAB_HOSTS['server.test'],
      LOCAL_NODE_PORT: '443',
      LOCAL_NODE_SNI: target.serverName,
      LOCAL_NODE_TARGET: target.address,
      XRAY_BIN: findCore('xray'),
      LOG_LEVEL: 'debug',
      ...env,
    },
  })
  let cookie = ''
  const request: Service['request'] = async (path, options = {}) => {
    const args = ['-sS', '-i', '-m', '15', '-A', options.agent ?? 'lab']
    for (const header of options.headers ?? []) args.push('-H', header)
    if (options.method) args.push('-X', options.method)
    if (options.body !== undefined)
      args.push('-H', 'content-type: application/json', '-d', JSON.stringify(options.body))
    const { stdout } = await lab.exec(
      'curl',
      [...args, `http://server.test:${env.PORT ?? 3000}${path}`],
      {
        outside: true,
      },
    )
    const end = stdout.indexOf('\r\n\r\n')
    const headers = stdout.slice(0, end)
    const text = stdout.slice(end + 4)
    let json: unknown
    try {
      json = JSON.parse(text)
    } catch {
      json = undefined
    }
    return { status: Number(headers.split(' ')[1] ?? 0), headers, text, json }
  }
  const service: Service = {
    process,
    request,
    async admin(path, body, method = body === undefined ? 'GET' : 'POST') {
      if (cookie === '') {
        const login = await request('/admin/api/login', {
          body: { username: 'admin', password: PASSWORD },
        })
        cookie = /set-cookie: (panel_admin=[^;]+)/i.exec(login.headers)?.[1] ?? ''
      }
      return request(`/admin/api${path}`, { body, method, headers: [`Cookie: ${cookie}`] })
    },
    stop() {
      process.signal('SIGTERM')
      return process.exited
    },
  }
  await until(
    'the service answers',
    async () => (await request('/healthz')).json?.ok === true,
    20_000,
  ).catch((error: Error) => {
    throw new Error(`${error.message}\n${process.output()}`)
  })
  return service
}

/** A client core that runs outside with the list it was given; `socks` is its port there. */
export interface Client {
  name: string
  socks: number
  process: LabProcess
}

let port = 20_000

function start(lab: Lab, name: string, command: string, args: string[], socks: number): Client {
  return { name, socks, process: lab.spawn(command, args, { outside: true }) }
}

/** v2rayNG: base64 of links; its core is Xray. */
export function startLinkClient(lab: Lab, list: string): Client {
  const link = parseShareLink(Buffer.from(list, 'base64').toString('utf8').split('\n')[0] as string)
  const socks = port++
  const { params } = link
  const config = {
    log: { loglevel: 'warning' },
    inbounds: [{ listen: '127.0.0.1', port: socks, protocol: 'socks' }],
    outbounds: [
      {
        protocol: 'vless',
        settings: {
          address: link.host,
          port: link.port,
          id: link.user,
          encryption: params.encryption,
          flow: params.flow,
        },
        streamSettings: {
          network: params.type,
          security: params.security,
          realitySettings: {
            serverName: params.sni,
            fingerprint: params.fp,
            publicKey: params.pbk,
            shortId: params.sid,
            spiderX: params.spx,
          },
        },
      },
    ],
  }
  const file = join(lab.dir, `client-${socks}.json`)
  writeFileSync(file, JSON.stringify(config))
  return start(lab, 'v2rayNG', findCore('xray'), ['run', '-c', file], socks)
}

/** SFA: the profile as it is, but for the phone's tun device. */
export function startSingboxClient(lab: Lab, list: string): Client {
  const socks = port++
  const profile = JSON.parse(list)
  profile.inbounds = [{ type: 'mixed', tag: 'in', listen: '127.0.0.1', listen_port: socks }]
  delete profile.experimental
  const file = join(lab.dir, `client-${socks}.json`)
  writeFileSync(file, JSON.stringify(profile))
  return start(
    lab,
    'SFA',
    findCore('sing-box', '1.13.2'),
    ['run', '-c', file, '-D', lab.dir],
    socks,
  )
}

/** Clash Verge: the YAML as it is, with a port to listen on. */
export function startMihomoClient(lab: Lab, list: string): Client {
  const socks = port++
  const file = join(lab.dir, `client-${socks}.yaml`)
  const yaml = list.replace(/^(mixed-port|external-controller):.*\n/gm, '')
  writeFileSync(file, `${yaml}\nmixed-port: ${socks}\n`)
  return start(
    lab,
    'Clash Verge',
    findCore('mihomo'),
    ['-d', join(lab.dir, `mihomo-${socks}`), '-f', file],
    socks,
  )
}

/** Fetches a path of the lab's page through a client; the body, or null when it failed within the time. */
export async function fetchThrough(
  lab: Lab,
  target: Target,
  client: Client,
  path = '/',
  seconds = 3,
): Promise<string | null> {
  const args = [
    '-sS',
    '-m',
    String(seconds),
    '--socks5-hostname',
    `127.0.0.1:${client.socks}`,
    `${target.pageUrl}${path}`,
  ]
  const { code, stdout } = await lab.exec('curl', args, { outside: true })
  return code === 0 ? stdout : null
}

/** Opens a page that never ends through a client. */
export function openStream(lab: Lab, target: Target, client: Client): LabProcess {
  return lab.spawn(
    'curl',
    ['-sS', '-N', '--socks5-hostname', `127.0.0.1:${client.socks}`, `${target.pageUrl}/stream`],
    { outside: true },
  )
}
