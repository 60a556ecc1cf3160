/** What the operator's commands say when they are called wrongly or with the wrong file, on both runtimes. */
import {
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterEach, describe, expect, test } from 'vitest'
import { withConnection } from '#db/engine/sqlite/snapshot.ts'
import { type Area, createArea, PLAIN, RUNTIMES } from '#test/support/drivers/process.ts'

let a: Area
afterEach(() => a.close())

describe.each(RUNTIMES)('on %s', (runtime) => {
  const script = (name: string, args: string[] = [], options = {}) =>
    a.run({ runtime, entry: `../scripts/${name}.ts`, args, ...options })

  test('restore without a file shows its usage as --help does', async () => {
    a = createArea(PLAIN)
    const help = await script('restore', ['--help'])
    const none = await script('restore')
    expect(help.output.split('\n').length).toBeGreaterThan(5)
    expect([help.code, none.code, none.output]).toEqual([0, 1, help.output])
    expect((await script('restore', ['a', 'b'])).output).toBe(help.output)
    expect(existsSync(a.database)).toBe(false)
  })

  test('backup names the way out of a folder that it may not write to', async () => {
    a = createArea(PLAIN)
    await (await a.startServer({ runtime })).stop()
    const path = join(a.dir, 'nowhere', 'x.tar.gz')
    const failed = await script('backup', [path])
    expect([failed.code, failed.output]).toEqual([
      1,
      `${join(a.dir, 'nowhere')} is no folder that this user can write to: name a FILE elsewhere (npm run backup -- FILE)\n`,
    ])
    const made = join(a.dir, 'made')
    mkdirSync(made)
    const data = { DATA_DIR: join(a.dir, 'data'), ENV_FILE: a.envFile }
    const done = await script('backup', [], { cwd: made, env: data })
    expect(done.code, done.output).toBe(0)
    const [name] = readdirSync(made)
    expect(name).toMatch(/^backup-\d{8}-\d{6}\.tar\.gz$/)
    expect(done.stdout).toBe(`${join(made, name as string)}\n`)
  })

  test('backup writes through nothing that stands in its way', async () => {
    a = createArea(PLAIN)
    await (await a.startServer({ runtime })).stop()
    const file = (name: string) => join(a.dir, name)
    writeFileSync(file('theirs'), 'theirs')
    linkSync(file('theirs'), file('linked.tar.gz.part'))
    symlinkSync(file('theirs'), file('symlinked.tar.gz.part'))
    for (const name of ['linked.tar.gz', 'symlinked.tar.gz']) {
      expect((await script('backup', [file(name)])).code).toBe(0)
      expect(statSync(file(name))).toMatchObject({ mode: 0o100600, nlink: 1 })
    }
    expect(readFileSync(file('theirs'), 'utf8')).toBe('theirs')
  })

  test('verify --rebuild leaves a database of another version alone, and says so', async () => {
    a = createArea(PLAIN)
    await (await a.startServer({ runtime })).stop()
    const again = await script('verify', ['--rebuild'])
    expect([again.code, again.output]).toEqual([0, 'all is well\n'])
    a.write('update __drizzle_migrations set created_at = created_at - 1')
    const { code, output } = await script('verify', ['--rebuild'])
    expect([code, output]).toEqual([
      1,
      'the database has the form of another version: a start of the service brings an older one up to date, and makes all this anew\n',
    ])
  })

  test('verify names the row for which no backup could be restored', async () => {
    a = createArea(PLAIN)
    await (await a.startServer({ runtime })).stop()
    expect((await script('verify')).output).toBe('all is well\n')
    withConnection(a.database, (raw) => raw.exec("UPDATE nodes SET flow = 'a b'"))
    const { code, output } = await script('verify')
    expect([code, output]).toEqual([
      1,
      'I8 no restore would take it: the column flow of nodes where rowid = 1\n',
    ])
  })

  test('verify says of a file that it is none of ours', async () => {
    a = createArea(PLAIN)
    const verdict = async (name: string, content: string | Uint8Array) => {
      const path = join(a.dir, name)
      writeFileSync(path, content)
      const { code, output } = await script('verify', [path])
      return [code, output.replace(path, 'FILE')]
    }
    const neither = [1, 'FILE is neither a backup nor a database\n']
    expect(await verdict('notes.txt', 'a text that is long enough for a header\n')).toEqual(neither)
    expect(await verdict('empty', '')).toEqual(neither)
    const archive = gzipSync(Buffer.alloc(50_000))
    expect(await verdict('cut.tar.gz', archive.subarray(0, -10))).toEqual([
      1,
      'the file is no gzip archive, or it is damaged or cut off\n',
    ])
  })
})
