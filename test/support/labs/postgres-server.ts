/** A PostgreSQL server of its own, in a folder that is gone with it, on a socket that only root and it can reach. */
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { errorCode } from '#src/lib/errors.ts'

const run = promisify(execFile)

/** Debian's, in a folder for each version; elsewhere by PATH. */
const DEBIAN = '/usr/lib/postgresql'

function programs(): string {
  if (!existsSync(DEBIAN)) return ''
  const [newest] = readdirSync(DEBIAN).sort((a, b) => Number(b) - Number(a))
  return newest === undefined ? '' : join(DEBIAN, newest, 'bin/')
}

/** Does not run as root: that of the package, or nobody. */
async function owner(): Promise<{ uid: number; gid: number } | undefined> {
  if (process.getuid?.() !== 0) return undefined
  const name = await run('id', ['postgres']).then(
    () => 'postgres',
    () => 'nobody',
  )
  const number = async (option: string) => Number((await run('id', [option, name])).stdout)
  return { uid: await number('-u'), gid: await number('-g') }
}

export interface PostgresServer {
  /** Of its superuser and the database `postgres`. */
  url: string
  folder: string
  /** The number of its first process, which all others are children of. */
  pid(): number
  /** Makes an empty database, its tables in `tables` when they shall be elsewhere; gives its address. */
  createDatabase(tables?: string): Promise<string>
  /** A server that follows it. */
  startStandby(): Promise<Standby>
  /** Changes wait until a standby has them on its disk, from now on or no more. */
  waitForStandby(waits: boolean): Promise<void>
  /** Runs `work` while it is down. */
  restart(work: () => Promise<void>): Promise<void>
  /** Runs `work` while none of its processes does anything. */
  frozen(work: () => Promise<void>): Promise<void>
  /** Runs `work` while its disk takes `ms` for whatever shall be on it for sure (strace delays its calls). */
  slow(ms: number, work: () => Promise<void>): Promise<void>
  /** Whether it is there. */
  isUp(): Promise<boolean>
  /** Starts it where it has ended by itself. */
  start(): Promise<void>
  /** Ends it as a machine that is lost does, for good. */
  lose(): Promise<void>
  stop(): Promise<void>
}

export interface Standby
  extends Pick<PostgresServer, 'url' | 'startStandby' | 'waitForStandby' | 'lose' | 'stop'> {
  /** Makes it the one that takes changes. */
  promote(): Promise<void>
}

/** What tests need no disk for. */
const CARELESS = ['fsync=off', 'synchronous_commit=off', 'full_page_writes=off']

/**
 * Starts one; `settings` are lines of its configuration, without any it survives no power cut, and is fast. `log`: an empty folder for its
 * write-ahead log, in pieces of a megabyte.
 */
export async function startPostgres(
  settings: string[] = CARELESS,
  log?: string,
): Promise<PostgresServer> {
  const folder = mkdtempSync(join(tmpdir(), 'subpanel-postgres-'))
  const user = await owner()
  const give = (path: string) => user && chownSync(path, user.uid, user.gid)
  give(folder)
  chmodSync(folder, 0o700)
  const bin = programs()
  const options = { ...user, cwd: folder, env: { ...process.env, LC_ALL: 'C.UTF-8' } }
  const control = (data: string, ...args: string[]) =>
    run(`${bin}pg_ctl`, ['-D', data, '-l', `${data}.log`, '-w', ...args], options)
  const start = (data: string, socket: string) => {
    const all = [
      "listen_addresses=''",
      `unix_socket_directories=${socket}`,
      'max_connections=200',
      ...settings,
    ]
    return control(data, '-o', all.map((line) => `-c ${line}`).join(' '), 'start')
  }
  const stop = (data: string) => control(data, '-m', 'immediate', 'stop')
  const urlOf = (socket: string) => `postgres://subpanel@localhost/postgres?host=${socket}`

  let made = 0
  const data = join(folder, 'data')
  const form = ['-D', data, '-A', 'trust', '-E', 'UTF8', '-U', 'subpanel']
  if (log !== undefined) {
    give(log)
    form.push('-X', log, '--wal-segsize=1')
  }
  await run(`${bin}initdb`, form, options)
  await start(data, folder)

  const ask = (socket: string, ...commands: string[]) =>
    run(
      `${bin}psql`,
      ['-h', socket, '-U', 'subpanel', '-d', 'postgres', ...commands.flatMap((one) => ['-c', one])],
      options,
    )
  async function waitForStandby(socket: string, waits: boolean) {
    await ask(
      socket,
      waits
        ? "alter system set synchronous_standby_names = '*'"
        : 'alter system reset synchronous_standby_names',
      'select pg_reload_conf()',
    )
  }
  let standbys = 0
  async function standbyOf(primary: string): Promise<Standby> {
    const copy = join(folder, `standby-${++standbys}`)
    const socket = `${copy}-socket`
    mkdirSync(socket)
    give(socket)
    await run(
      `${bin}pg_basebackup`,
      ['-D', copy, '-R', '-c', 'fast', '-h', primary, '-U', 'subpanel'],
      options,
    )
    await start(copy, socket)
    return {
      url: urlOf(socket),
      startStandby: () => standbyOf(socket),
      waitForStandby: (waits) => waitForStandby(socket, waits),
      async promote() {
        await control(copy, 'promote')
      },
      async lose() {
        await stop(copy)
      },
      async stop() {
        await stop(copy)
      },
    }
  }

  const firstPid = () =>
    Number(readFileSync(join(data, 'postmaster.pid'), 'utf8').split('\n')[0] as string)
  /** Its first process and all that this one has started. */
  async function processes(): Promise<number[]> {
    const first = firstPid()
    const { stdout } = await run('ps', ['-o', 'pid=', '--ppid', String(first)])
    const others = stdout.split('\n').filter((one) => one.trim() !== '')
    return [first, ...others.map(Number)]
  }
  async function signal(name: 'STOP' | 'CONT') {
    for (const pid of await processes()) {
      try {
        process.kill(pid, `SIG${name}`)
      } catch (error) {
        // One that worked in the background has ended meanwhile.
        if (errorCode(error) !== 'ESRCH') throw error
      }
    }
  }
  return {
    url: urlOf(folder),
    folder,
    pid: firstPid,
    async createDatabase(tables) {
      const name = `shop_${++made}`
      const place: string[] = []
      if (tables !== undefined) {
        give(tables)
        await ask(folder, `create tablespace ${name} location '${tables}'`)
        place.push('-D', name)
      }
      await run(`${bin}createdb`, ['-h', folder, '-U', 'subpanel', ...place, name], options)
      return urlOf(folder).replace('/postgres?', `/${name}?`)
    },
    startStandby: () => standbyOf(folder),
    waitForStandby: (waits) => waitForStandby(folder, waits),
    async restart(work) {
      // What is careless loses nothing then.
      await control(data, '-m', 'fast', 'stop')
      await work()
      await start(data, folder)
    },
    async frozen(work) {
      await signal('STOP')
      try {
        await work()
      } finally {
        await signal('CONT')
      }
    },
    async slow(ms, work) {
      const calls = 'fsync,fdatasync'
      const pids = (await processes()).flatMap((pid) => ['-p', String(pid)])
      const inject = `inject=${calls}:delay_enter=${ms}ms`
      const words = ['-f', '-qq', '-o', '/dev/null', '-e', `trace=${calls}`, '-e', inject, ...pids]
      const tracer = spawn('strace', words, { stdio: 'ignore' })
      const ended = once(tracer, 'close')
      try {
        await work()
      } finally {
        tracer.kill('SIGINT')
        await ended
      }
    },
    isUp: () =>
      run(`${bin}pg_isready`, ['-q', '-h', folder], options).then(
        () => true,
        () => false,
      ),
    async start() {
      await start(data, folder)
    },
    async lose() {
      await stop(data)
    },
    async stop() {
      // It may have ended by itself.
      await stop(data).catch(() => {})
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
