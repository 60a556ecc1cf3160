/** The samples in deploy/ for systemd and Docker, checked by the programs they are written for; proxies: deploy-proxies.test.ts. */
import { spawnSync } from 'node:child_process'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { GATEWAYS } from '#src/integrations/payments/index.ts'
import { START } from '#src/settings/start.ts'
import { settingsTable } from '#src/settings/table.ts'
import { findCore } from '#test/support/cores.ts'
import { closeLab, createLab, type Lab, ROOT, sample, start, tool } from './deploy-lab.ts'

let folder: string
let lab: Lab
beforeAll(() => {
  lab = createLab()
  folder = lab.folder
})
afterAll(() => closeLab(lab))

describe('deploy/systemd', () => {
  const analyze = () => tool('systemd-analyze', 'systemd')

  /** The units with this checkout and this machine's core in place of the installed ones. */
  function unitFolder(withDropIn: boolean): string {
    const units = mkdtempSync(join(folder, 'units-'))
    cpSync(join(ROOT, 'deploy/systemd'), units, { recursive: true })
    if (!withDropIn) rmSync(join(units, 'subpanel.service.d'), { recursive: true })
    for (const name of readdirSync(units).filter((file) => file.endsWith('.service'))) {
      const text = readFileSync(join(units, name), 'utf8')
      const local = text
        .replaceAll('/opt/subpanel', ROOT)
        .replaceAll('/usr/local/bin/xray', findCore('xray'))
      writeFileSync(join(units, name), local)
    }
    return units
  }

  test.each([false, true])('units pass systemd-analyze verify (system core: %s)', (system) => {
    const units = unitFolder(system)
    const names = readdirSync(units).filter((name) => /\.(service|socket)$/.test(name))
    expect(names).toHaveLength(5)
    for (const name of names) {
      const checked = spawnSync(analyze(), ['verify', '--man=no', join(units, name)], {
        encoding: 'utf8',
      })
      expect(checked.stdout + checked.stderr, name).toBe('')
      expect(checked.status, name).toBe(0)
    }
  })

  test.each([
    ['subpanel.service', false, 1.9],
    ['subpanel.service', true, 1.4],
    ['subpanel@.service', false, 1.3],
    ['subpanel-xray.service', true, 1.7],
    ['subpanel-node@.service', true, 2.9],
  ])('%s (system core: %s) is exposed by at most %d', (name, system, limit) => {
    const unit = join(unitFolder(system), name)
    const checked = spawnSync(analyze(), ['security', '--offline=true', '--no-pager', unit], {
      encoding: 'utf8',
    })
    const figure = /Overall exposure level for \S+: (\d+\.\d+)/.exec(checked.stdout)?.[1]
    console.log(`exposure of ${name}${system ? ' (system core)' : ''}: ${figure}`)
    expect(Number(figure)).toBeLessThanOrEqual(limit)
  })

  test('the socket-activated node program answers the verb on the first line', async () => {
    const activate = tool('systemd-socket-activate', 'systemd')
    const directory = mkdtempSync(join(folder, 'node-'))
    const socket = join(folder, 'node.sock')
    const state = `SUBPANEL_NODE_DIR=${directory}`
    const conf = join(mkdtempSync(join(folder, 'conf-')), 'node.conf')
    writeFileSync(conf, sample('systemd/node.conf'), { mode: 0o600 })
    const program = ['/bin/bash', join(ROOT, 'templates/node-agent.sh')]
    start(lab, activate, [
      '--accept',
      '--inetd',
      '-l',
      socket,
      '-E',
      state,
      '-E',
      `SUBPANEL_NODE_CONF=${conf}`,
      '-E',
      'PATH',
      ...program,
    ])
    await expect.poll(() => existsSync(socket), { timeout: 10_000 }).toBe(true)
    const answer = await new Promise<string>((done, reject) => {
      let text = ''
      const call = connect(socket)
      call.setEncoding('utf8').on('data', (chunk) => {
        text += chunk
      })
      call.on('error', reject).on('close', () => done(text))
      call.write('version\n')
    })
    expect(JSON.parse(answer)).toMatchObject({ ok: true, program: 2 })
  })
})

describe('deploy/docker', () => {
  test('runs as another user than root, keeps the env file in the volume and trusts its network only', () => {
    const dockerfile = sample('docker/Dockerfile')
    expect(dockerfile).toMatch(/^USER 10001:10001$/m)
    expect(dockerfile).toContain('npm ci --omit=dev --omit=optional')
    expect(dockerfile).toContain('DATA_DIR=/data ENV_FILE=/data/.env')
    for (const [, path] of dockerfile.matchAll(/^COPY (?:\S+ )*?(\S+) \.\/\S+$/gm)) {
      expect(existsSync(join(ROOT, path as string)), path).toBe(true)
    }
    const compose = sample('docker/compose.yaml')
    const trusted = /TRUSTED_PROXIES: (\S+)/.exec(compose)?.[1]
    expect(compose).toContain(`subnet: ${trusted}`)
    expect(compose.match(/read_only: true/g)).toHaveLength(2)
    const several = sample('docker/compose.postgres.yaml')
    expect(several).toMatch(/SUBPANEL_UPSTREAM: \S+ \S+\n/)
    expect(several).toContain(`subnet: ${/TRUSTED_PROXIES: (\S+)/.exec(several)?.[1]}`)
    expect(several).not.toMatch(/^\s+- "(?:3000|5432)/m)
    for (const [, path] of several.matchAll(/"(src\/\S+)"/g))
      expect(existsSync(join(ROOT, path as string)), path).toBe(true)
    mkdirSync(join(folder, 'shell'), { recursive: true })
    const shell = /^RUN (apt-get[\s\S]*?)\n\n/m.exec(dockerfile)?.[1]
    const file = join(folder, 'shell', 'run.sh')
    writeFileSync(file, `#!/bin/sh\n${shell}\n`)
    const checked = spawnSync(tool('shellcheck', 'shellcheck'), [file], { encoding: 'utf8' })
    expect(checked.stdout).toBe('')
  })
})

describe('docs/deploying.md', () => {
  test('names every setting', () => {
    const names = new Set([
      ...START.map(({ key }) => key),
      ...settingsTable(GATEWAYS).all.keys(),
      ...GATEWAYS.flatMap(({ apiUrl }) => apiUrl?.key ?? []),
    ])
    expect(names.size).toBeGreaterThan(50)
    const docs = readFileSync(join(ROOT, 'docs/deploying.md'), 'utf8')
    expect([...names].filter((name) => !docs.includes(`\`${name}\``))).toEqual([])
  })
})
