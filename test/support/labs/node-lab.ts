/**
 * Servers of a lab as the install script leaves them, without its Debian: a real sshd with a forced command, the node program and
 * real cores under a stand-in for systemd. Everything ends with the lab.
 */
import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import {
  appendFileSync,
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { findCore } from '#test/support/cores.ts'
import { findProgram, ROOT } from '#test/support/drivers/process.ts'
import { type ExecResult, type Lab, type LabProcess, until } from './lab.ts'
import { addMachine, type ManagedServer, pidsOf, signalAll, watchServer } from './lab-machines.ts'

const PROGRAM = join(ROOT, 'templates/node-agent.sh')
const SYSTEMCTL = join(ROOT, 'test/support/fakes/systemctl-stand-in.sh')

export interface ServerOptions {
  /** Hysteria2 beside Xray. */
  hysteria?: boolean
  /** The node program's state lies on a disk of this size. */
  diskMb?: number
  sni: string
}

/** A server that a panel can manage, set up in folders of its own. */
export interface NodeServer extends ManagedServer {
  /** What the node program is run with. */
  env: Record<string, string>
  /** The node program's settings. */
  conf: string
  /** PEM of the certificate that WS and Hysteria2 show. */
  certificate: string
  sshd(): LabProcess | null
  startSshd(): Promise<void>
  /** Ends the listener and every session. */
  stopSshd(): void
  /** SIGSTOP or SIGCONT to the listener and every session. */
  signalSshd(name: 'SIGSTOP' | 'SIGCONT'): void
  /** Makes host keys anew, as a reinstalled server has them; counts from the next start of sshd. */
  renewHostKeys(): void
  /** Lets a panel in with its management key. */
  trust(publicKey: string): void
  /** Answers instead of the node program: the text of a shell script; null puts the real one back. */
  answerWith(script: string | null): void
  /** Starts what is enabled, as a machine does that was switched on. */
  boot(): Promise<void>
  /** Everything ends at once, as without power. */
  powerOff(): void
  /** Runs a verb of the node program on the machine itself. */
  run(...words: string[]): Promise<ExecResult>
}

const keyTypes = ['ed25519', 'ecdsa']

function makeCertificate(folder: string, sni: string): string {
  mkdirSync(folder, { recursive: true })
  const file = join(folder, 'node.crt')
  const request = `req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 3650
    -subj /CN=${sni} -addext subjectAltName=DNS:${sni}`.split(/\s+/)
  const key = join(folder, 'node.key')
  execFileSync('openssl', [...request, '-keyout', key, '-out', file], { stdio: 'ignore' })
  return readFileSync(file, 'utf8')
}

/** Variables as a shell puts them before a command. */
export const assignments = (env: Record<string, string>): string =>
  Object.entries(env)
    .map(([name, value]) => `${name}='${value}'`)
    .join(' ')

/** Whose rights a tested configuration is read with, on a server of a lab: those of the account that has none. */
export const CORE_ACCOUNT = { user: 'nobody', group: 'nogroup', gid: 65_534 } as const

/** Lets the core's account into a folder of the node program and read these files of it, as the install script does. */
export function openForCore(folder: string, ...files: string[]): void {
  for (const path of [folder, ...files.map((file) => join(folder, file))]) {
    chownSync(path, 0, CORE_ACCOUNT.gid)
    chmodSync(path, path === folder ? 0o750 : 0o640)
  }
}

export interface StandIn {
  /** Has the program find our systemctl, and its settings. */
  env: Record<string, string>
  conf: string
  systemctl: string
  /** Writes a unit of a core and enables it. */
  addUnit(core: 'xray' | 'hysteria', service: string[]): void
  /** The pid of the core that its unit runs. */
  mainPid(core: 'xray' | 'hysteria'): number
}

/** Units, settings and a systemctl of a machine's own in `home`, for a node program whose state is in `state`. */
export function addStandIn(home: string, state: string, settings: string[]): StandIn {
  for (const folder of ['units', 'run', 'etc']) mkdirSync(join(home, folder), { recursive: true })
  const systemctl = join(home, 'systemctl')
  const places = `STAND_IN_UNITS='${join(home, 'units')}' STAND_IN_STATE='${join(home, 'run')}'`
  writeFileSync(systemctl, `#!/bin/sh\n${places} exec bash '${SYSTEMCTL}' "$@"\n`, { mode: 0o755 })
  const conf = join(home, 'etc/node.conf')
  const account = [`CORE_USER=${CORE_ACCOUNT.user}`, `CONFIG_GROUP=${CORE_ACCOUNT.group}`]
  const lines = ['SUPERVISOR=systemd', ...account, ...settings]
  writeFileSync(conf, `${lines.join('\n')}\n`, { mode: 0o600 })
  return {
    env: {
      SUBPANEL_NODE_DIR: state,
      SUBPANEL_NODE_CONF: conf,
      PATH: `${home}:${process.env.PATH}`,
    },
    conf,
    systemctl,
    addUnit(core, service) {
      const config = join(state, core === 'xray' ? 'config.json' : 'hysteria.yaml')
      const environment = `SUBPANEL_NODE_DIR=${state} SUBPANEL_NODE_CONF=${conf}`
      const lines = [`Environment=${environment}`, ...service, 'RestartSec=0.2']
      const text = `[Unit]\nConditionPathExists=${config}\n[Service]\n${lines.join('\n')}\n`
      const name = `subpanel-${core}.service`
      writeFileSync(join(home, 'units', name), text)
      writeFileSync(join(home, 'run', `${name}.enabled`), '')
    },
    mainPid: (core) =>
      Number(readFileSync(join(home, `run/subpanel-${core}.service.main`), 'utf8')),
  }
}

/** What the install script leaves on a server (docs/node-program.md), in folders of the machine's own. */
function install(home: string, state: string, hysteria: boolean): StandIn {
  mkdirSync(join(home, 'ssh'))
  const socket = join(home, 'run/api.sock')
  const settings = [`API_SOCK=${socket}`, `XRAY_BIN=${findCore('xray')}`]
  if (hysteria) {
    const secret = randomBytes(16).toString('hex')
    settings.push(`HYSTERIA_BIN=${findCore('hysteria')}`, `HYSTERIA_SECRET=${secret}`)
  }
  const standIn = addStandIn(home, state, settings)
  standIn.addUnit('xray', [
    `ExecStartPre=-/bin/rm -f ${socket}`,
    `ExecStart=${findCore('xray')} run -c ${join(state, 'config.json')}`,
    'Restart=always',
  ])
  if (hysteria) {
    const config = join(state, 'hysteria.yaml')
    standIn.addUnit('hysteria', [
      `ExecStartPre=-+bash ${PROGRAM} prestart hysteria`,
      `ExecStart=${findCore('hysteria')} server --disable-update-check -c ${config}`,
      'Restart=always',
    ])
  }
  return standIn
}

function makeHostKeys(folder: string): void {
  for (const type of keyTypes) {
    const file = join(folder, `host_${type}`)
    rmSync(file, { force: true })
    rmSync(`${file}.pub`, { force: true })
    execFileSync(findProgram('ssh-keygen'), ['-q', '-t', type, '-N', '', '-C', '', '-f', file])
  }
}

function writeSshdConfig(folder: string): string {
  const file = join(folder, 'sshd_config')
  const lines = [
    'Port 22',
    'PidFile none',
    ...keyTypes.map((type) => `HostKey ${join(folder, `host_${type}`)}`),
    `AuthorizedKeysFile ${join(folder, 'authorized_keys')}`,
    'StrictModes no',
    'UsePAM no',
    'PasswordAuthentication no',
    'KbdInteractiveAuthentication no',
    'PermitRootLogin forced-commands-only',
    'MaxStartups 100',
    'LogLevel VERBOSE',
  ]
  writeFileSync(file, `${lines.join('\n')}\n`)
  return file
}

/** Adds server number `index` (from 1) to a lab, with nothing started: `boot` does that. */
export function addServer(lab: Lab, index: number, options: ServerOptions): NodeServer {
  const { machine, address } = addMachine(lab, index)
  const home = join(lab.dir, machine)
  const state = join(home, 'state')
  const ssh = join(home, 'ssh')
  const program = join(home, 'program')
  mkdirSync(state, { recursive: true })
  if (options.diskMb) {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${options.diskMb}m`, machine, state])
  }
  const certificate = makeCertificate(join(state, 'tls'), options.sni)
  const { env, conf } = install(home, state, options.hysteria ?? false)
  chmodSync(lab.dir, 0o711)
  openForCore(state)
  openForCore(join(state, 'tls'), 'node.crt', 'node.key')
  makeHostKeys(ssh)
  const sshdConfig = writeSshdConfig(ssh)
  writeFileSync(join(ssh, 'authorized_keys'), '')
  let sshd: LabProcess | null = null

  const server: NodeServer = {
    ...watchServer(lab, { machine, address }, machine, {
      dir: state,
      socket: join(home, 'run/api.sock'),
    }),
    env,
    conf,
    certificate,
    sshd: () => sshd,
    async startSshd() {
      // Where it drops its rights, in a folder that only a running system has.
      mkdirSync('/run/sshd', { recursive: true, mode: 0o755 })
      const log = join(home, 'sshd.log')
      const before = existsSync(log) ? readFileSync(log, 'utf8').length : 0
      const args = ['-D', '-e', '-f', sshdConfig]
      sshd = lab.spawn('/usr/sbin/sshd', args, { machine, log })
      const output = sshd.output
      await until('sshd listens', () => output().slice(before).includes('Server listening'))
    },
    stopSshd() {
      sshd = null
      signalAll(pidsOf(lab, machine, /^sshd/), 'SIGKILL')
    },
    signalSshd: (name) => signalAll(pidsOf(lab, machine, /^sshd/), name),
    renewHostKeys: () => makeHostKeys(ssh),
    trust(publicKey) {
      const named = `NODE=${server.code}\n`
      const settings = readFileSync(conf, 'utf8')
      if (!settings.includes(named)) appendFileSync(conf, named)
      const file = join(ssh, 'authorized_keys')
      const line = `restrict,command="${program}" ${publicKey.trim()}\n`
      writeFileSync(file, readFileSync(file, 'utf8') + line)
    },
    answerWith(script) {
      const text = script ?? `${assignments(env)} exec bash '${PROGRAM}' "$@"`
      // Renamed, because a running shell reads on in its file.
      writeFileSync(`${program}.new`, `#!/bin/bash\n${text}\n`, { mode: 0o755 })
      renameSync(`${program}.new`, program)
    },
    async boot() {
      await lab.exec(join(home, 'systemctl'), ['boot'], { machine })
      await server.startSshd()
    },
    powerOff() {
      sshd = null
      // Again, as what is killed may have been starting a program.
      for (let pids = pidsOf(lab, machine); pids.length > 0; pids = pidsOf(lab, machine)) {
        signalAll(pids, 'SIGKILL')
      }
      const run = join(home, 'run')
      for (const name of readdirSync(run)) {
        // As a machine that starts has an empty /run; what is enabled is written elsewhere.
        if (!name.endsWith('.enabled')) rmSync(join(run, name))
      }
    },
    run: (...words) => lab.exec(program, words, { machine }),
  }
  server.answerWith(null)
  return server
}
