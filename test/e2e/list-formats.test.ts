/** Every format, for several sets of entries, read by the cores that clients are built on. */
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type ListSource, listEntries } from '#src/domain/lists/entries.ts'
import { type ListFormat, renderList } from '#src/domain/lists/formats.ts'
import {
  ALL_TRANSPORTS,
  listSource,
  nastySources,
  OTHER_UUID,
  WITH_GRPC,
} from '#test/fixtures/lists/samples.ts'
import { parseBase64Body, parseShareLink } from '#test/fixtures/lists/share-link-parser.ts'
import { findCore } from '#test/support/cores.ts'

const SETS: Record<string, ListSource[]> = {
  'one REALITY entry': [listSource()],
  'all four kinds': [listSource({ transports: ALL_TRANSPORTS })],
  gRPC: [listSource({ transports: WITH_GRPC })],
  'gRPC without short id and sni, and where a hybrid key share is wanted': [
    listSource({ shortId: '', sni: '', transports: WITH_GRPC }),
    listSource({ code: 'h', coreVersion: '26.9.8', transports: WITH_GRPC }),
  ],
  'a range of ports to hop among': [
    listSource({ hysteriaHop: '20000-30000', hysteriaHopping: true, transports: ALL_TRANSPORTS }),
    listSource({
      ...{ code: 'o', hysteriaHop: '7-7', hysteriaHopping: true, hysteriaObfsPassword: null },
      transports: ALL_TRANSPORTS,
    }),
  ],
  'no entries': [],
  'nasty labels': nastySources(),
  'short id of digits': [listSource({ shortId: '0123456789012345', transports: ALL_TRANSPORTS })],
  'short id like a number with exponent': [listSource({ shortId: '12e45678' })],
  'no short id, flow, sni or obfs': [
    listSource({
      ...{ shortId: '', flow: '', sni: '', hysteriaObfsPassword: null },
      transports: ALL_TRANSPORTS,
    }),
  ],
  'a shared id that is no uuid': [listSource({ sharedUuid: 'guest' })],
  'the udp443 flow': [listSource({ flow: 'xtls-rprx-vision-udp443' })],
  'an address that is no host': [
    listSource({ address: 'a/b?c#d@e f', transports: ALL_TRANSPORTS }),
  ],
  'nodes whose keys no core would take, beside a good one': [
    listSource({ code: 'x1', publicKey: '', transports: ALL_TRANSPORTS }),
    listSource({ code: 'x2', publicKey: 'PUBLIC' }),
    listSource({ code: 'x3', shortId: 'abc' }),
    listSource({ code: 'x4', sharedUuid: 'x'.repeat(40) }),
    listSource(),
  ],
  'two subscriptions on one node that wants a hybrid key share': [
    listSource({ coreVersion: '26.9.8', transports: ALL_TRANSPORTS }),
    listSource({ coreVersion: '26.9.8', transports: ALL_TRANSPORTS }, OTHER_UUID),
  ],
}

const SINGBOX_VERSIONS = ['1.11.15', '1.12.12', '1.13.2', '1.14.1']

let folder = ''
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'subpanel-lists-'))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

function render(format: ListFormat, sources: ListSource[], singboxVersion: string | null = null) {
  const options = { brandName: 'Subpanel "1"', singboxVersion, wsAndXhttp: true }
  return renderList(format, listEntries(sources), options)
}

function written(name: string, body: string): string {
  const path = join(folder, name)
  writeFileSync(path, body)
  return path
}

/** All that the core printed. Fails with it when the core refused. */
function run(core: string, ...args: string[]): string {
  const { status, stdout, stderr, error } = spawnSync(core, args, {
    cwd: folder,
    encoding: 'utf8',
    timeout: 60_000,
  })
  if (error) throw error
  const output = stdout + stderr
  expect(status, output).toBe(0)
  return output
}

describe.each(Object.entries(SETS))('%s', (_, sources) => {
  test.each(SINGBOX_VERSIONS)('sing-box %s takes its profile without a warning', (version) => {
    const core = findCore('sing-box', version)
    const path = written(`sing-box-${version}.json`, render('singbox', sources, version))
    expect(run(core, 'check', '-c', path)).toBe('')
  })

  test.each(SINGBOX_VERSIONS.slice(1))('sing-box %s takes the profile of an unknown', (version) => {
    const core = findCore('sing-box', version)
    const path = written('sing-box-unknown.json', render('singbox', sources))
    expect(run(core, 'check', '-c', path)).toBe('')
  })

  test('Mihomo takes the YAML', () => {
    const home = join(folder, 'mihomo')
    mkdirSync(home, { recursive: true })
    const path = written('mihomo.yaml', render('mihomo', sources))
    const output = run(findCore('mihomo'), '-t', '-d', home, '-f', path)
    expect(output).toContain('test is successful')
    expect(output).not.toMatch(/level=(?:warning|error|fatal)/)
  })

  test('Xray takes the config', () => {
    const path = written('xray.json', render('xray', sources))
    expect(run(findCore('xray'), 'run', '-test', '-c', path)).toContain('Configuration OK.')
  })

  test('Xray takes each config of the array', () => {
    const configs: object[] = JSON.parse(render('xray-array', sources))
    expect(configs.length > 0).toBe(sources.length > 0)
    for (const config of configs.slice(0, 8)) {
      const path = written('xray-one.json', JSON.stringify(config))
      expect(run(findCore('xray'), 'run', '-test', '-c', path)).toContain('Configuration OK.')
    }
  })

  test('share links are read back strictly, each with the name and host of its entry', () => {
    const entries = listEntries(sources).map(({ name, port }) => ({ name, port }))
    const body = render('links', sources)
    const links = body === '' ? [] : body.split('\n')
    if (sources === SETS['an address that is no host']) {
      for (const link of links) expect(() => parseShareLink(link)).toThrow()
      return
    }
    expect(links.map(parseShareLink)).toMatchObject(entries)
    if (body !== '') expect(parseBase64Body(render('base64', sources))).toMatchObject(entries)
  })
})

describe('the checks can fail', () => {
  test('sing-box 1.14 refuses the profile of 1.11, and 1.11 that of 1.12', () => {
    const sources = [listSource()]
    for (const [core, profile] of [
      ['1.14.1', '1.11.15'],
      ['1.11.15', '1.12.12'],
    ] as const) {
      const path = written('wrong.json', render('singbox', sources, profile))
      const { status } = spawnSync(findCore('sing-box', core), ['check', '-c', path])
      expect(status).not.toBe(0)
    }
  })

  test('Mihomo refuses a list whose short id is not quoted', () => {
    const text = render('mihomo', [listSource({ shortId: '0123456789012345' })])
    const unquoted = text.replace('"0123456789012345"', '0123456789012345')
    const path = written('unquoted.yaml', unquoted)
    const args = ['-t', '-d', folder, '-f', path]
    expect(spawnSync(findCore('mihomo'), args).status).not.toBe(0)
  })

  test('a core that is not there is an error that says what to set', () => {
    expect(() => findCore('sing-box', '0.0.1')).toThrow(/sing-box 0\.0\.1.*SINGBOX_BIN.*CORES_DIR/)
  })
})
