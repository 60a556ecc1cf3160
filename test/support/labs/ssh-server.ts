/** A real sshd on loopback with a configuration of its own, whose one account runs one command. Needs root and openssh-server. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createConnection } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { childrenOf, freePort } from '#test/support/drivers/process.ts'
import { until } from './lab.ts'

const SSHD = '/usr/sbin/sshd'

/** The account that is let in. */
export const SSH_USER = 'subpanel'

export interface SshServer {
  dir: string
  port: number
  /** Host keys in the order of their types, `type base64`. */
  hostKeys(): string[]
  start(): Promise<void>
  /** Kills it with everything that runs under it, and waits for its end. */
  kill(): Promise<void>
  /** Nothing of it moves any more; `sessions`: its connections only, new ones are served. */
  freeze(what?: 'all' | 'sessions'): void
  thaw(): void
  /** New host keys of these types, from the next start on. */
  renewHostKeys(...types: string[]): void
  /** Logins since the first start. */
  logins(): number
  close(): Promise<void>
}

/** `type base64` of a public key file. */
const readKey = (path: string) => readFileSync(path, 'utf8').split(' ').slice(0, 2).join(' ').trim()

function familyOf(pid: number): number[] {
  return childrenOf(pid).flatMap((child) => [child, ...familyOf(child)])
}

function signal(pids: number[], name: NodeJS.Signals): void {
  for (const pid of pids) {
    try {
      process.kill(pid, name)
    } catch {
      // It has ended by itself.
    }
  }
}

function isListening(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = createConnection({ port, host: '127.0.0.1' })
    const end = (answer: boolean) => {
      socket.destroy()
      resolve(answer)
    }
    socket.once('data', () => end(true))
    socket.once('error', () => end(false))
    socket.once('close', () => end(false))
  })
}

/** A server that lets SSH_USER in with `publicKey` and then runs `command`, whatever is asked; `$DIR` in it is the server's folder. */
export async function createSshServer(publicKey: string, command: string): Promise<SshServer> {
  const dir = mkdtempSync(join(tmpdir(), 'subpanel-sshd-'))
  const port = await freePort()
  const log = join(dir, 'sshd.log')
  let types: string[] = []
  let generation = 0
  let child: ChildProcess | null = null
  let frozen: number[] = []
  const keyFile = (type: string) => join(dir, `host-${generation}-${type}`)
  const pids = () => (child?.pid ? [child.pid, ...familyOf(child.pid)] : [])

  // Where sshd goes for its unprivileged part; a packaged one is given it by its unit.
  mkdirSync('/run/sshd', { recursive: true, mode: 0o755 })
  writeFileSync(
    join(dir, 'authorized_keys'),
    `restrict,command="${command.replaceAll('$DIR', dir)}" ${publicKey}\n`,
  )
  // root by another name, with a plain shell and no files of this machine's root that it would read.
  writeFileSync(
    join(dir, 'passwd'),
    `${readFileSync('/etc/passwd', 'utf8')}${SSH_USER}:*:0:0::${dir}:/bin/sh\n`,
  )
  writeFileSync(log, '')
  const server: SshServer = {
    dir,
    port,
    hostKeys: () => types.map((type) => readKey(`${keyFile(type)}.pub`)),
    renewHostKeys(...wanted) {
      generation++
      types = wanted
      for (const type of types) {
        execFileSync('ssh-keygen', [
          '-q',
          '-t',
          type,
          ...(type === 'rsa' ? ['-b', '2048'] : []),
          '-N',
          '',
          '-f',
          keyFile(type),
        ])
      }
    },
    async start() {
      const lines = [
        `Port ${port}`,
        'ListenAddress 127.0.0.1',
        ...types.map((type) => `HostKey ${keyFile(type)}`),
        `AuthorizedKeysFile ${dir}/authorized_keys`,
        'AuthenticationMethods publickey',
        'PermitRootLogin forced-commands-only',
        'StrictModes no',
        'UsePAM no',
        'MaxStartups 100',
        'PidFile none',
        'LogLevel VERBOSE',
      ]
      writeFileSync(join(dir, 'sshd_config'), `${lines.join('\n')}\n`)
      const script = `mount --bind ${dir}/passwd /etc/passwd && exec ${SSHD} -D -f ${dir}/sshd_config -E ${log}`
      child = spawn('unshare', ['--mount', 'sh', '-c', script], { stdio: 'ignore' })
      await until('sshd listens', () => isListening(port))
    },
    async kill() {
      server.thaw()
      signal(pids(), 'SIGKILL')
      if (child?.exitCode === null) await once(child, 'exit')
      child = null
    },
    freeze(what = 'all') {
      frozen = pids().slice(what === 'all' ? 0 : 1)
      signal(frozen, 'SIGSTOP')
    },
    thaw() {
      signal(frozen.splice(0), 'SIGCONT')
    },
    logins: () => readFileSync(log, 'utf8').split('Accepted publickey').length - 1,
    async close() {
      await server.kill()
      rmSync(dir, { recursive: true, force: true })
    },
  }
  server.renewHostKeys('ed25519')
  return server
}
