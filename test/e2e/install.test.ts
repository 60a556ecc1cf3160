import { existsSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { findCore } from '#test/support/cores.ts'
import {
  createLab,
  type Lab,
  type LabProcess,
  startTarget,
  type Target,
  until,
} from '#test/support/labs/lab.ts'
import { addDebian, type DebianServer } from '#test/support/labs/rootfs.ts'
import {
  fetchThrough,
  type Runtime,
  type Service,
  startLinkClient,
  startService,
} from '#test/support/labs/service.ts'

let lab: Lab
let target: Target
let servers = 0

beforeAll(async () => {
  lab = createLab()
  target = await startTarget(lab)
  // The first run makes the Debian.
}, 1_000_000)
afterAll(() => lab.close())

/** A panel that servers reach under its own name. */
function startPanel(runtime: Runtime, port: number): Promise<Service> {
  return startService(lab, target, runtime, `panel-${port}`, {
    LOCAL_NODE: 'off',
    PORT: String(port),
    PUBLIC_SCHEME: 'http',
    PANEL_DOMAIN: `server.test:${port}`,
    HYSTERIA_BIN: findCore('hysteria'),
  })
}

/** Has the guide prepare a node for a server; gives its code and the command. */
async function guide(panel: Service, server: DebianServer, more: object = {}) {
  const { json } = await panel.admin('/nodes/provision-guide', {
    label: `Node $(touch /pwned) '"\`touch /pwned\`"' ${server.machine}`,
    address: server.address,
    sni: target.serverName,
    include_ws: true,
    include_xhttp: true,
    include_hysteria2: true,
    ...more,
  })
  return json as { code: string; command: string }
}

/** The token of a command: whoever knows it while it works can report another server in this one's place. */
const tokenIn = (command: string) => /\/install\/([\w-]+)\.sh/.exec(command)?.[1] ?? ''

async function nodeOf(panel: Service, code: string) {
  const { json } = await panel.admin('/nodes')
  return json.find((node: { code: string }) => node.code === code)
}

/** Waits until the panel has been on the node and found it in order. */
const inOrder = (panel: Service, code: string) =>
  until(
    'the panel drives the node',
    async () => {
      const node = await nodeOf(panel, code)
      return node.last_seen_at !== null && node.last_error === null && node
    },
    15_000,
  )

const modeOf = (server: DebianServer, path: string) => {
  const { mode, uid } = statSync(join(server.root, path))
  return `${(mode & 0o7777).toString(8)} ${uid === 0 ? 'root' : 'other'}`
}

const read = (server: DebianServer, path: string) => readFileSync(join(server.root, path), 'utf8')

/** Pids and users of the cores, without what root asks of them just now. */
const cores = async (server: DebianServer) => {
  const script = `for p in /proc/[0-9]*; do
    case $(readlink $p/exe) in */debian-${server.machine}/usr/local/lib/subpanel/*) stat -c "%U ${'$'}{p#/proc/} $(cat $p/comm)" $p ;; esac
  done | grep -v ^root | sort`
  return (await server.run(script)).stdout
}

describe.each(['node', 'bun'] as const)('a bare Debian and a panel on %s', (runtime) => {
  let panel: Service
  let server: DebianServer
  let code: string
  let command: string

  beforeAll(async () => {
    panel = await startPanel(runtime, runtime === 'node' ? 3100 : 3200)
    server = addDebian(lab, ++servers)
    await server.startSshd()
  }, 1_000_000)

  test('becomes a node by one command, and the panel drives it over SSH', async () => {
    ;({ code, command } = await guide(panel, server))
    expect((await panel.admin(`/nodes/${code}/status`)).json).toEqual({
      status: 'pending',
      enabled: false,
    })
    const token = tokenIn(command)
    // What another user of the machine reads of everybody's arguments. The brackets keep it from finding itself.
    const reading = `while :; do grep -ahs '[${token[0]}]${token.slice(1)}' /proc/[0-9]*/cmdline; done`
    const nobody = ['--reuid=65534', '--regid=65534', '--clear-groups', 'sh', '-c', reading]
    const nosy = lab.spawn('setpriv', nobody)
    const ran = await server.type(command)
    nosy.signal('SIGKILL')
    await nosy.exited
    expect(ran.code, ran.stderr).toBe(0)
    expect(ran.stderr).toContain(`Done: this server is the node ${code}.`)
    expect(nosy.output()).toBe('')
    expect((await panel.admin(`/nodes/${code}/status`)).json).toEqual({
      status: 'active',
      enabled: true,
    })
    const node = await inOrder(panel, code)
    expect(node).toMatchObject({
      core_version: '26.7.28',
      ssh_port: 22,
      ssh_user: 'subpanel',
      presented_host_key: null,
    })
    expect(node.host_key.split(' ')).toHaveLength(3)
    const certificate = read(server, 'var/lib/subpanel-node/tls/node.crt').trim()
    const certs = node.transports_json.map((one: { type: string; cert?: string }) => [
      one.type,
      one.cert,
    ])
    expect(certs).toEqual([
      ['ws', certificate],
      ['xhttp', undefined],
      ['hysteria2', certificate],
    ])
    const metrics = (await panel.admin(`/nodes/${code}/metrics`)).json
    expect(metrics).toMatchObject({ ok: true, core_up: true, core_version: '26.7.28' })
    const kernel = readFileSync('/proc/sys/net/ipv4/tcp_available_congestion_control', 'utf8')
    const bbr = /\bbbr\b/.test(kernel) ? 'net.ipv4.tcp_congestion_control = bbr\n' : ''
    expect(read(server, 'etc/sysctl.d/99-subpanel.conf')).toMatch(
      new RegExp(`^net.core.rmem_max = 16777216\n[^]*${bbr}$`),
    )
  })

  test('serves a customer', async () => {
    await panel.admin(`/users/${servers}/grant`, { node: code, plan: '1m' })
    const { token } = (await panel.admin(`/users/${servers}`)).json
    const list = await panel.request(`/sub/${token}`, { agent: 'v2rayNG/1.8' })
    const client = startLinkClient(lab, list.text)
    await until('a page comes through', async () => {
      return (await fetchThrough(lab, target, client)) === 'hello'
    })
  })

  test('keeps secrets and programs in the right hands', async () => {
    const state = 'var/lib/subpanel-node'
    expect(modeOf(server, state)).toBe('750 root')
    expect(modeOf(server, `${state}/tls/node.key`)).toBe('640 root')
    expect(modeOf(server, 'etc/subpanel')).toBe('755 root')
    expect(modeOf(server, 'etc/subpanel/node.conf')).toBe('600 root')
    expect(existsSync(join(server.root, state, 'node.conf'))).toBe(false)
    expect(modeOf(server, `${state}/config.json`)).toBe('640 root')
    expect(modeOf(server, 'usr/local/lib/subpanel/agent')).toBe('755 root')
    expect(modeOf(server, 'usr/local/lib/subpanel/cores.sha256')).toBe('644 root')
    const listed = await server.run('cd /usr/local/lib/subpanel && sha256sum -c cores.sha256')
    expect(listed.stdout).toBe('xray: OK\nhysteria: OK\n')
    expect(modeOf(server, 'etc/sudoers.d/subpanel')).toBe('440 root')
    expect(await cores(server)).toMatch(
      /^subpanel-hysteria \d+ hysteria\nsubpanel-xray \d+ xray\n$/,
    )
    const keys = read(server, 'var/lib/subpanel-access/.ssh/authorized_keys')
    expect(keys).toMatch(
      /^restrict,command="sudo -n \/usr\/local\/lib\/subpanel\/agent" ssh-ed25519 \S+ subpanel\n$/,
    )
    const as = (words: string) => server.run(`setpriv --reuid subpanel --init-groups ${words}`)
    expect((await as('sudo -n id')).code).not.toBe(0)
    expect((await as('sudo -n /usr/local/lib/subpanel/agent retire x')).code).not.toBe(0)
    expect((await as('cat /etc/subpanel/node.conf')).code).not.toBe(0)
    const words = 'env SSH_ORIGINAL_COMMAND=version sudo -n /usr/local/lib/subpanel/agent'
    const version = JSON.parse((await as(words)).stdout)
    expect(version).toMatchObject({ program: 2, core_version: '26.7.28', tested: true })
    expect(existsSync(join(server.root, 'pwned'))).toBe(false)
  })

  test('is left as it is by a second run: nothing starts anew, nothing is made anew', async () => {
    const files = ['tls/node.crt', 'tls/node.key', 'core.params', 'clients', 'config.json', 'owner']
    const state = () => [
      ...files.map((name) => read(server, `var/lib/subpanel-node/${name}`)),
      read(server, 'etc/subpanel/node.conf'),
    ]
    const before = { cores: await cores(server), state: state() }
    expect(before.state[3]).toMatch(/^[0-9a-f-]{36} /)
    const ran = await server.run(command, 'sh')
    expect(ran.code, ran.stderr).toBe(0)
    expect({ cores: await cores(server), state: state() }).toEqual(before)
    expect(await nodeOf(panel, code)).toMatchObject({ status: 'active', last_error: null })
  })
})

describe('a server that cannot become a node yet', () => {
  let panel: Service
  let server: DebianServer
  let code: string
  let command: string
  let sshd: LabProcess

  beforeAll(async () => {
    panel = await startPanel('node', 3300)
    server = addDebian(lab, ++servers)
    sshd = await server.startSshd()
    ;({ code, command } = await guide(panel, server))
  })

  /** Runs the command, which must fail at a step that the panel then knows. */
  async function expectFailure(commandLine: string, step: string, reason: string) {
    const ran = await server.run(commandLine)
    expect(ran.code, ran.stderr).toBe(1)
    expect(ran.stderr).toContain(`FAILED at the step "${step}": ${reason}`)
    const node = await nodeOf(panel, code)
    expect(node).toMatchObject({ status: 'failed', enabled: false })
    const told = reason.replaceAll('"', ' ')
    expect(node.last_error).toContain(`the install script failed at the step "${step}": ${told}`)
  }

  const inRoot = (path: string) => join(server.root, path)

  test('was given a script in which shellcheck finds nothing', async () => {
    const { text } = await panel.request(/\/install\/[\w-]+\.sh/.exec(command)?.[0] ?? '')
    const file = join(lab.dir, 'install.sh')
    writeFileSync(file, text)
    const root = join(import.meta.dirname, '../..')
    const others = ['templates/install.sh', 'test/support/fakes/systemctl-stand-in.sh']
    const files = [file, ...others.map((name) => join(root, name))]
    const { code: found, stdout } = await lab.exec('shellcheck', files)
    expect(found, stdout).toBe(0)
  })

  test('is untouched by a script that was cut', async () => {
    const fetching = command.replace(/\| bash$/, '>/tmp/script')
    await server.run(fetching)
    const { length } = read(server, 'tmp/script')
    for (const cut of [50, 3000, Math.floor(length / 2), length - 200, length - 25]) {
      await server.run(`head -c ${cut} /tmp/script | bash`)
      expect(existsSync(inRoot('usr/local/lib/subpanel')), String(cut)).toBe(false)
      expect(existsSync(inRoot('run/subpanel-install.lock')), String(cut)).toBe(false)
    }
  })

  test('is told where systemd does not run', async () => {
    renameSync(inRoot('run/systemd/system'), inRoot('run/systemd/gone'))
    await expectFailure(command, 'checks', 'systemd does not run here')
    renameSync(inRoot('run/systemd/gone'), inRoot('run/systemd/system'))
  })

  test('is told where the panel itself runs', async () => {
    const unit = inRoot('etc/systemd/system/subpanel.service')
    writeFileSync(unit, '')
    await expectFailure(command, 'checks', 'Subpanel itself runs on this machine')
    rmSync(unit)
  })

  test('is told who has the port', async () => {
    const code = 'import socket, time; s = socket.create_server(("", 8443)); time.sleep(60)'
    const other = lab.spawn('python3', ['-c', code], { machine: server.machine })
    await until(
      'the port is taken',
      async () => (await server.run('ss -Hltn sport = :8443')).stdout,
    )
    await expectFailure(command, 'ports', 'port 8443/tcp is in use by python3')
    other.signal('SIGTERM')
    await other.exited
  })

  test('is told what sshd lacks, and sshd is left as it is', async () => {
    const config = inRoot('etc/ssh/sshd_config.d/own.conf')
    const before = read(server, 'etc/ssh/sshd_config')
    for (const [line, reason] of [
      [
        'AllowUsers root admin@10.0.0.1',
        'sshd lets in only those that allowusers names: add subpanel',
      ],
      ['DenyGroups sub*', 'sshd refuses the account subpanel by denygroups'],
      ['PubkeyAuthentication no', 'sshd takes no keys'],
      ['AuthenticationMethods publickey,password', 'sshd wants more than a key'],
      [
        'AuthorizedKeysFile /etc/ssh/everybody',
        'sshd reads the keys of all accounts from one file',
      ],
      ['Match User subpanel\nForceCommand /bin/false', 'sshd has a forcecommand'],
    ] as const) {
      writeFileSync(config, `${line}\n`)
      await expectFailure(command, 'ssh', reason)
    }
    expect(read(server, 'etc/ssh/sshd_config')).toBe(before)
    expect(read(server, 'etc/ssh/sshd_config.d/own.conf')).toContain('ForceCommand')
    // Both of these let the account in, once sshd has read them.
    writeFileSync(config, 'AllowUsers root sub*@* other\nAuthorizedKeysFile /etc/ssh/keys/%u\n')
    sshd.signal('SIGHUP')
  })

  test('is told at once when the panel has no core for it, and is left as it is', async () => {
    const coreless = command.replace(
      /\| bash$/,
      `| sed "s/XRAY_AMD64='[0-9a-f]*/XRAY_AMD64='/" | bash -s -- --replace`,
    )
    const state = () => server.run('ls -la /usr/local/lib /var/lib /etc/passwd')
    const before = (await state()).stdout
    await expectFailure(coreless, 'checks', 'the panel has no xray for amd64: run `npm run cores`')
    expect((await state()).stdout).toBe(before)
  })

  test('is told of a program that was altered on its way', async () => {
    const altered = command.replace(
      /\| bash$/,
      `| sed "s/XRAY_AMD64='[0-9a-f]*/XRAY_AMD64='${'0'.repeat(64)}/" | bash`,
    )
    await expectFailure(altered, 'cores', 'xray did not arrive as the panel has it')
    expect(existsSync(inRoot('usr/local/lib/subpanel/xray'))).toBe(false)
  })

  test('becomes one when all is well, also without curl and in a plain sh', async () => {
    const purged = await server.run('dpkg --purge --force-depends curl')
    expect(purged.code, purged.stderr).toBe(0)
    expect(existsSync(inRoot('usr/bin/curl'))).toBe(false)
    const ran = await server.run(command, 'sh')
    expect(ran.code, ran.stderr + ran.stdout).toBe(0)
    expect(await inOrder(panel, code)).toMatchObject({ status: 'active', enabled: true })
    expect(existsSync(inRoot('etc/ssh/keys/subpanel'))).toBe(true)
  })

  test('is no other node before it is told to be, and then no longer the first one', async () => {
    const first = { code, command }
    const second = await guide(panel, server, { label: 'second', include_hysteria2: false })
    ;({ code } = second)
    await expectFailure(second.command, 'checks', 'this server serves another node already')
    const ran = await server.run(second.command.replace(/bash$/, 'bash -s -- --replace'))
    expect(ran.code, ran.stderr).toBe(0)
    await inOrder(panel, code)
    // Driven by one node only: the other's configuration would take its turn.
    expect(await nodeOf(panel, first.code)).toMatchObject({
      status: 'pending',
      last_seen_at: null,
      last_error: expect.stringContaining('its server became another node'),
    })
    expect(await cores(server)).toMatch(/^subpanel-xray \d+ xray\n$/)
    const config = read(server, 'var/lib/subpanel-node/config.json')
    expect((await panel.admin('/sync', {})).status).toBe(200)
    expect(read(server, 'var/lib/subpanel-node/config.json')).toBe(config)
    expect(existsSync(inRoot('etc/systemd/system/subpanel-hysteria.service'))).toBe(false)
    const again = await server.run(first.command.replace(/bash$/, 'bash -s -- --replace'))
    expect(again.stderr).toContain('this command was used for another server')
  })
})
