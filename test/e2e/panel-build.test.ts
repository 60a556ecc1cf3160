/** `npm run build`, and what a start finds of it, in a copy of the program. */
import { spawnSync } from 'node:child_process'
import { chmodSync, cpSync, mkdirSync, mkdtempSync, rmSync, statSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { ROOT, runtimeBinary } from '#test/support/process.ts'

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

const build = (options = {}) => run(['scripts/build-panel.ts'], options)

/** What a start says of the panel. */
const start = (options = {}) =>
  run(
    [
      '--input-type=module',
      '-e',
      `import { ensurePanel } from '${dir}/src/integrations/panel-build.ts'
       await ensurePanel({ info: (text) => console.log(text), warn: (text) => console.log(text) })`,
    ],
    options,
  )

const mode = (name: string) => (statSync(join(dir, name)).mode & 0o777).toString(8)

test('a build is readable by everybody, also where a start under a strict umask left its folder closed', () => {
  mkdirSync(join(dir, 'dist'), { mode: 0o700 })
  const built = build()
  expect(built).toEqual({
    code: 0,
    out: expect.stringMatching(/^panel built: \d+ files, \d+ KB\n$/),
    err: '',
  })
  expect(['dist', 'dist/admin', 'dist/admin/assets'].map(mode)).toEqual(['755', '755', '755'])
  expect(mode('dist/admin/sources.sha256')).toBe('644')
  expect(start(stranger)).toEqual({ code: 0, out: '', err: '' })
})

test('a build that this user may not read, or write, is told as that', () => {
  chmodSync(join(dir, 'dist'), 0)
  try {
    expect(start(stranger)).toEqual({
      code: 0,
      out: 'the panel is built, but not readable by this user: run npm run build as the owner of the program\n',
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
