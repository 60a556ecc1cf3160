/** The samples in deploy/, run or checked by the programs they are written for. */
import { execFileSync, spawnSync } from 'node:child_process'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { createServer, type IncomingMessage, type Server } from 'node:http'
import { request } from 'node:https'
import { connect } from 'node:net'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { GATEWAYS } from '#src/integrations/payments/index.ts'
import { START } from '#src/settings/start.ts'
import { settingsTable } from '#src/settings/table.ts'
import { findCore } from '#test/support/cores.ts'
import {
  ask,
  closeLab,
  createLab,
  freePort,
  type Lab,
  portOf,
  start,
  startXray,
  tool,
  waitForPort,
} from './deploy-lab.ts'

const ROOT = resolve(import.meta.dirname, '../..')
const NAMES = ['sub.example.com', 'site.example.com', 'panel.example.com']
const SECRET = 'SECRETLINKTOKEN'

const sample = (path: string) => readFileSync(join(ROOT, 'deploy', path), 'utf8')

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
  await new Promise<void>((done) => backend.listen(0, '127.0.0.1', done))
  backendPort = portOf(backend)
})

afterAll(async () => {
  backend?.closeAllConnections()
  backend?.close()
  if (lab) await closeLab(lab)
})

/** The sample as it stands, but on loopback ports, with the test's certificate and log folder. */
function nginxConfig(httpsPort: number, httpPort: number, upstream: number): string {
  const site = fill(sample('nginx/subpanel.conf'), {
    'listen 443 ssl': `listen 127.0.0.1:${httpsPort} ssl`,
    'listen 80;': `listen 127.0.0.1:${httpPort};`,
    '/etc/letsencrypt/live/subpanel/fullchain.pem': join(folder, 'cert.pem'),
    '/etc/letsencrypt/live/subpanel/privkey.pem': join(folder, 'key.pem'),
    '/var/log/nginx/': `${folder}/`,
    '127.0.0.1:3000': `127.0.0.1:${upstream}`,
  }).replaceAll(/^ *listen \[::\].*\n/gm, '')
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
    .map((name) => `${name}_temp_path ${folder}/nginx-${name};`)
    .join(' ')
  return `daemon off; pid ${folder}/nginx-${httpsPort}.pid; error_log stderr;
    worker_processes 1; ${process.getuid?.() === 0 ? 'user root;' : ''}
    events {} http { ${temporary} access_log off; ${site} }`
}

async function startNginx(upstream: number) {
  const nginx = tool('nginx', 'nginx')
  const ports = { https: await freePort(), http: await freePort() }
  const file = join(folder, `nginx-${ports.https}.conf`)
  writeFileSync(file, nginxConfig(ports.https, ports.http, upstream))
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
    expect(answer.status).toBe(502)
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
    for (const one of replicas) await new Promise<void>((done) => one.listen(0, '127.0.0.1', done))
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
    first.closeAllConnections()
    first.close()
    expect(await lists(50)).toEqual(new Set(['b']))
    second.closeAllConnections()
    second.close()
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

describe('deploy/systemd', () => {
  const analyze = () => tool('systemd-analyze', 'systemd')

  /** The units with this checkout and this machine's core in place of the installed ones. */
  function unitFolder(withDropIn: boolean): string {
    const units = mkdtempSync(join(folder, 'units-'))
    cpSync(join(ROOT, 'deploy/systemd'), units, { recursive: true })
    if (!withDropIn) rmSync(join(units, 'subpanel.service.d'), { recursive: true })
    for (const name of readdirSync(units).filter((file) => file.endsWith('.service'))) {
      const text = readFileSync(join(units, name), 'utf8')
      const local = text
        .replaceAll('/opt/subpanel', ROOT)
        .replaceAll('/usr/local/bin/xray', findCore('xray'))
      writeFileSync(join(units, name), local)
    }
    return units
  }

  test.each([false, true])('units pass systemd-analyze verify (system core: %s)', (system) => {
    const units = unitFolder(system)
    const names = readdirSync(units).filter((name) => /\.(service|socket)$/.test(name))
    expect(names).toHaveLength(5)
    for (const name of names) {
      const checked = spawnSync(analyze(), ['verify', '--man=no', join(units, name)], {
        encoding: 'utf8',
      })
      expect(checked.stdout + checked.stderr, name).toBe('')
      expect(checked.status, name).toBe(0)
    }
  })

  test.each([
    ['subpanel.service', false, 1.9],
    ['subpanel.service', true, 1.4],
    ['subpanel@.service', false, 1.3],
    ['subpanel-xray.service', true, 1.7],
    ['subpanel-node@.service', true, 2.9],
  ])('%s (system core: %s) is exposed by at most %d', (name, system, limit) => {
    const unit = join(unitFolder(system), name)
    const checked = spawnSync(analyze(), ['security', '--offline=true', '--no-pager', unit], {
      encoding: 'utf8',
    })
    const figure = /Overall exposure level for \S+: (\d+\.\d+)/.exec(checked.stdout)?.[1]
    console.log(`exposure of ${name}${system ? ' (system core)' : ''}: ${figure}`)
    expect(Number(figure)).toBeLessThanOrEqual(limit)
  })

  test('the socket-activated node program answers the verb on the first line', async () => {
    const activate = tool('systemd-socket-activate', 'systemd')
    const directory = mkdtempSync(join(folder, 'node-'))
    const socket = join(folder, 'node.sock')
    const state = `SUBPANEL_NODE_DIR=${directory}`
    const conf = join(mkdtempSync(join(folder, 'conf-')), 'node.conf')
    writeFileSync(conf, sample('systemd/node.conf'), { mode: 0o600 })
    const program = ['/bin/bash', join(ROOT, 'templates/node-agent.sh')]
    start(lab, activate, [
      '--accept',
      '--inetd',
      '-l',
      socket,
      '-E',
      state,
      '-E',
      `SUBPANEL_NODE_CONF=${conf}`,
      '-E',
      'PATH',
      ...program,
    ])
    await expect.poll(() => existsSync(socket), { timeout: 10_000 }).toBe(true)
    const answer = await new Promise<string>((done, reject) => {
      let text = ''
      const call = connect(socket)
      call.setEncoding('utf8').on('data', (chunk) => {
        text += chunk
      })
      call.on('error', reject).on('close', () => done(text))
      call.write('version\n')
    })
    expect(JSON.parse(answer)).toMatchObject({ ok: true, program: 2 })
  })
})

describe('deploy/docker', () => {
  test('runs as another user than root, keeps the env file in the volume and trusts its network only', () => {
    const dockerfile = sample('docker/Dockerfile')
    expect(dockerfile).toMatch(/^USER 10001:10001$/m)
    expect(dockerfile).toContain('npm ci --omit=dev --omit=optional')
    expect(dockerfile).toContain('DATA_DIR=/data ENV_FILE=/data/.env')
    for (const [, path] of dockerfile.matchAll(/^COPY (?:\S+ )*?(\S+) \.\/\S+$/gm)) {
      expect(existsSync(join(ROOT, path as string)), path).toBe(true)
    }
    const compose = sample('docker/compose.yaml')
    const trusted = /TRUSTED_PROXIES: (\S+)/.exec(compose)?.[1]
    expect(compose).toContain(`subnet: ${trusted}`)
    expect(compose.match(/read_only: true/g)).toHaveLength(2)
    const several = sample('docker/compose.postgres.yaml')
    expect(several).toContain(`subnet: ${/TRUSTED_PROXIES: (\S+)/.exec(several)?.[1]}`)
    expect(several).not.toMatch(/^\s+- "(?:3000|5432)/m)
    for (const [, path] of several.matchAll(/"(src\/\S+)"/g))
      expect(existsSync(join(ROOT, path as string)), path).toBe(true)
    mkdirSync(join(folder, 'shell'), { recursive: true })
    const shell = /^RUN (apt-get[\s\S]*?)\n\n/m.exec(dockerfile)?.[1]
    const file = join(folder, 'shell', 'run.sh')
    writeFileSync(file, `#!/bin/sh\n${shell}\n`)
    const checked = spawnSync(tool('shellcheck', 'shellcheck'), [file], { encoding: 'utf8' })
    expect(checked.stdout).toBe('')
  })
})

describe('docs/deploying.md', () => {
  test('names every setting', () => {
    const names = new Set([
      ...START.map(({ key }) => key),
      ...settingsTable(GATEWAYS).all.keys(),
      ...GATEWAYS.flatMap(({ apiUrl }) => apiUrl?.key ?? []),
    ])
    expect(names.size).toBeGreaterThan(50)
    const docs = readFileSync(join(ROOT, 'docs/deploying.md'), 'utf8')
    expect([...names].filter((name) => !docs.includes(`\`${name}\``))).toEqual([])
  })
})
