/** Templates of lists with the real cores: who reads them before they are saved, and where; and pages fetched by what is written of them. */
import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { TEMPLATE_FORMATS, type TemplateFormat } from '#db/values.ts'
import { listEntries } from '#src/domain/lists/entries.ts'
import { renderList } from '#src/domain/lists/formats.ts'
import type { Routing } from '#src/domain/lists/routing.ts'
import { builtInTemplate, readTemplate } from '#src/domain/lists/template.ts'
import { createClientCores } from '#src/integrations/client-cores.ts'
import { listSource, nastySources, UUID, WITH_GRPC } from '#test/fixtures/lists/samples.ts'
import { MIHOMO_TEMPLATE, SINGBOX_TEMPLATE } from '#test/fixtures/lists/templates.ts'
import { findCore } from '#test/support/cores.ts'
import { createLab, LAB_HOSTS, type Lab, startTarget, until } from '#test/support/labs/lab.ts'
import { type Service, startService } from '#test/support/labs/service.ts'

const SINGBOX_VERSIONS = ['1.12.12', '1.13.2', '1.14.1']
const RU: Routing = { country: 'ru', ads: true, rulesUrl: 'https://sub.example.com/rules' }
/** Without what a core would load from others. */
const ALONE_TEMPLATE = MIHOMO_TEMPLATE.split('\n')
  .filter((line) => !/geosite|geoip|blocked|rule-providers/i.test(line))
  .join('\n')
/** Of 32 bytes, as WireGuard has them. */
const KEY = 'AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8='
const PATH = process.env.PATH ?? ''

let folder = ''
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'subpanel-templates-'))
  chmodSync(folder, 0o755)
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** A folder of cores that anybody may run. */
function coresDir(name: string, cores: Record<string, string>): string {
  const dir = join(folder, name)
  mkdirSync(dir)
  for (const [core, path] of Object.entries(cores)) copyFileSync(path, join(dir, core))
  return dir
}

const coresIn = (coresDir: string) => createClientCores({ config: { coresDir, searchPath: PATH } })

describe('the real cores', () => {
  test.each(SINGBOX_VERSIONS)(
    'take templates, ours among them: Mihomo and sing-box %s',
    async (version) => {
      const cores = coresIn(
        coresDir(version, {
          mihomo: findCore('mihomo'),
          'sing-box': findCore('sing-box', version),
        }),
      )
      const texts: [TemplateFormat, string][] = [
        ['mihomo', MIHOMO_TEMPLATE],
        ['mihomo', builtInTemplate('mihomo', null)],
        ['mihomo', builtInTemplate('mihomo', RU)],
        ['singbox', SINGBOX_TEMPLATE],
        ['singbox', builtInTemplate('singbox', null)],
        ['singbox', builtInTemplate('singbox', RU)],
      ]
      for (const [format, text] of texts) {
        const core = format === 'mihomo' ? 'mihomo' : 'sing-box'
        const word = await cores.check(format, readTemplate(format, text).sample())
        expect(word).toEqual({ core, complaint: null })
      }
    },
  )

  test.each(SINGBOX_VERSIONS)(
    'take what is written of entries of any name and kind: Mihomo and sing-box %s',
    async (version) => {
      const cores = coresIn(
        coresDir(`entries-${version}`, {
          mihomo: findCore('mihomo'),
          'sing-box': findCore('sing-box', version),
        }),
      )
      const texts = { mihomo: ALONE_TEMPLATE, singbox: SINGBOX_TEMPLATE }
      const named = ['Choose', 'Fast', 'Reserve', 'Past', 'direct', '$names', '$proxies']
      const sources = [
        ...nastySources(),
        ...named.map((label, i) => listSource({ code: `named${i}`, label, transports: WITH_GRPC })),
      ]
      for (const format of TEMPLATE_FORMATS) {
        const template = readTemplate(format, texts[format])
        const entries = listEntries(sources, format, template.names)
        const options = { brandName: 'Subpanel', singboxVersion: version, wsAndXhttp: true }
        const list = renderList(format, entries, { ...options, template })
        expect(list).toContain('Choose 2')
        expect(await cores.check(format, list)).toMatchObject({ complaint: null })
      }
    },
  )

  test('take servers of a template’s own, with keys as texts, and rules as they may be written', async () => {
    const cores = coresIn(coresDir('own', { mihomo: findCore('mihomo') }))
    const key = (kind: string) => {
      const file = join(folder, `key-${kind}`)
      execFileSync('ssh-keygen', ['-q', '-t', kind, '-N', '', '-f', file])
      return readFileSync(file, 'utf8')
    }
    const at = { server: '192.0.2.1', port: 443 }
    const own = [
      { type: 'http', ...at },
      { type: 'socks5', ...at },
      { type: 'ss', ...at, cipher: 'aes-128-gcm', password: 'x' },
      { type: 'snell', ...at, psk: 'x' },
      { type: 'vmess', ...at, uuid: UUID, alterId: 0, cipher: 'auto' },
      { type: 'vless', ...at, uuid: UUID },
      { type: 'trojan', ...at, password: 'x' },
      { type: 'hysteria', ...at, auth_str: 'x', up: '10', down: '10' },
      { type: 'hysteria2', ...at, password: 'x' },
      { type: 'tuic', ...at, uuid: UUID, password: 'x' },
      { type: 'anytls', ...at, password: 'x' },
      { type: 'ssh', ...at, username: 'x', 'private-key': key('ed25519') },
      { type: 'wireguard', ...at, ip: '192.0.2.9', 'private-key': KEY, 'public-key': KEY },
      { type: 'direct' },
      { type: 'dns' },
      { type: 'reject' },
    ]
    const text = JSON.stringify({
      proxies: ['$proxies', ...own.map((one, i) => ({ name: `Own ${i}`, ...one }))],
      'proxy-groups': [{ name: 'Proxy (auto)', type: 'select', proxies: ['$names'] }],
      'sub-rules': { rest: ['MATCH,Proxy (auto)'] },
      rules: [
        'GEOSITE ,cn,DIRECT',
        'GEOIP , cn , DIRECT',
        'domain-suffix, page.test , Proxy (auto)',
        'AND,((NETWORK,UDP),(DST-PORT,443)),Proxy (auto)',
        'DOMAIN-REGEX,^a{1,2}$,Proxy (auto)',
        'SUB-RULE,(NETWORK,tcp),rest',
        'MATCH,Proxy (auto)',
      ],
    })
    expect(await cores.check('mihomo', readTemplate('mihomo', text).sample())).toEqual({
      core: 'mihomo',
      complaint: null,
    })
  })

  test('say what they do not take', async () => {
    const cores = coresIn(
      coresDir('complaints', {
        mihomo: findCore('mihomo'),
        'sing-box': findCore('sing-box', '1.13.2'),
      }),
    )
    const complaint = async (format: TemplateFormat, text: string) =>
      (await cores.check(format, readTemplate(format, text).sample()))?.complaint
    expect(await complaint('mihomo', MIHOMO_TEMPLATE.replace('fallback', 'fallbakc'))).toMatch(
      /^proxy group\[\d\]: unsupported type: fallbakc$/,
    )
    expect(
      await complaint('mihomo', MIHOMO_TEMPLATE.replace('DST-PORT,443', 'DST-PART,443')),
    ).toMatch(/^rules\[1\].*DST-PART/)
    expect(await complaint('singbox', SINGBOX_TEMPLATE.replace('"sniff"', '"snif"'))).toMatch(
      /^decode config at stdin: route\.rules\[0\].*snif/,
    )
    expect(await complaint('singbox', SINGBOX_TEMPLATE.replace('"near" }', '"far2" }'))).toMatch(
      /default domain resolver not found: near$/,
    )
  })
})

describe('what reads a template', () => {
  /** A core that does what it likes, and says what came of it. */
  function script(name: string, lines: string[]): string {
    const path = join(folder, `${name}.sh`)
    writeFileSync(path, ['#!/bin/bash', '[ "$1" = -v ] && exit 0', ...lines].join('\n'))
    chmodSync(path, 0o755)
    return coresDir(name, { mihomo: path })
  }
  const SAY = 'echo "level=error msg=\\"$said\\""; exit 1'
  const check = (dir: string) => coresIn(dir).check('mihomo', 'mode: rule\n')

  test('can write nothing, reach nobody, and has no rights', async () => {
    const secret = join(folder, 'secret')
    writeFileSync(secret, 'secret', { mode: 0o600 })
    const server = createServer((socket) => socket.end()).listen(0, '127.0.0.1')
    await new Promise((done) => server.once('listening', done))
    const { port } = server.address() as { port: number }
    const dir = script('nosy', [
      'exec 2>/dev/null; said="$(id -u) $(id -G)"',
      `said+=" $(awk '/^(CapEff|CapBnd|NoNewPrivs)/ { printf "%s ", $2 }' /proc/self/status)"`,
      `said+=" $( (echo x >"$HOME/file") && [ -s "$HOME/file" ] && echo wrote)"`,
      `said+=" $( (echo x >'${folder}/file') && echo wrote-there)"`,
      `said+=" $(cat '${secret}')"`,
      `said+=" $( (exec 3<>/dev/tcp/127.0.0.1/${port}) && echo reached)"`,
      'said+=" $(env | sort | cut -d= -f1 | tr "\\n" ,) $(ls -A . | wc -l) $(cat)"',
      SAY,
    ])
    try {
      const word = await check(dir)
      const said = word?.complaint?.replace(/\s+/g, ' ')
      expect(said).toBe(
        '65534 65534 0000000000000000 0000000000000000 1 HOME,PATH,PWD,SHLVL,TMPDIR,_, 0 mode: rule',
      )
    } finally {
      server.close()
    }
  })

  test('leaves nothing behind', async () => {
    const left = () => readdirSync(tmpdir()).filter((name) => name.startsWith('subpanel-check-'))
    const before = left()
    await check(script('tidy', ['exit 0']))
    expect(left()).toEqual(before)
  })

  test('is ended with all that it has started when it takes too long', async () => {
    const seconds = '83.4217'
    const dir = script('slow', [`sleep ${seconds} & sleep ${seconds}`])
    expect(await check(dir)).toEqual({ core: 'mihomo', complaint: 'it did not come to an end' })
    const running = execFileSync('ps', ['-eo', 'args'], { encoding: 'utf8' })
    expect(running).not.toContain(`sleep ${seconds}`)
  }, 30_000)

  test('is ended when it says too much', async () => {
    const start = performance.now()
    expect(await check(script('loud', ['exec yes']))).toEqual({
      core: 'mihomo',
      complaint: 'it did not come to an end',
    })
    expect(performance.now() - start).toBeLessThan(5000)
  })

  test('gets no more memory than 2 GB', async () => {
    const dir = script('large', [
      'said=$(head -c 3000000000 /dev/zero | tail -c 3000000000 2>&1 >/dev/null)',
      SAY,
    ])
    expect((await check(dir))?.complaint).toMatch(/memory exhausted|cannot allocate/i)
  }, 30_000)

  test('is nothing where there is no core, or nobody may run it', async () => {
    expect(await check(coresDir('none', {}))).toBeNull()
    const hidden = join(folder, 'hidden')
    mkdirSync(hidden, { mode: 0o700 })
    writeFileSync(join(hidden, 'mihomo'), '#!/bin/bash\nexit 0\n', { mode: 0o755 })
    expect(await check(hidden)).toBeNull()
  })

  test('has no rights either where the service is no root', () => {
    const dir = script('plain', [
      `said="$(id -u) $(awk '/^(CapEff|NoNewPrivs)/ { printf "%s ", $2 }' /proc/self/status)"`,
      `exec 2>/dev/null; said+=" $( (echo x >"$HOME/file") && [ -s "$HOME/file" ] && echo wrote) $(wc -l </proc/net/dev)"`,
      SAY,
    ])
    const code = `import { createClientCores } from '#src/integrations/client-cores.ts'
      const config = { coresDir: ${JSON.stringify(dir)}, searchPath: process.env.PATH }
      console.log(JSON.stringify(await createClientCores({ config }).check('mihomo', '')))`
    const plain = ['--reuid=1234', '--regid=1234', '--clear-groups', '--inh-caps=-all']
    const output = execFileSync(
      'setpriv',
      [...plain, process.execPath, '--input-type=module', '-e', code],
      { encoding: 'utf8', env: { PATH, TMPDIR: '/tmp' } },
    )
    // Nobody's number stands for one that is known outside alone; in a network of its own there is the loopback, below two lines of headings.
    expect(JSON.parse(output).complaint.replace(/\s+/g, ' ')).toBe('65534 0000000000000000 1 3')
  })
})

const PAGE_PORT = 8085

describe('a page is fetched', () => {
  let lab: Lab
  let service: Service
  let token: string

  const listFor = async (agent: string) => (await service.request(`/sub/${token}`, { agent })).text
  const start = (program: string, args: string[]) => lab.spawn(program, args, { outside: true })

  /** Who asked for the page, as it saw them. */
  const askerOf = async (port: number) => {
    const url = `http://page.test:${PAGE_PORT}/`
    const args = ['-sS', '-m', '8', '--socks5-hostname', `127.0.0.1:${port}`, url]
    return (await lab.exec('curl', args, { outside: true })).stdout
  }
  const expectFetched = (port: number, output: () => string) =>
    until(
      'a page comes through the server',
      async () => (await askerOf(port)) === LAB_HOSTS['server.test'],
      40_000,
    ).catch((error: Error) => {
      throw new Error(`${error.message}\n${output()}`)
    })

  const save = (format: TemplateFormat, body: string) =>
    service.admin('/settings/templates', { format, body })

  beforeAll(async () => {
    lab = createLab()
    const target = await startTarget(lab)
    const page = `require('node:http').createServer((q, a) => a.end(q.socket.remoteAddress.replace('::ffff:', ''))).listen(${PAGE_PORT}, '0.0.0.0', () => console.log('page'))`
    const pages = lab.spawn(process.execPath, ['-e', page], { outside: true })
    await until('the page listens', () => pages.output().includes('page'))
    const CORES_DIR = coresDir('cores', {
      mihomo: findCore('mihomo'),
      'sing-box': findCore('sing-box', '1.13.2'),
    })
    service = await startService(lab, target, 'node', 'data', { CORES_DIR, PATH })
    await service.admin('/users/42/grant', { node: 'de1', plan: '1m' })
    token = (await service.admin('/users/42')).json.token
    await until(
      'the core has the client',
      async () => (await service.admin('/sync', {})).json?.ok === true,
      30_000,
    )
  })
  afterAll(() => lab?.close())

  test('what a core refuses is not saved', async () => {
    const broken = await save('mihomo', MIHOMO_TEMPLATE.replace('fallback', 'fallbakc'))
    expect([broken.status, broken.json]).toEqual([
      400,
      {
        error: expect.stringMatching(
          /^mihomo refuses the template: proxy group\[\d\]: unsupported/,
        ),
      },
    ])
    const other = await save('singbox', SINGBOX_TEMPLATE.replace('"auto_route"', '"auto_rout"'))
    expect([other.status, other.json.error]).toEqual([
      400,
      expect.stringMatching(/^sing-box refuses the template: .*auto_rout/),
    ])
    const { templates } = (await service.admin('/settings/templates')).json
    expect(templates.map(({ body }: { body: string | null }) => body)).toEqual([null, null])
  })

  test('with Mihomo, as its template says', async () => {
    const saved = await save('mihomo', ALONE_TEMPLATE)
    expect([saved.status, saved.json.checked_by], saved.text).toEqual([200, 'core'])
    const file = join(lab.dir, 'mihomo.yaml')
    writeFileSync(file, await listFor('clash-verge/v2.4.2'))
    const client = start(findCore('mihomo'), ['-d', join(lab.dir, 'mihomo'), '-f', file])
    await expectFetched(7890, client.output)
    client.signal('SIGTERM')
    await client.exited
  })

  test.each(SINGBOX_VERSIONS)('with sing-box %s, as its template says', async (version) => {
    const saved = await save('singbox', SINGBOX_TEMPLATE)
    expect([saved.status, saved.json.checked_by], saved.text).toEqual([200, 'core'])
    const list = JSON.parse(await listFor(`SFA/${version} (600; sing-box ${version}; language en)`))
    expect(list.outbounds[0].tag).toBe('Choose')
    list.inbounds = list.inbounds.filter(({ type }: { type: string }) => type === 'mixed')
    const home = join(lab.dir, `sing-box-${version}`)
    mkdirSync(home)
    const file = join(home, 'list.json')
    writeFileSync(file, JSON.stringify(list))
    const client = start(findCore('sing-box', version), ['run', '-c', file, '-D', home])
    await expectFetched(2080, client.output)
    client.signal('SIGTERM')
    await client.exited
  })
})
