/** Lists with a routing preset, read by the real cores: what they load, what goes through the server and what goes direct. */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { PRESET_LISTS } from '#test/fixtures/lists/preset-lists.ts'
import { findCore } from '#test/support/cores.ts'
import { createLab, LAB_HOSTS, type Lab, startTarget, until } from '#test/support/labs/lab.ts'
import { compileRules, type Places, writeGeodata } from '#test/support/labs/rule-files.ts'
import { type Service, startService } from '#test/support/labs/service.ts'

const GOLDEN = join(import.meta.dirname, '../fixtures/lists/presets')
const SINGBOX_VERSIONS = ['1.11.15', '1.12.12', '1.13.2', '1.14.1']

/** The neighbour belongs to the country by its name, the client's machine by its address. */
const PLACES: Places = {
  sites: ['neighbour.test'],
  addresses: [LAB_HOSTS['client.test']],
  ads: ['ads.test'],
}

describe('the lists that are kept', () => {
  let folder = ''
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'subpanel-presets-'))
    for (const country of ['ru', 'ir', 'cn'] as const) {
      writeGeodata(join(folder, country), country, PLACES)
    }
  })
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  const run = (core: string, args: string[], country: string) => {
    const home = join(folder, country)
    const { status, stdout, stderr } = spawnSync(core, args, {
      encoding: 'utf8',
      timeout: 60_000,
      env: { ...process.env, XRAY_LOCATION_ASSET: home },
    })
    expect(status, stdout + stderr).toBe(0)
    return stdout + stderr
  }
  const listsOf = (...formats: string[]) =>
    PRESET_LISTS.filter(({ format }) => formats.includes(format))

  test.each(listsOf('mihomo'))('Mihomo takes $file', ({ file, routing: { country } }) => {
    const args = ['-t', '-d', join(folder, country), '-f', join(GOLDEN, file)]
    const output = run(findCore('mihomo'), args, country)
    expect(output).toContain('test is successful')
    expect(output).not.toMatch(/level=(?:warning|error|fatal)/)
  })

  test.each(listsOf('xray', 'xray-array'))('Xray takes $file', ({ file, routing: { country } }) => {
    const list = JSON.parse(readFileSync(join(GOLDEN, file), 'utf8'))
    for (const config of [list].flat()) {
      const path = join(folder, 'xray.json')
      writeFileSync(path, JSON.stringify(config))
      const output = run(findCore('xray'), ['run', '-test', '-c', path], country)
      expect(output).toContain('Configuration OK.')
    }
  })

  test.each(listsOf('singbox'))('sing-box takes $file without a warning', (list) => {
    const { file, singboxVersion, routing } = list
    const versions = singboxVersion === '1.12.12' ? ['1.12.12', '1.13.2'] : [`${singboxVersion}`]
    for (const version of versions) {
      const core = findCore('sing-box', version)
      expect(run(core, ['check', '-c', join(GOLDEN, file)], routing.country)).toBe('')
    }
  })

  test('Xray refuses a country that its data does not have', () => {
    const path = join(GOLDEN, 'xray-ru.golden')
    const { status } = spawnSync(findCore('xray'), ['run', '-test', '-c', path], {
      env: { ...process.env, XRAY_LOCATION_ASSET: join(folder, 'ir') },
    })
    expect(status).not.toBe(0)
  })
})

const PAGE_PORT = 8085

describe('a page is fetched', () => {
  let lab: Lab
  let service: Service
  let token: string
  let geodata: string

  /** The list as an app gets it, JSON. */
  const listFor = async (agent: string) => (await service.request(`/sub/${token}`, { agent })).text
  let nextPort = 31_000

  const start = (program: string, args: string[]) =>
    lab.spawn(program, args, { outside: true, env: { XRAY_LOCATION_ASSET: geodata } })

  /** Who asked for the page at a host, as the page saw it. */
  const askerOf = async (port: number, host: string) => {
    const url = `http://${host}:${PAGE_PORT}/`
    const args = ['-sS', '-m', '8', '--socks5-hostname', `127.0.0.1:${port}`, url]
    return (await lab.exec('curl', args, { outside: true })).stdout
  }
  const { 'server.test': SERVER, 'page.test': PAGE, 'client.test': CLIENT } = LAB_HOSTS

  const expectRouted = async (port: number, output: () => string, hosts: string[]) => {
    await until(
      `a page comes through the server\n${output()}`,
      async () => (await askerOf(port, PAGE)) === SERVER,
      40_000,
    ).catch((error: Error) => {
      throw new Error(`${error.message}\n${output()}`)
    })
    for (const host of hosts) {
      const asker = await askerOf(port, host)
      expect(asker, `${host}\n${output()}`).toMatch(/^45\.45\.45\.4[678]$/)
    }
  }

  beforeAll(async () => {
    lab = createLab()
    const target = await startTarget(lab)
    geodata = join(lab.dir, 'geodata')
    writeGeodata(geodata, 'ru', PLACES)
    const coresDir = join(lab.dir, 'cores')
    compileRules(join(coresDir, 'rules'), 'ru', PLACES)
    const page = `require('node:http').createServer((q, a) => a.end(q.socket.remoteAddress.replace('::ffff:', ''))).listen(${PAGE_PORT}, '0.0.0.0', () => console.log('page'))`
    const pages = lab.spawn(process.execPath, ['-e', page], { outside: true })
    await until('the page listens', () => pages.output().includes('page'))
    service = await startService(lab, target, 'node', 'data', { CORES_DIR: coresDir })
    await service.admin('/users/42/grant', { node: 'de1', plan: '1m' })
    token = (await service.admin('/users/42')).json.token
    await until(
      'the core has the client',
      async () => (await service.admin('/sync', {})).json?.ok === true,
      30_000,
    )
    // Without a port, as the address of SUB_DOMAIN would be.
    const base = `http://${LAB_HOSTS['server.test']}:3000/rules`
    const saved = await service.admin('/settings/lists', {
      routing_preset: 'ru',
      routing_ads: true,
      ruleset_base_url: base,
      xray_json_agents: ['v2rayng'],
    })
    expect([saved.status, saved.json?.routing_preset], saved.text).toEqual([200, 'ru'])
  })
  afterAll(() => lab?.close())

  test.each(SINGBOX_VERSIONS)(
    'with sing-box %s, which loads its rules through the server',
    async (version) => {
      const list = JSON.parse(
        await listFor(`SFA/${version} (600; sing-box ${version}; language en)`),
      )
      const port = nextPort++
      list.inbounds = [{ type: 'mixed', listen: '127.0.0.1', listen_port: port }]
      list.log.level = 'info'
      delete list.route.auto_detect_interface
      const home = join(lab.dir, `sing-box-${version}`)
      const file = join(lab.dir, `sing-box-${version}.json`)
      writeFileSync(file, JSON.stringify(list))
      await lab.exec('mkdir', ['-p', home])
      const client = start(findCore('sing-box', version), ['run', '-c', file, '-D', home])
      await expectRouted(port, client.output, [CLIENT, 'neighbour.test'])
      expect(await askerOf(port, 'ads.test')).toBe('')
      client.signal('SIGTERM')
      await client.exited
    },
  )

  test('with Mihomo', async () => {
    const list = await listFor('clash-verge/v2.4.2')
    const port = nextPort++
    const file = join(lab.dir, 'mihomo.yaml')
    writeFileSync(file, list.replace(/^mixed-port: .*$/m, `mixed-port: ${port}`))
    const client = start(findCore('mihomo'), ['-d', geodata, '-f', file])
    await expectRouted(port, client.output, [CLIENT, 'neighbour.test'])
    expect(await askerOf(port, 'ads.test')).toBe('')
    client.signal('SIGTERM')
    await client.exited
  })

  test('with each config of the Xray array', async () => {
    const configs = JSON.parse(await listFor('v2rayNG/2.3.5'))
    expect(configs.map(({ remarks }: { remarks: string }) => remarks)).toEqual(['⚡ Auto', 'Local'])
    for (const config of configs) {
      const port = nextPort++
      config.inbounds = [{ ...config.inbounds[0], port }]
      const file = join(lab.dir, `xray-${port}.json`)
      writeFileSync(file, JSON.stringify(config))
      const client = start(findCore('xray'), ['run', '-c', file])
      await expectRouted(port, client.output, [CLIENT])
      client.signal('SIGTERM')
      await client.exited
    }
  })
})
