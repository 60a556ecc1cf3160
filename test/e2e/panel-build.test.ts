/** `npm run build`, and what a start finds of it, in a copy of the program. */
import { spawnSync } from 'node:child_process'
import {
  appendFileSync,
  chmodSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { ROOT, runtimeBinary } from '#test/support/drivers/process.ts'

const NODE = runtimeBinary('node')

let dir = ''
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'subpanel-build-'))
  chmodSync(dir, 0o755)
  for (const name of ['src', 'scripts', 'package.json', 'package-lock.json', 'vite.config.ts'])
    cpSync(join(ROOT, name), join(dir, name), { recursive: true })
  symlinkSync(join(ROOT, 'node_modules'), join(dir, 'node_modules'))
})
afterAll(() => rmSync(dir, { recursive: true, force: true }))

/** Another user than the one who built: root has one to hand, else our own rights are taken away. */
const stranger = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {}

function run(args: string[], options: { uid?: number; gid?: number } = {}) {
  const umasked = ['-c', 'umask 077; exec "$@"', 'sh', NODE, ...args]
  const ran = spawnSync('sh', umasked, { cwd: dir, encoding: 'utf8', ...options })
  return { code: ran.status, out: ran.stdout, err: ran.stderr }
}

const build = (options = {}) => run(['scripts/build.ts'], options)

/** What a start says of the build. */
const start = (options = {}) =>
  run(
    [
      '--input-type=module',
      '-e',
      `import { ensureBuild } from '${dir}/src/integrations/browser-build.ts'
       await ensureBuild({ info: (text) => console.log(text), warn: (text) => console.log(text) })`,
    ],
    options,
  )

const mode = (name: string) => (statSync(join(dir, name)).mode & 0o777).toString(8)

test('a build is readable by everybody, also where a start under a strict umask left its folder closed', () => {
  mkdirSync(join(dir, 'dist'), { mode: 0o700 })
  const built = build()
  expect(built).toEqual({
    code: 0,
    out: expect.stringMatching(/^panel and pages built: \d+ files, \d+ KB\n$/),
    err: '',
  })
  const folders = ['dist', 'dist/admin', 'dist/admin/assets', 'dist/pages']
  expect(folders.map(mode)).toEqual(['755', '755', '755', '755'])
  expect(['dist/admin/sources.sha256', 'dist/pages/link.js'].map(mode)).toEqual(['644', '644'])
  expect(start(stranger)).toEqual({ code: 0, out: '', err: '' })
})

test('a build that this user may not read, or write, is told as that', () => {
  chmodSync(join(dir, 'dist'), 0)
  try {
    expect(start(stranger)).toEqual({
      code: 0,
      out: 'panel and pages are built, but not readable by this user: run npm run build as the owner of the program\n',
      err: '',
    })
    if (stranger.uid === undefined) return
    expect(build(stranger)).toEqual({
      code: 1,
      out: '',
      err: `this user may not write to ${dir}/dist: run npm run build as the owner of the program\n`,
    })
  } finally {
    chmodSync(join(dir, 'dist'), 0o755)
  }
})

const readBuilt = (name: string) => readFileSync(join(dir, 'dist/pages', name))

test('each script of the pages is one classic script, light, beside its compressed forms', () => {
  expect(readdirSync(join(dir, 'dist/pages')).sort()).toEqual([
    ...['cabinet.js', 'cabinet.js.br', 'cabinet.js.gz'],
    ...['link.js', 'link.js.br', 'link.js.gz'],
    ...['paid.js', 'paid.js.br', 'paid.js.gz', 'sources.sha256'],
  ])
  const weights = { 'cabinet.js': 6000, 'link.js': 650, 'paid.js': 750 }
  for (const [name, most] of Object.entries(weights)) {
    const text = String(readBuilt(name))
    // What it declares would be shared with the other script of its page.
    expect(text, name).toMatch(/^\(?(?:function\s*\(\)|\(\)\s*=>)/)
    expect(text, name).not.toMatch(/\b(?:import|export)\b/)
    expect(gunzipSync(readBuilt(`${name}.gz`)).toString(), name).toBe(text)
    expect(brotliDecompressSync(readBuilt(`${name}.br`)).toString(), name).toBe(text)
    expect(readBuilt(`${name}.gz`).length, name).toBeLessThanOrEqual(most)
  }
})

test('a start builds anew when a script of the pages has changed, or its build is gone', () => {
  const was = String(readBuilt('link.js'))
  appendFileSync(join(dir, 'src/web/assets/link.ts'), "document.title = 'changed'\n")
  expect(start()).toEqual({ code: 0, out: 'panel and pages built\n', err: '' })
  expect(String(readBuilt('link.js'))).not.toBe(was)
  expect(start().out).toBe('')
  rmSync(join(dir, 'dist/pages'), { recursive: true })
  expect(start().out).toBe('panel and pages built\n')
})
