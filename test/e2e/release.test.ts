/** What `npm run release` packs, unpacked and started as on a server that has only what the program needs to run. */
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, statSync, symlinkSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Area, createArea, PLAIN, ROOT, RUNTIMES } from '#test/support/drivers/process.ts'

interface Locked {
  packages: Record<string, { dev?: boolean; optional?: boolean; devOptional?: boolean }>
}

let a: Area
let unpacked: string
let names: string[]
let said: string

const makeRelease = async () => {
  const made = await a.run({ entry: '../scripts/release.ts', args: [a.dir] })
  expect(made.code, made.output).toBe(0)
  return made.stdout
}

/** The packages that `npm ci --omit=dev` would bring. */
function linkPackages(folder: string): void {
  const lock = JSON.parse(readFileSync(join(folder, 'package-lock.json'), 'utf8')) as Locked
  for (const [path, { dev, optional, devOptional }] of Object.entries(lock.packages)) {
    if (path === '' || dev || optional || devOptional) continue
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    symlinkSync(join(ROOT, path), join(folder, path))
  }
}

beforeAll(async () => {
  a = createArea(PLAIN)
  said = await makeRelease()
  const archive = /^(.+), [\d.]+ MB$/m.exec(said)?.[1] as string
  names = execFileSync('tar', ['-tzf', archive], { encoding: 'utf8' }).trim().split('\n')
  execFileSync('tar', ['-xzf', archive, '-C', a.dir])
  unpacked = archive.replace(/\.tar\.gz$/, '')
  linkPackages(unpacked)
})
afterAll(() => a.close())

test('a release is one folder of what git knows and of the build; its digest is told, and is the same the next time', async () => {
  const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
  const folder = `subpanel-${version}`
  const [digest, name] = said.trim().split('\n')[1]?.split('  ') ?? []
  const archive = readFileSync(join(a.dir, `${folder}.tar.gz`))
  expect([name, digest]).toEqual([
    `${folder}.tar.gz`,
    createHash('sha256').update(archive).digest('hex'),
  ])
  expect(names.every((one) => one.startsWith(`${folder}/`))).toBe(true)
  const has = (path: string) => names.includes(`${folder}/${path}`)
  const some = ['src/main.ts', '.npmrc', 'dist/admin/sources.sha256', 'dist/pages/cabinet.js.gz']
  expect(some.filter(has)).toEqual(some)
  expect(names.filter((one) => /\/(?:\.git|node_modules|data|\.env)(?:\/|$)/.test(one))).toEqual([])
  expect(
    ['', 'src', 'dist/admin'].map((one) => statSync(join(unpacked, one)).mode & 0o777),
  ).toEqual([0o755, 0o755, 0o755])
  expect(await makeRelease()).toBe(said)
})

test.each(RUNTIMES)('it serves its panel and its pages without a build, on %s', async (runtime) => {
  expect(existsSync(join(unpacked, 'node_modules/vite'))).toBe(false)
  const server = await a.startServer({ runtime, root: unpacked })
  for (const path of ['/admin', '/cabinet.html']) {
    const page = (await server.call(path)).text
    const script = /<script (?:type="module"|defer) src="([^"]+)"/.exec(page)?.[1] as string
    const answer = await server.call(script)
    expect(answer.status, path).toBe(200)
    expect(answer.headers.get('content-type'), path).toMatch(/^text\/javascript/)
  }
  expect(server.output()).not.toMatch(/panel and pages (?:are not|are older|built|could not)/)
  await server.stop()
})
