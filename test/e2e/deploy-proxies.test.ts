/** The samples of proxies in deploy/, run by the programs they are written for. */
import { execFileSync, spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type Server } from 'node:http'
import { request } from 'node:https'
import { join } from 'node:path'
import { connect as connectTls } from 'node:tls'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { pause } from '#src/lib/pause.ts'
import {
  ask,
  closeLab,
  createLab,
  freePort,
  type Lab,
  portOf,
  ROOT,
  sample,
  start,
  startXray,
  tool,
  waitForPort,
} from './deploy-lab.ts'

const NAMES = ['sub.example.com', 'site.example.com', 'panel.example.com']
const SECRET = 'SECRETLINKTOKEN'

/** The sample with its documented values replaced; a value that does not occur is a fault of the sample. */
function fill(text: string, replacements: Record<string, string>): string {
  for (const [from, to] of Object.entries(replacements)) {
    if (!text.includes(from)) throw new Error(`the sample does not contain ${JSON.stringify(from)}`)
    text = text.replaceAll(from, to)
  }
  return text
}

interface Heard {
  host?: string
  realIp: string[]
  forwarded: string[]
  path?: string
  bytes: number
}

let folder: string
let backend: Server
let backendPort: number
let lab: Lab

const FORGED = {
  'x-real-ip': '6.6.6.6',
  'x-forwarded-for': '6.6.6.6',
  'x-forwarded-host': 'evil.example',
  forwarded: 'for=6.6.6.6',
}

const listenAt = (server: Server, port = 0) =>
  new Promise<void>((done) => server.listen(port, '127.0.0.1', done))

/** Has it end as a process that is killed. */
const leave = (server: Server) =>
  new Promise<unknown>((done) => {
    server.close(done)
    server.closeAllConnections()
  })

/** What every proxy in front of the service must do. */
async function expectFaithfulProxy(port: number): Promise<void> {
  for (const name of NAMES) {
    const answer = await ask({ port, name, path: `/sub/x?q=${name}`, headers: FORGED })
    expect(answer.status).toBe(200)
    expect(JSON.parse(answer.text)).toEqual({
      host: name,
      realIp: ['127.0.0.1'],
      forwarded: [],
      path: `/sub/x?q=${name}`,
      bytes: 0,
    } satisfies Heard)
  }
  const body = new Uint8Array(32 * 1024 * 1024)
  const upload = await ask({ port, name: 'panel.example.com', path: '/admin/api/restore', body })
  expect((JSON.parse(upload.text) as Heard).bytes).toBe(body.length)
  const slow = await ask({ port, name: 'panel.example.com', path: '/slow' })
  expect(slow.status).toBe(200)
}

beforeAll(async () => {
  lab = createLab()
  folder = lab.folder
  execFileSync(
    tool('openssl', 'openssl'),
    'req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=example.com'
      .concat(' -keyout key.pem -out cert.pem -addext')
      .split(' ')
      .concat(`subjectAltName=${NAMES.map((name) => `DNS:${name}`).join(',')}`),
    { cwd: folder, stdio: 'ignore' },
  )
  backend = createServer((incoming, response) => {
    let bytes = 0
    incoming.on('data', (chunk: Uint8Array) => {
      bytes += chunk.length
    })
    incoming.on('end', () => {
      const heard: Heard = {
        ...(incoming.headers.host ? { host: incoming.headers.host } : {}),
        realIp: incoming.headersDistinct['x-real-ip'] ?? [],
        forwarded: Object.keys(incoming.headers).filter((key) => /^(x-)?forwarded/.test(key)),
        ...(incoming.url ? { path: incoming.url } : {}),
        bytes,
      }
      const answer = () => response.end(JSON.stringify(heard))
      if (incoming.url === '/slow') setTimeout(answer, 21_000)
      else answer()
    })
  })
  await listenAt(backend)
  backendPort = portOf(backend)
})

afterAll(async () => {
  backend?.closeAllConnections()
  backend?.close()
  if (lab) await closeLab(lab)
})

/** The sample as it stands, but on loopback ports, with the test's certificate and log folder. */
function nginxConfig(httpsPort: number, httpPort: number, upstreams: number[]): string {
  const site = fill(sample('nginx/subpanel.conf'), {
    'listen 443 ssl': `listen 127.0.0.1:${httpsPort} ssl`,
    'listen 80;': `listen 127.0.0.1:${httpPort};`,
    '/etc/letsencrypt/live/subpanel/fullchain.pem': join(folder, 'cert.pem'),
    '/etc/letsencrypt/live/subpanel/privkey.pem': join(folder, 'key.pem'),
    '/var/log/nginx/': `${folder}/`,
    '  server 127.0.0.1:3000;\n': upstreams
      .map((upstream) => `  server 127.0.0.1:${upstream};\n`)
      .join(''),
  }).replaceAll(/^ *listen \[::\].*\n/gm, '')
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
    .map((name) => `${name}_temp_path ${folder}/nginx-${name};`)
    .join(' ')
  return `daemon off; pid ${folder}/nginx-${httpsPort}.pid; error_log stderr;
    worker_processes 1; ${process.getuid?.() === 0 ? 'user root;' : ''}
    events {} http { ${temporary} access_log off; ${site} }`
}

async function startNginx(...upstreams: number[]) {
  const nginx = tool('nginx', 'nginx')
  const ports = { https: await freePort(), http: await freePort() }
  const file = join(folder, `nginx-${ports.https}.conf`)
  writeFileSync(file, nginxConfig(ports.https, ports.http, upstreams))
  const checked = spawnSync(nginx, ['-t', '-e', 'stderr', '-c', file], { encoding: 'utf8' })
  expect(checked.stderr).toContain('test is successful')
  expect(checked.stderr).not.toMatch(/\[(emerg|alert|crit|error)\]/)
  const kept = start(lab, nginx, ['-e', 'stderr', '-c', file])
  await waitForPort(ports.https)
  return { ...ports, kept }
}

describe('deploy/nginx', () => {
  test('replaces X-Real-IP, passes Host, uploads and slow answers', async () => {
    const { https, http } = await startNginx(backendPort)
    await expectFaithfulProxy(https)
    const log = readFileSync(join(folder, 'subpanel.log'), 'utf8')
    expect(log).toContain('panel.example.com')
    expect(log).not.toContain('/sub/')
    const redirect = await fetch(`http://127.0.0.1:${http}/pay?x=1`, {
      redirect: 'manual',
      headers: { host: 'site.example.com' },
    })
    expect(redirect.status).toBe(308)
    await expect(ask({ port: https, name: 'unknown.example.com' })).rejects.toThrow()
  })

  test('refuses an upload larger than a restore may be', async () => {
    const { https } = await startNginx(backendPort)
    const call = new Promise<number>((done, reject) => {
      const upload = request({
        host: '127.0.0.1',
        port: https,
        servername: 'panel.example.com',
        rejectUnauthorized: false,
        method: 'POST',
        headers: { host: 'panel.example.com', 'content-length': 600 * 1024 * 1024 },
      })
      upload.on('response', (response) => {
        done(response.statusCode ?? 0)
        upload.destroy()
      })
      upload.on('error', reject)
      upload.flushHeaders()
    })
    expect(await call).toBe(413)
  })

  test('writes no subscription link to its logs while the service is down', async () => {
    const { https, kept } = await startNginx(await freePort())
    const answer = await ask({ port: https, name: 'sub.example.com', path: `/sub/${SECRET}` })
    expect(answer.status).toBe(502)
    for (const name of ['subpanel.log', 'subpanel-error.log']) {
      expect(readFileSync(join(folder, name), 'utf8')).not.toContain(SECRET)
    }
    expect(kept.text).not.toContain(SECRET)
  })
})

/** The sample on loopback ports and with a certificate at hand instead of one from ACME. */
async function startCaddy(...upstreams: number[]) {
  const caddy = tool('caddy', 'caddy')
  const port = await freePort()
  const http = await freePort()
  const text = fill(sample('caddy/Caddyfile'), {
    '\n{\n': `\n{\n\tadmin off\n\tskip_install_trust\n\thttps_port ${port}\n\thttp_port ${http}\n`,
    '\trequest_body {': `\ttls ${folder}/cert.pem ${folder}/key.pem\n\trequest_body {`,
  })
  const file = join(folder, `Caddyfile-${port}`)
  writeFileSync(file, text)
  const env = {
    SUBPANEL_UPSTREAM: upstreams.map((upstream) => `127.0.0.1:${upstream}`).join(' '),
    XDG_DATA_HOME: folder,
    XDG_CONFIG_HOME: folder,
  }
  const kept = start(lab, caddy, ['run', '--adapter', 'caddyfile', '--config', file], env)
  await waitForPort(port)
  return { port, kept }
}

describe('deploy/caddy', () => {
  test('is valid as it stands', () => {
    const checked = spawnSync(
      tool('caddy', 'caddy'),
      ['validate', '--adapter', 'caddyfile', '--config', join(ROOT, 'deploy/caddy/Caddyfile')],
      { encoding: 'utf8', env: { PATH: process.env.PATH, HOME: folder } },
    )
    expect(checked.stdout + checked.stderr).toContain('Valid configuration')
    expect(checked.status).toBe(0)
  })

  test('replaces X-Real-IP, passes Host, uploads and slow answers', async () => {
    const { port } = await startCaddy(backendPort)
    await expectFaithfulProxy(port)
  })

  test('writes no subscription link to its log while the service is down', async () => {
    const { port, kept } = await startCaddy(await freePort())
    const answer = await ask({ port, name: 'sub.example.com', path: `/sub/${SECRET}` })
    expect([502, 503]).toContain(answer.status)
    expect(kept.text).not.toContain(SECRET)
  })

  test('asks the other of two when one has ended, and sends no order to both', async () => {
    const orders: string[] = []
    const replica = (name: string, onOrder: (incoming: IncomingMessage) => void) =>
      createServer((incoming, response) => {
        incoming.resume().on('end', () => {
          if (incoming.method === 'GET') return response.end(name)
          orders.push(name)
          onOrder(incoming)
        })
      })
    // Each breaks off in the middle of what it was sent.
    const replicas = ['a', 'b'].map((name) => replica(name, ({ socket }) => socket.destroy()))
    for (const one of replicas) await listenAt(one)
    const { port } = await startCaddy(...replicas.map(portOf))
    const lists = async (count: number) => {
      const answers = []
      for (let i = 0; i < count; i++)
        answers.push(await ask({ port, name: 'sub.example.com', path: '/sub/x' }))
      expect(answers.map(({ status }) => status)).toEqual(Array(count).fill(200))
      return new Set(answers.map(({ text }) => text))
    }
    expect(await lists(20)).toEqual(new Set(['a', 'b']))
    const body = new TextEncoder().encode('{"plan":"1m"}')
    const order = await ask({ port, name: 'site.example.com', path: '/api/order', body })
    expect(order.status).toBe(502)
    expect(orders).toHaveLength(1)
    const [first, second] = replicas as [Server, Server]
    await leave(first)
    expect(await lists(50)).toEqual(new Set(['b']))
    await leave(second)
  })

  test('leaves out neither of two that are slow', async () => {
    const replicas = ['a', 'b'].map((name) =>
      createServer(async (incoming, response) => {
        if (incoming.url === '/healthz') await pause(3000)
        response.end(name)
      }),
    )
    for (const one of replicas) await listenAt(one)
    const { port } = await startCaddy(...replicas.map(portOf))
    await pause(6000)
    const answers = []
    for (let i = 0; i < 20; i++)
      answers.push(await ask({ port, name: 'sub.example.com', path: '/sub/x' }))
    expect(new Set(answers.map(({ text }) => text))).toEqual(new Set(['a', 'b']))
    for (const one of replicas) await leave(one)
  })

  test('lets reads wait for one alone while it starts, refuses changes meanwhile, and asks it within a second after', async () => {
    const only = createServer((incoming, response) => {
      incoming.resume().on('end', () => response.end('there'))
    })
    await listenAt(only)
    const upstream = portOf(only)
    const { port } = await startCaddy(upstream)
    const list = () => ask({ port, name: 'sub.example.com', path: '/sub/x' })
    const order = () => ask({ port, name: 'site.example.com', path: '/api/order', body })
    const body = new TextEncoder().encode('{"plan":"1m"}')
    const there = { status: 200, text: 'there' }
    expect(await list()).toEqual(there)
    await leave(only)
    const read = list()
    await pause(1500)
    const changed = order()
    await pause(1500)
    await listenAt(only, upstream)
    expect(await read).toEqual(there)
    expect([502, 503]).toContain((await changed).status)
    await pause(1500)
    expect(await order()).toEqual(there)
    await leave(only)
  })

  test('keeps nobody waiting for what somebody else sends: half a body, a malformed one', async () => {
    const only = createServer((incoming, response) => {
      // As Subpanel does with a body that it refuses.
      if (incoming.url === '/refused') return response.writeHead(413).end(() => incoming.destroy())
      incoming.resume().on('end', () => response.end('there'))
    })
    await listenAt(only)
    const { port } = await startCaddy(portOf(only))
    const list = () => ask({ port, name: 'sub.example.com', path: '/sub/x' })
    const site = { host: '127.0.0.1', servername: 'site.example.com' }
    const send = (path: string, body: string) =>
      new Promise<void>((resolve) => {
        const socket = connectTls({ port, ...site, rejectUnauthorized: false }, () =>
          socket.write(
            `POST ${path} HTTP/1.1\r\nHost: site.example.com\r\nTransfer-Encoding: chunked\r\n\r\n${body}`,
          ),
        )
        socket.on('data', () => socket.destroy()).on('error', () => {})
        socket.on('close', () => resolve())
        setTimeout(() => socket.destroy(), 300)
      })
    const waits: number[] = []
    for (let i = 0; i < 10; i++) {
      await send('/api/guest', 'ZZ\r\n{}\r\n0\r\n\r\n')
      await send('/refused', `FFFF\r\n${'x'.repeat(65_535)}\r\n`)
      const began = performance.now()
      expect(await list()).toEqual({ status: 200, text: 'there' })
      waits.push(performance.now() - began)
    }
    expect(Math.max(...waits)).toBeLessThan(1000)
    await leave(only)
  })
})

/** Longer than the proxies take to find out that one is gone. */
const FOUND_OUT_MS = 3500

describe.each([
  { proxy: 'nginx', startSite: async (...ports: number[]) => (await startNginx(...ports)).https },
  { proxy: 'Caddy', startSite: async (...ports: number[]) => (await startCaddy(...ports)).port },
])('two behind $proxy', ({ startSite }) => {
  test('one is gone: soon no order is refused any more; it is back: it is asked again', async () => {
    const replicas = ['a', 'b'].map((name) =>
      createServer((incoming, response) => {
        incoming.resume().on('end', () => response.end(name))
      }),
    )
    for (const one of replicas) await listenAt(one)
    const [first, second] = replicas as [Server, Server]
    const place = portOf(first)
    const port = await startSite(...replicas.map(portOf))
    const body = new TextEncoder().encode('{"plan":"1m"}')
    const order = () => ask({ port, name: 'site.example.com', path: '/api/order', body })
    const orders = async (ms: number) => {
      const answers = []
      for (let sent = 0; sent < ms; sent += 200) {
        answers.push(order())
        await pause(200)
      }
      return (await Promise.all(answers)).map(({ status, text }) =>
        status === 200 ? text : status,
      )
    }
    expect(new Set(await orders(4000))).toEqual(new Set(['a', 'b']))
    await leave(first)
    await orders(FOUND_OUT_MS)
    expect(new Set(await orders(4000))).toEqual(new Set(['b']))
    await listenAt(first, place)
    await expect.poll(async () => (await order()).text, { timeout: 20_000 }).toBe('a')
    for (const one of [first, second]) await leave(one)
  })
})

describe('REALITY on the public port with the local HTTPS site as its target', () => {
  test.each([
    { proxy: 'nginx', startSite: async () => (await startNginx(backendPort)).https },
    { proxy: 'Caddy', startSite: async () => (await startCaddy(backendPort)).port },
  ])(
    '$proxy: strangers reach the site, seen from 127.0.0.1, clients the proxy',
    async ({ startSite }) => {
      const ports = await startXray(lab, await startSite(), backendPort)
      for (const name of NAMES) {
        const answer = await ask({ port: ports.server, name, headers: FORGED })
        expect(JSON.parse(answer.text)).toMatchObject({ host: name, realIp: ['127.0.0.1'] })
      }
      const proxied = await fetch(`http://127.0.0.1:${ports.client}/through`)
      expect(await proxied.json()).toMatchObject({ path: '/through', realIp: [] })
    },
  )
})
