/** The rule files of `npm run cores`: fetched from a pinned place, held to their digests, or taken from files at hand. */
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { compileRules } from '#test/support/labs/rule-files.ts'
import { fetchRules } from '../../scripts/cores/rules.ts'

const SCRIPT = resolve(import.meta.dirname, '../../scripts/cores.ts')
const PLACES = { sites: ['country.test'], addresses: ['192.0.2.1'], ads: ['ads.test'] }
const NAMES = ['geoip-ru.srs', 'geosite-category-ads-all.srs', 'geosite-category-ru.srs']

let compiled: string
let folder: string
let server: Server
let origin: string

beforeAll(async () => {
  compiled = mkdtempSync(join(tmpdir(), 'subpanel-rules-test-'))
  compileRules(join(compiled, 'rules'), 'ru', PLACES)
  server = createServer((request, response) => {
    const name = (request.url ?? '').replace('/project/raw/', '')
    if (NAMES.includes(name)) response.end(readFileSync(join(compiled, 'rules', name)))
    else response.writeHead(404).end()
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
afterAll(() => {
  server.close()
  rmSync(compiled, { recursive: true, force: true })
})
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'subpanel-rules-test-'))
  mkdirSync(join(folder, 'work'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const fetchAll = (...digests: (string | undefined)[]) => {
  const places = { coresDir: folder, workFolder: join(folder, 'work'), folderMode: 0o755 }
  const files = NAMES.map((name, i) => {
    const own = createHash('sha256').update(readFileSync(join(compiled, 'rules', name)))
    return { name, folder: 'project/raw', digest: digests[i] ?? own.digest('hex') }
  })
  return fetchRules(origin, places, () => {}, files)
}
const installed = () =>
  existsSync(join(folder, 'rules')) ? readdirSync(join(folder, 'rules')).sort() : []

const runCores = (...args: string[]) =>
  spawnSync(process.execPath, [SCRIPT, ...args], {
    encoding: 'utf8',
    cwd: folder,
    env: {
      PATH: process.env.PATH,
      ENV_FILE: join(folder, 'none.env'),
      DATA_DIR: join(folder, 'data'),
      CORES_DIR: folder,
      CORES_URL: 'http://127.0.0.1:9',
    },
  })

test('files of the pinned digests are installed as they are', async () => {
  await fetchAll()
  expect(installed()).toEqual(NAMES)
  for (const name of NAMES) {
    const [own, other] = [join(folder, 'rules', name), join(compiled, 'rules', name)]
    expect(readFileSync(own).equals(readFileSync(other))).toBe(true)
  }
  expect(readdirSync(join(folder, 'work'))).toEqual([])
})

test('one of another digest is not', async () => {
  await expect(fetchAll(undefined, '0'.repeat(64))).rejects.toThrow(/ads-all.srs is not the pinned/)
  expect(installed()).toEqual(['geoip-ru.srs'])
})

test('--dir takes rule files alone, and says which are not the pinned ones', () => {
  const { status, stdout, stderr } = runCores('--dir', compiled)
  expect([status, stderr]).toEqual([0, ''])
  expect(stdout.match(/\(not the pinned one\)/g)).toHaveLength(NAMES.length)
  expect(installed()).toEqual(NAMES)
})

test('--dir refuses what sing-box has not compiled', () => {
  const bad = join(folder, 'bad')
  mkdirSync(join(bad, 'rules'), { recursive: true })
  writeFileSync(join(bad, 'rules', 'geoip-ru.srs'), '<html>')
  const { status, stderr } = runCores('--dir', bad)
  expect([status, stderr]).toEqual([1, expect.stringContaining('is no rule file')])
  expect(installed()).toEqual([])
})

test('--rules says what to do where they can’t be reached, and goes with nothing else', () => {
  const alone = runCores('--rules')
  expect([alone.status, alone.stderr]).toEqual([1, expect.stringContaining('use --dir DIR')])
  expect(runCores('--rules', '--build').stderr).toContain('--rules stands alone')
})
