/** A bare Debian for tests that set a server up: made once by debootstrap, kept outside the repository, copied for each use. */
import { execFileSync } from 'node:child_process'
import {
  appendFileSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ExecResult, Lab, LabProcess } from './lab.ts'
import { addMachine } from './lab-machines.ts'

const SUITE = 'bookworm'
const PACKAGES = 'openssh-server,sudo,iproute2,openssl,curl,ca-certificates'
const SYSTEMCTL = join(import.meta.dirname, '../fakes/systemctl-stand-in.sh')
const FALLBACK_MIRROR = 'http://deb.debian.org/debian'

/** The mirror that this machine's own apt uses. */
function mirrorOf(): string {
  const folder = '/etc/apt/sources.list.d'
  const more = existsSync(folder) ? readdirSync(folder).map((name) => join(folder, name)) : []
  const files = ['/etc/apt/sources.list', ...more.filter((path) => /\.(list|sources)$/.test(path))]
  const text = files.map((path) => (existsSync(path) ? readFileSync(path, 'utf8') : '')).join('\n')
  const [uri] = [
    ...text.matchAll(/^(?:URIs:|deb(?: \[[^\]]*\])?)\s+(https?:\S+\/debian)\/?(?=\s)/gm),
  ]
  return uri?.[1] ?? FALLBACK_MIRROR
}

/** The folder of the untouched system. The first call takes some minutes and the network. */
function pristineRootfs(): string {
  const cache = process.env.SUBPANEL_CI_CACHE ?? join(tmpdir(), 'subpanel-ci')
  const kept = join(cache, SUITE)
  if (existsSync(kept)) return kept
  mkdirSync(cache, { recursive: true })
  const made = `${kept}.${process.pid}`
  try {
    const args = ['--variant=minbase', `--include=${PACKAGES}`, SUITE, made, mirrorOf()]
    execFileSync('debootstrap', args, { stdio: ['ignore', 'ignore', 'pipe'], timeout: 900_000 })
    if (!existsSync(kept)) renameSync(made, kept)
  } finally {
    rmSync(made, { recursive: true, force: true })
  }
  return kept
}

/** A server of a lab with a Debian of its own. */
export interface DebianServer {
  address: string
  /** The suffix of its namespace. */
  machine: string
  /** Where its files are. */
  root: string
  /** Runs a command line there as root. */
  run(commandLine: string, shell?: 'sh' | 'bash'): Promise<ExecResult>
  /** Types a command line into root's shell: unlike in `run` it is no argument of a process, which all users can read. */
  type(commandLine: string): Promise<ExecResult>
  startSshd(): Promise<LabProcess>
}

/** Adds a bare Debian, number `index` (from 1), to a lab; it ends with the lab. `hosts` are lines of its /etc/hosts. */
export function addDebian(lab: Lab, index: number): DebianServer {
  const { machine, address } = addMachine(lab, index)
  const root = join(lab.dir, `debian-${machine}`)
  execFileSync('cp', ['-a', '--reflink=auto', pristineRootfs(), root])
  execFileSync('mount', ['-t', 'proc', 'proc', join(root, 'proc')])
  // What the script asks of the kernel must not reach this machine's.
  const sys = join(root, 'proc/sys')
  execFileSync('mount', ['--bind', sys, sys])
  execFileSync('mount', ['-o', 'remount,ro,bind', sys])
  copyFileSync(`/etc/netns/${lab.name}/hosts`, join(root, 'etc/hosts'))
  appendFileSync(join(root, 'etc/hosts'), `127.0.0.1 ${machine}\n`)
  // Names of the world are refused at once, not after a time.
  writeFileSync(join(root, 'etc/resolv.conf'), 'nameserver 127.0.0.1\n')
  writeFileSync(join(root, 'etc/hostname'), `${machine}\n`)
  copyFileSync(SYSTEMCTL, join(root, 'usr/bin/systemctl'))
  mkdirSync(join(root, 'run/systemd/system'), { recursive: true })
  const inside = ['-i', 'HOME=/root', 'PATH=/usr/sbin:/usr/bin:/sbin:/bin', 'chroot', root]
  return {
    address,
    machine,
    root,
    run: (commandLine, shell = 'bash') =>
      lab.exec('env', [...inside, shell, '-c', commandLine], { machine, timeoutMs: 120_000 }),
    type: (commandLine) =>
      lab.exec('env', [...inside, 'bash'], {
        machine,
        timeoutMs: 120_000,
        input: `${commandLine}\n`,
      }),
    async startSshd() {
      mkdirSync(join(root, 'run/sshd'), { recursive: true })
      const sshd = lab.spawn('env', [...inside, '/usr/sbin/sshd', '-D', '-e'], { machine })
      while (!sshd.output().includes('Server listening')) {
        await new Promise((resolve) => setTimeout(resolve, 50))
      }
      return sshd
    },
  }
}
