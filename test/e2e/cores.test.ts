/** `npm run cores` against a loopback copy of the releases' layout, with the real cores inside. */
import { execFileSync, spawn } from 'node:child_process'
import {
  accessSync,
  chmodSync,
  constants,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { delimiter, join, resolve } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { findCore } from '#test/support/cores.ts'
import { dgst, forMachine, sha256, zip } from './cores-release.ts'

const ROOT = resolve(import.meta.dirname, '../..')
const OWN = process.arch === 'arm64' ? 'arm64' : 'amd64'
const FOREIGN = OWN === 'amd64' ? 'arm64' : 'amd64'
const ZIP = { amd64: 'Xray-linux-64.zip', arm64: 'Xray-linux-arm64-v8a.zip' }
const XRAY = '/XTLS/Xray-core/releases/download/v26.7.28/'
const HYSTERIA = '/apernet/hysteria/releases/download/app/v2.12.1/'

function programOnPath(name: string): string | undefined {
  for (const folder of (process.env.PATH ?? '').split(delimiter)) {
    const path = join(folder, name)
    try {
      accessSync(path, constants.X_OK)
      return path
    } catch {}
  }
}

const node = process.versions.bun ? programOnPath('node') : process.execPath
const bun = process.versions.bun ? process.execPath : process.env.BUN_BIN || programOnPath('bun')
const runtimes = [
  { name: 'Node', path: node },
  { name: 'Bun', path: bun },
].flatMap(({ name, path }) => (path ? [{ name, path }] : []))

interface Outcome {
  code: number | null
  out: string
  err: string
}

let folder: string
let coresDir: string
let origin: string
let server: Server
let xray: Buffer
let hysteria: Buffer
/** Path on the server -> what it answers. */
let files: Map<string, Buffer>
let good: Map<string, Buffer>
let redirects: Map<string, string>
/** Sends half of this path and closes the connection. */
let cut: string | undefined

function runCores(
  runtime: string,
  args: string[],
  environment: Record<string, string> = {},
): Promise<Outcome> {
  const child = spawn(runtime, [join(ROOT, 'scripts/cores.ts'), ...args], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      PATH: process.env.PATH,
      HOME: process.env.HOME,
      ENV_FILE: join(folder, 'none.env'),
      DATA_DIR: join(folder, 'data'),
      CORES_DIR: coresDir,
      CORES_URL: origin,
      ...environment,
    },
  })
  const outcome: Outcome = { code: null, out: '', err: '' }
  child.stdout.on('data', (chunk) => {
    outcome.out += chunk
  })
  child.stderr.on('data', (chunk) => {
    outcome.err += chunk
  })
  return new Promise((done) => child.on('close', (code) => done({ ...outcome, code })))
}

/** Files of CORES_DIR, so that nothing unfinished can stay unnoticed. */
function installed(): string[] {
  if (!existsSync(coresDir)) return []
  return readdirSync(coresDir, { recursive: true, encoding: 'utf8' })
    .filter((name) => !statSync(join(coresDir, name)).isDirectory() || name.startsWith('.'))
    .sort()
}

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'subpanel-cores-test-'))
  coresDir = join(folder, 'cores')
  xray = readFileSync(findCore('xray', '26.7.28'))
  hysteria = readFileSync(findCore('hysteria', '2.12.1'))
  good = new Map()
  for (const arch of ['amd64', 'arm64'] as const) {
    const archive = zip([
      ['README.md', Buffer.from('# Project X\n')],
      ['xray', arch === OWN ? xray : forMachine(xray, arch)],
    ])
    good.set(`${XRAY}${ZIP[arch]}`, archive).set(`${XRAY}${ZIP[arch]}.dgst`, dgst(archive))
    good.set(
      `${HYSTERIA}hysteria-linux-${arch}`,
      arch === OWN ? hysteria : forMachine(hysteria, arch),
    )
  }
  const hashes = ['amd64', 'arm', 'arm64'].map((arch) => {
    const bytes = good.get(`${HYSTERIA}hysteria-linux-${arch}`) ?? Buffer.from('arm')
    return `${sha256(bytes)}  build/hysteria-linux-${arch}\n`
  })
  good.set(`${HYSTERIA}hashes.txt`, Buffer.from(hashes.join('')))
  server = createServer((request, response) => {
    const path = request.url ?? ''
    const location = redirects.get(path)
    const bytes = files.get(path)
    if (location) response.writeHead(302, { location }).end()
    else if (!bytes) response.writeHead(404).end('Not Found')
    else if (path === cut) {
      response.writeHead(200, { 'content-length': bytes.length })
      response.write(bytes.subarray(0, bytes.length / 2), () => response.destroy())
    } else response.writeHead(200, { 'content-length': bytes.length }).end(bytes)
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})

afterAll(() => {
  server?.closeAllConnections()
  server?.close()
  if (folder) rmSync(folder, { recursive: true, force: true })
})

beforeEach(() => {
  files = new Map(good)
  redirects = new Map()
  cut = undefined
  rmSync(coresDir, { recursive: true, force: true })
})

/** Replaces this machine's Xray archive and, unless told otherwise, its digest. */
function publishXray(archive: Buffer, arch: keyof typeof ZIP = OWN): void {
  files.set(`${XRAY}${ZIP[arch]}`, archive).set(`${XRAY}${ZIP[arch]}.dgst`, dgst(archive))
}

describe.each(runtimes)('npm run cores on $name', ({ path: runtime }) => {
  const run = (args: string[], environment?: Record<string, string>) =>
    runCores(runtime, args, environment)

  test('downloads both cores for both architectures and shows both digests', async () => {
    const outcome = await run([])
    expect(outcome.err).toBe('')
    expect(outcome.code).toBe(0)
    expect(installed()).toEqual([
      'amd64/SHA256SUMS',
      'amd64/hysteria',
      'amd64/xray',
      'arm64/SHA256SUMS',
      'arm64/hysteria',
      'arm64/xray',
    ])
    expect(readFileSync(join(coresDir, OWN, 'xray')).equals(xray)).toBe(true)
    expect(statSync(join(coresDir, OWN, 'xray')).mode & 0o777).toBe(0o755)
    const digest = sha256(good.get(`${XRAY}${ZIP[OWN]}`) as Buffer)
    expect(outcome.out.split(digest).length - 1).toBe(2)
    expect(outcome.out).toContain('version 26.7.28')
    expect(outcome.out).toContain('version 2.12.1')
    for (const arch of ['amd64', 'arm64']) {
      const cwd = join(coresDir, arch)
      const checked = execFileSync('sha256sum', ['-c', 'SHA256SUMS'], { cwd, encoding: 'utf8' })
      expect(checked).toBe('hysteria: OK\nxray: OK\n')
    }
  })

  test('fetches one architecture with --arch, follows redirects, and runs a second time', async () => {
    const asset = `${HYSTERIA}hysteria-linux-${OWN}`
    files.set('/moved', files.get(asset) as Buffer).delete(asset)
    redirects.set(asset, '/moved')
    for (const attempt of [1, 2]) {
      expect(await run(['--arch', OWN]), `attempt ${attempt}`).toMatchObject({ code: 0, err: '' })
    }
    expect(installed()).toEqual([`${OWN}/SHA256SUMS`, `${OWN}/hysteria`, `${OWN}/xray`])
  })

  test('1 and nothing installed when the archive does not have the digest of its release', async () => {
    files.set(`${XRAY}${ZIP[OWN]}.dgst`, dgst(Buffer.from('another file')))
    const outcome = await run(['--arch', OWN])
    expect(outcome.code).toBe(1)
    expect(outcome.err).toContain('is not what its release says it is')
    expect(installed()).toEqual([])
  })

  test('1 when the release names no digest', async () => {
    files.set(`${XRAY}${ZIP[OWN]}.dgst`, Buffer.from('Not Found'))
    const outcome = await run(['--arch', OWN])
    expect(outcome).toMatchObject({ code: 1, err: expect.stringContaining('names no SHA-256') })
    expect(installed()).toEqual([])
  })

  test('1 when hashes.txt has another digest for Hysteria; Xray stays installed', async () => {
    const hashes = `${'0'.repeat(64)}  build/hysteria-linux-${OWN}\n`
    files.set(`${HYSTERIA}hashes.txt`, Buffer.from(hashes))
    const outcome = await run(['--arch', OWN])
    expect(outcome.code).toBe(1)
    expect(outcome.err).toContain(`hysteria-linux-${OWN} is not what its release says it is`)
    expect(installed()).toEqual([`${OWN}/SHA256SUMS`, `${OWN}/xray`])
  })

  test('1 and the old core untouched when the connection ends in the middle', async () => {
    expect((await run(['--arch', OWN])).code).toBe(0)
    cut = `${XRAY}${ZIP[OWN]}`
    const outcome = await run(['--arch', OWN])
    expect(outcome.code).toBe(1)
    expect(outcome.err).toMatch(/CORES_URL.*--dir DIR/)
    expect(installed()).toEqual([`${OWN}/SHA256SUMS`, `${OWN}/hysteria`, `${OWN}/xray`])
    expect(readFileSync(join(coresDir, OWN, 'xray')).equals(xray)).toBe(true)
  })

  test('1 for a truncated or damaged archive, also when its digest is right', async () => {
    const archive = good.get(`${XRAY}${ZIP[OWN]}`) as Buffer
    const flipped = Buffer.from(archive)
    flipped.writeUInt8(flipped.readUInt8(archive.length >> 1) ^ 0xff, archive.length >> 1)
    const noXray = zip([['readme', Buffer.from('x')]])
    const huge = zip([['xray', xray]])
    huge.writeUInt32LE(0xfffffff0, huge.length - 22 - 46 - 4 + 24)
    const cases: [Buffer, string][] = [
      [archive.subarray(0, archive.length >> 1), 'damaged or cut short'],
      [archive.subarray(0, archive.length - 30), 'damaged or cut short'],
      [flipped, 'damaged or cut short'],
      [noXray, 'holds no file "xray"'],
      [huge, 'is larger than'],
    ]
    for (const [broken, reason] of cases) {
      publishXray(broken)
      const outcome = await run(['--arch', OWN])
      expect(outcome).toMatchObject({ code: 1, err: expect.stringContaining(reason) })
      expect(installed()).toEqual([])
    }
  })

  test('installs from an archive with stored entries', async () => {
    publishXray(zip([['./xray', xray, true]]))
    expect(await run(['--arch', OWN])).toMatchObject({ code: 0, err: '' })
  })

  test('1 for a program of another architecture, and for what is no program', async () => {
    publishXray(zip([['xray', xray]]), FOREIGN)
    const foreign = await run(['--arch', FOREIGN])
    expect(foreign).toMatchObject({
      code: 1,
      err: expect.stringContaining(`for ${OWN}, not for ${FOREIGN}`),
    })
    publishXray(zip([['xray', Buffer.from('<html>'.repeat(100))]]))
    const page = await run(['--arch', OWN])
    expect(page).toMatchObject({
      code: 1,
      err: expect.stringContaining('not a 64-bit Linux program'),
    })
    expect(installed()).toEqual([])
  })

  test('1 for another version than the pinned one, unless --force is given', async () => {
    const pinned = { XRAY_VERSION: 'v26.6.27' }
    for (const suffix of ['', '.dgst']) {
      const asset = `${ZIP[OWN]}${suffix}`
      files.set(
        `${XRAY.replace('v26.7.28', 'v26.6.27')}${asset}`,
        good.get(`${XRAY}${asset}`) as Buffer,
      )
    }
    const refused = await run(['--arch', OWN], pinned)
    expect(refused.code).toBe(1)
    expect(refused.err).toContain('says it is 26.7.28, but 26.6.27 is pinned')
    expect(installed()).toEqual([])
    const forced = await run(['--arch', OWN, '--force'], pinned)
    expect(forced).toMatchObject({ code: 0, err: '' })
    expect(forced.out).toContain('version 26.7.28 (not the pinned 26.6.27)')
  })

  test('1 for plain http to another machine, by the setting and by a redirect', async () => {
    const named = await run([], { CORES_URL: 'http://mirror.example' })
    expect(named).toMatchObject({ code: 1, err: expect.stringContaining('over https only') })
    redirects.set(`${XRAY}${ZIP[OWN]}.dgst`, 'http://mirror.example/file')
    const redirected = await run(['--arch', OWN])
    expect(redirected).toMatchObject({ code: 1, err: expect.stringContaining('over https only') })
  })

  test('1 with what to do when the server has no such release or cannot be reached', async () => {
    const missing = await run(['--arch', OWN], { XRAY_VERSION: 'v1.0.0' })
    expect(missing).toMatchObject({
      code: 1,
      err: expect.stringContaining('the server answered 404'),
    })
    const unreachable = await run(['--arch', OWN], { CORES_URL: 'http://127.0.0.1:1' })
    expect(unreachable).toMatchObject({ code: 1, err: expect.stringContaining('--dir DIR') })
  })

  test('takes files at hand with --dir, flat or by architecture', async () => {
    const dir = mkdtempSync(join(folder, 'dir-'))
    copyFileSync(findCore('xray', '26.7.28'), join(dir, 'xray'))
    mkdirSync(join(dir, FOREIGN))
    writeFileSync(join(dir, FOREIGN, 'hysteria'), forMachine(hysteria, FOREIGN))
    const outcome = await run(['--dir', dir])
    expect(outcome).toMatchObject({ code: 0, err: '' })
    expect(outcome.out).toContain(sha256(xray))
    const expected = [
      `${OWN}/SHA256SUMS`,
      `${OWN}/xray`,
      `${FOREIGN}/SHA256SUMS`,
      `${FOREIGN}/hysteria`,
    ]
    expect(installed()).toEqual(expected.sort())
  })

  test('1 for an empty --dir, for a file in the wrong folder and for a program that does not run', async () => {
    const empty = mkdtempSync(join(folder, 'dir-'))
    expect(await run(['--dir', empty])).toMatchObject({
      code: 1,
      err: expect.stringContaining('holds no file'),
    })
    expect(await run(['--dir', join(empty, 'no')])).toMatchObject({
      code: 1,
      err: expect.stringContaining('there is no such folder'),
    })
    mkdirSync(join(empty, FOREIGN))
    writeFileSync(join(empty, FOREIGN, 'xray'), xray)
    expect(await run(['--dir', empty])).toMatchObject({
      code: 1,
      err: expect.stringContaining(`not for ${FOREIGN}`),
    })
    const broken = mkdtempSync(join(folder, 'dir-'))
    writeFileSync(join(broken, 'xray'), xray.subarray(0, 4096))
    chmodSync(join(broken, 'xray'), 0o755)
    expect(await run(['--dir', broken])).toMatchObject({
      code: 1,
      err: expect.stringContaining('does not run here'),
    })
    expect(installed()).toEqual([])
  })

  test('prints its help with 0, and 1 for options that make no sense', async () => {
    const help = await run(['--help'])
    expect(help).toMatchObject({ code: 0, err: '' })
    expect(help.out).toContain('XRAY_BIN')
    for (const args of [
      ['--nonsense'],
      ['--build', '--dir', '.'],
      ['--arch', 'mips'],
      ['--dir', ''],
    ]) {
      expect(await run(args), args.join(' ')).toMatchObject({ code: 1, out: '' })
    }
  })

  test('--build says what is missing: Go, or a module version', async () => {
    const noGo = await run(['--build'], { PATH: join(folder, 'nothing') })
    expect(noGo).toMatchObject({ code: 1, err: expect.stringContaining('Go is not installed') })
    const unknown = await run(['--build'], { XRAY_VERSION: 'v26.8.1' })
    expect(unknown).toMatchObject({
      code: 1,
      err: expect.stringContaining('no module version is known for Xray v26.8.1'),
    })
    expect(installed()).toEqual([])
  })

  test('keeps DATA_DIR private and says that XRAY_BIN wins', async () => {
    const dir = mkdtempSync(join(folder, 'dir-'))
    copyFileSync(findCore('xray', '26.7.28'), join(dir, 'xray'))
    const data = mkdtempSync(join(folder, 'parent-'))
    const outcome = await run(['--dir', dir], {
      CORES_DIR: '',
      DATA_DIR: join(data, 'data'),
      XRAY_BIN: '/usr/local/bin/xray',
    })
    expect(outcome).toMatchObject({ code: 0, err: '' })
    expect(outcome.out).toContain('XRAY_BIN is set, so /usr/local/bin/xray is run')
    expect(statSync(join(data, 'data')).mode & 0o777).toBe(0o700)
    expect(existsSync(join(data, 'data/cores', OWN, 'xray'))).toBe(true)
  })
})

describe('npm run cores -- --build', () => {
  test('builds the pinned Xray with Go', { timeout: 1_200_000 }, async () => {
    expect(
      programOnPath('go'),
      'Go is needed for this test: install it and put go on PATH',
    ).toBeTruthy()
    const outcome = await runCores(node as string, ['--build'], {
      GOFLAGS: '-buildvcs=false',
      ...(process.env.GOPROXY ? { GOPROXY: process.env.GOPROXY } : {}),
    })
    expect(outcome).toMatchObject({ code: 0 })
    expect(outcome.out).toContain('version 26.7.28')
    expect(installed()).toEqual([`${OWN}/SHA256SUMS`, `${OWN}/xray`])
    const version = execFileSync(join(coresDir, OWN, 'xray'), ['version'], { encoding: 'utf8' })
    expect(version).toMatch(/^Xray 26\.7\.28 /)
  })
})
