/** Part `backup`: list fetches while backups, plain and encrypted, and then restores, of about 100 MB follow each other, against fetches alone. */

import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { snapshotInto, withConnection } from '#db/engine/sqlite/snapshot.ts'
import { packArchive } from '#src/integrations/files/archive.ts'
import { type Figure, median } from './figures.ts'
import type { LoadJob, LoadResult } from './load.ts'
import type { Options } from './options.ts'
import { findRuntimes, type Runtime, runScript, type Server, startServer } from './processes.ts'
import { dataFolder } from './seed.ts'
import { serviceEnvironment } from './sub.ts'

/** Each connection waits so long after an answer: customers' apps, not a benchmark. About 1,200 requests a second. */
const PAUSE_MS = 12
const CONNECTIONS = 16
const SECONDS = 12
/** Their database is about 100 MB. */
const USERS_SHARE = 0.45

/** Fetches of lists as customers' apps send them, about 1,200 a second. */
export function pacedLoad(server: Server, users: number, seconds: number): Promise<LoadResult> {
  const [node] = findRuntimes(['node'])
  if (!node) throw new Error('the load generator needs Node')
  const job: LoadJob = {
    ...{ port: server.port, host: 'sub.bench.test', users, connections: CONNECTIONS },
    ...{ warmupSeconds: 1, seconds, pauseMs: PAUSE_MS },
  }
  return runScript(node, 'scripts/bench/load.ts', job)
}

async function logIn(url: string): Promise<string> {
  const body = JSON.stringify({ username: 'admin', password: 'only for benchmarks' })
  const answer = await fetch(`${url}/admin/api/login`, { method: 'POST', body })
  const cookie = /panel_admin=[^;]+/.exec(answer.headers.get('set-cookie') ?? '')?.[0]
  if (!cookie) throw new Error(`login: ${answer.status}`)
  return cookie
}

/** Fetches a backup, encrypted where there is a passphrase, and throws it away; its size. */
async function backup(url: string, cookie: string, passphrase?: string): Promise<number> {
  const request = passphrase
    ? { method: 'POST', body: JSON.stringify({ passphrase }), headers: { cookie } }
    : { headers: { cookie } }
  const answer = await fetch(`${url}/admin/api/backup`, request)
  if (answer.status !== 200 || !answer.body) throw new Error(`backup: ${answer.status}`)
  let size = 0
  for await (const chunk of answer.body as unknown as AsyncIterable<Uint8Array>)
    size += chunk.length
  return size
}

/** A good archive of a folder's database, and one that is refused after everything in it was checked. */
function makeArchives(folder: string): { good: Blob; refused: Blob } {
  const pack = (database: string) => {
    const chunks = packArchive({ database, env: null }, new Date())
    return new Blob(Array.from(chunks) as BlobPart[])
  }
  const copy = join(folder, 'copy.db')
  snapshotInto(join(folder, 'panel.db'), copy)
  const good = pack(copy)
  withConnection(copy, (raw) => raw.exec('DELETE FROM admin_sessions; DELETE FROM admins; VACUUM'))
  const refused = pack(copy)
  rmSync(copy)
  return { good, refused }
}

async function restore(url: string, archive: Blob, expected = 200): Promise<void> {
  const cookie = await logIn(url)
  const body = new FormData()
  body.append('file', archive, 'backup.tar.gz')
  const request = { method: 'POST', headers: { cookie }, body }
  const answer = await fetch(`${url}/admin/api/backup/restore`, request)
  const text = await answer.text()
  if (answer.status !== expected) throw new Error(`restore: ${answer.status} ${text}`)
}

/** Runs `work` again and again while `during` goes on; how long each took. */
async function repeat(work: () => Promise<unknown>, during: Promise<unknown>): Promise<number[]> {
  let over = false
  void during.then(() => {
    over = true
  })
  const times: number[] = []
  while (!over) {
    const began = performance.now()
    await work()
    times.push(performance.now() - began)
  }
  return times
}

/** The longest time without a change that succeeded, while `during` goes on; failed logins are the changes. */
async function longestStall(url: string, during: Promise<unknown>): Promise<number> {
  let over = false
  void during.then(() => {
    over = true
  })
  let last = performance.now()
  let longest = 0
  for (let i = 0; !over; i++) {
    const headers = { 'x-real-ip': `192.0.2.${i % 250}` }
    const body = JSON.stringify({ username: 'nobody', password: 'x' })
    const answer = await fetch(`${url}/admin/api/login`, { method: 'POST', headers, body })
    await answer.text()
    if (answer.status !== 503) {
      longest = Math.max(longest, performance.now() - last)
      last = performance.now()
    }
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  return longest
}

/** Part `backup`. */
export async function measureBackup(
  options: Options,
  runtime: Runtime,
  folder: string,
): Promise<Figure[]> {
  const users = Math.ceil(options.users * USERS_SHARE)
  const env = serviceEnvironment(await dataFolder(folder, users))
  const server = await startServer(runtime, 'src/main.ts', env)
  const url = `http://127.0.0.1:${server.port}`
  const seconds = Math.max(2, Math.min(SECONDS, options.seconds * 3))
  const archives = makeArchives(folder)
  const restoreGood = () => {
    // The service keeps a week's, and refuses to restore when there is no more room for them.
    rmSync(join(folder, 'safety'), { recursive: true, force: true })
    return restore(url, archives.good)
  }
  const alone: number[] = []
  const phases = {
    backups: {
      work: (cookie: string) => backup(url, cookie),
      p99: [] as number[],
      ms: [] as number[],
    },
    encrypted: {
      work: (cookie: string) => backup(url, cookie, 'only for benchmarks'),
      p99: [] as number[],
      ms: [] as number[],
    },
    checks: {
      work: () => restore(url, archives.refused, 400),
      p99: [] as number[],
      ms: [] as number[],
    },
    restores: { work: restoreGood, p99: [] as number[], ms: [] as number[] },
  }
  for (let run = 0; run < Math.min(3, options.runs); run++) {
    alone.push((await pacedLoad(server, users, seconds)).p99Ms)
    for (const phase of Object.values(phases)) {
      const cookie = await logIn(url)
      const loading = pacedLoad(server, users, seconds)
      phase.ms.push(...(await repeat(() => phase.work(cookie), loading)))
      phase.p99.push((await loading).p99Ms)
    }
  }
  const stall = await longestStall(url, restoreGood())
  await server.stop()
  const own = { part: 'backup', runtime: runtime.name }
  const times = ({ p99 }: { p99: number[] }) =>
    median(p99.map((value, i) => value / (alone[i] as number)))
  const { backups, encrypted, checks, restores } = phases
  const share = { unit: '', atMost: 2 }
  return [
    { ...own, ...share, name: '/sub p99 during backups, times that alone', value: times(backups) },
    {
      ...own,
      ...share,
      name: '/sub p99 during encrypted backups, times that alone',
      value: times(encrypted),
    },
    {
      ...own,
      ...share,
      name: '/sub p99 while uploads are checked, times that alone',
      value: times(checks),
    },
    {
      ...own,
      name: '/sub p99 during whole restores, times that alone',
      value: times(restores),
      unit: '',
    },
    { ...own, name: '/sub p99 alone', value: median(alone), unit: 'ms' },
    { ...own, name: '/sub p99 during backups', value: median(backups.p99), unit: 'ms' },
    { ...own, name: '/sub p99 while uploads are checked', value: median(checks.p99), unit: 'ms' },
    { ...own, name: '/sub p99 during whole restores', value: median(restores.p99), unit: 'ms' },
    { ...own, name: 'backup', value: median(backups.ms), unit: 'ms' },
    { ...own, name: 'backup, encrypted', value: median(encrypted.ms), unit: 'ms' },
    { ...own, name: 'restore', value: median(restores.ms), unit: 'ms' },
    { ...own, name: 'longest wait of a change', value: stall, unit: 'ms' },
    { ...own, name: 'archive', value: archives.good.size / 1e6, unit: 'MB' },
  ]
}
