/** A PostgreSQL server of its own, in a folder that is gone with it, on a socket that only root and it can reach. */
import { execFile } from 'node:child_process'
import { chmodSync, chownSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

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
  stop(): Promise<void>
}

/** What tests need no disk for. */
const CARELESS = ['fsync=off', 'synchronous_commit=off', 'full_page_writes=off']

/** Starts one; `settings` are lines of its configuration, without any it survives no power cut, and is fast. */
export async function startPostgres(settings: string[] = CARELESS): Promise<PostgresServer> {
  const folder = mkdtempSync(join(tmpdir(), 'subpanel-postgres-'))
  const user = await owner()
  if (user) chownSync(folder, user.uid, user.gid)
  chmodSync(folder, 0o700)
  const data = join(folder, 'data')
  const bin = programs()
  const options = { ...user, cwd: folder, env: { ...process.env, LC_ALL: 'C.UTF-8' } }
  await run(`${bin}initdb`, ['-D', data, '-A', 'trust', '-E', 'UTF8', '-U', 'subpanel'], options)
  const all = [
    "listen_addresses=''",
    `unix_socket_directories=${folder}`,
    'max_connections=200',
    ...settings,
  ]
  const words = all.map((line) => `-c ${line}`).join(' ')
  await run(
    `${bin}pg_ctl`,
    ['-D', data, '-l', join(folder, 'log'), '-w', '-o', words, 'start'],
    options,
  )
  return {
    url: `postgres://subpanel@localhost/postgres?host=${folder}`,
    folder,
    async stop() {
      await run(`${bin}pg_ctl`, ['-D', data, '-m', 'immediate', '-w', 'stop'], options)
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
