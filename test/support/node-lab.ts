/**
 * Servers of a lab as the install script leaves them, without its Debian: a real sshd with a forced command, the node program and
 * real cores under a stand-in for systemd. Everything ends with the lab.
 */
import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { findCore } from './cores.ts'
import { type ExecResult, type Lab, type LabProcess, until } from './lab.ts'
import { addMachine, type ManagedServer, pidsOf, signalAll, watchServer } from './lab-machines.ts'
import { findProgram, ROOT } from './process.ts'

const PROGRAM = join(ROOT, 'templates/node-agent.sh')
const SYSTEMCTL = join(ROOT, 'test/support/systemctl-stand-in.sh')

export interface ServerOptions {
  /** Hysteria2 beside Xray. */
  hysteria?: boolean
  /** The node program's state lies on a disk of this size. */
  diskMb?: number
  sni: string
}

/** A server that a panel can manage, set up in folders of its own. */
export interface NodeServer extends ManagedServer {
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

function unit(config: string, state: string, lines: string[]): string {
  const service = [`Environment=SUBPANEL_NODE_DIR=${state}`, ...lines, 'Restart=always']
  return `[Unit]\nConditionPathExists=${config}\n[Service]\n${service.join('\n')}\nRestartSec=0.2\n`
}

/** What the install script leaves on a server (docs/node-program.md), in folders of the machine's own. */
function install(home: string, state: string, hysteria: boolean): void {
  for (const folder of ['units', 'run', 'ssh']) mkdirSync(join(home, folder))
  const socket = join(home, 'run/api.sock')
  const systemctl = join(home, 'systemctl')
  const places = `STAND_IN_UNITS='${join(home, 'units')}' STAND_IN_STATE='${join(home, 'run')}'`
  writeFileSync(systemctl, `#!/bin/sh\n${places} exec bash '${SYSTEMCTL}' "$@"\n`, { mode: 0o755 })
  const conf = [`API_SOCK=${socket}`]
  const addCore = (core: 'xray' | 'hysteria', config: string, lines: string[]) => {
    const name = `subpanel-${core}`
    writeFileSync(join(home, `units/${name}.service`), unit(join(state, config), state, lines))
    writeFileSync(join(home, `run/${name}.service.enabled`), '')
    const key = core === 'xray' ? 'CORE' : 'HYSTERIA'
    conf.push(
      `${core.toUpperCase()}_BIN=${findCore(core)}`,
      `${key}_RESTART=${systemctl} enable --quiet ${name} && ${systemctl} restart ${name}`,
      `${key}_STOP=${systemctl} disable --quiet --now ${name}`,
    )
  }
  addCore('xray', 'config.json', [
    `ExecStartPre=-/bin/rm -f ${socket}`,
    `ExecStart=${findCore('xray')} run -c ${join(state, 'config.json')}`,
  ])
  if (hysteria) {
    const config = join(state, 'hysteria.yaml')
    addCore('hysteria', 'hysteria.yaml', [
      `ExecStart=${findCore('hysteria')} server --disable-update-check -c ${config}`,
    ])
    conf.push(`HYSTERIA_SECRET=${randomBytes(16).toString('hex')}`)
  }
  writeFileSync(join(state, 'node.conf'), `${conf.join('\n')}\n`)
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
  install(home, state, options.hysteria ?? false)
  makeHostKeys(ssh)
  const sshdConfig = writeSshdConfig(ssh)
  writeFileSync(join(ssh, 'authorized_keys'), '')
  let sshd: LabProcess | null = null

  const server: NodeServer = {
    ...watchServer(lab, { machine, address }, machine, {
      dir: state,
      socket: join(home, 'run/api.sock'),
    }),
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
      const file = join(ssh, 'authorized_keys')
      const line = `restrict,command="${program}" ${publicKey.trim()}\n`
      writeFileSync(file, readFileSync(file, 'utf8') + line)
    },
    answerWith(script) {
      const text = script ?? `SUBPANEL_NODE_DIR='${state}' exec bash '${PROGRAM}' "$@"`
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
      signalAll(pidsOf(lab, machine), 'SIGKILL')
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
