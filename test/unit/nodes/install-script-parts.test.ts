/** What the install script brings to systems that no test has: packages, cores, and the settings of the node program. */
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { installScript, pathOf } from '#test/support/drivers/install-script.ts'

const { at, standIn, calls, run } = installScript()

describe('missing packages', () => {
  const here = (...tools: string[]) => {
    for (const tool of tools) standIn(tool)
  }
  const FEDORA = 'dnf install -y curl openssl sudo openssh-server iproute gawk util-linux'
  /** ca-certificates is asked for where neither of its files is. */
  const asked = () => calls().map((call) => call.replace(' ca-certificates', ''))

  test('come by dnf under the names they have there', () => {
    standIn('dnf')
    expect(run('install_packages').status).toBe(0)
    expect(asked()).toEqual([FEDORA])
  })

  test('come by apt-get under other names, also where dnf is installed', () => {
    here('apt-get', 'dnf')
    expect(run('install_packages').status).toBe(0)
    expect(asked()).toEqual([
      'apt-get update -q',
      'apt-get install -yq --no-install-recommends curl openssl sudo openssh-server iproute2 gawk util-linux',
    ])
  })

  test('are those only that are missing', () => {
    here('dnf', 'curl', 'openssl', 'sudo', 'sshd', 'awk', 'setpriv')
    expect(run('install_packages').status).toBe(0)
    expect(asked()).toEqual(['dnf install -y iproute'])
  })

  test('that dnf does not have end the script with their names', () => {
    standIn('dnf', 'exit 1')
    const { status, reason } = run('install_packages')
    expect(status).toBe(1)
    expect(reason).toMatch(/^dnf could not install curl openssl /)
  })

  test('end the script where neither is there to bring them', () => {
    expect(run('install_packages').reason).toMatch(/^neither apt-get nor dnf is here/)
  })
})

describe('the architecture', () => {
  const CORE = '#!/bin/sh\nexit 0\n'
  const sha = (text: string) => createHash('sha256').update(text).digest('hex')
  const values = { PANEL_URL: 'https://panel.test', TOKEN: 't', XRAY_ARM64: sha(CORE) }
  /** Gives the file of the answer to `-o`, and notes the settings that it reads by `-K`. */
  const download = (text: string) =>
    standIn(
      'curl',
      `while [ "$1" != -o ]; do [ "$1" != -K ] || cat "$2" >'${at('asked')}'; shift; done
cat >"$2" <<'END'\n${text.trimEnd()}\nEND`,
    )

  test.each([
    ['x86_64', 'amd64'],
    ['amd64', 'amd64'],
    ['aarch64', 'arm64'],
    ['arm64', 'arm64'],
  ])('of a machine that calls itself %s is %s', (machine, arch) => {
    standIn('uname', `echo ${machine}`)
    expect(run('find_arch; REASON=$ARCH', values).reason).toBe(arch)
  })

  test.each(['riscv64', 'armv7l', 'i686'])('%s is refused by name', (machine) => {
    standIn('uname', `echo ${machine}`)
    expect(run('find_arch', values)).toMatchObject({
      status: 1,
      reason: `there are no cores for ${machine}: only for amd64 and arm64`,
    })
  })

  const install = `find_arch; place_text() { cat >"$3"; }; write_conf() { :; }; install_programs`

  test('decides which core is asked for, and against which sum it is checked', () => {
    standIn('uname', 'echo aarch64')
    download(CORE)
    expect(run(install, values)).toMatchObject({ status: 0, reason: '' })
    expect(readFileSync(at('asked'), 'utf8')).toBe(
      'url = "https://panel.test/install/t/core/xray?arch=arm64"\n',
    )
    // Every user of the machine can read arguments, and the address has the token.
    expect(calls().filter((call) => call.includes('panel.test'))).toEqual([])
    expect(readFileSync(at('lib/xray'), 'utf8')).toBe(CORE)
    // No other may take its place.
    expect(readFileSync(at('lib/cores.sha256'), 'utf8')).toBe(`${sha(CORE)}  xray\n`)
  })

  test('a core of another sum is not put in place', () => {
    standIn('uname', 'echo aarch64')
    download('#!/bin/sh\necho other\n')
    expect(run(install, values).reason).toBe('xray did not arrive as the panel has it')
    expect(existsSync(at('lib/xray'))).toBe(false)
  })

  test('that the panel has no core for is told with what helps', () => {
    standIn('uname', 'echo x86_64')
    expect(run('find_arch; check_cores', values).reason).toBe(
      'the panel has no xray for amd64: run `npm run cores` there, then this again',
    )
    expect(calls()).toEqual(['uname -m'])
  })
})

describe('the settings of the node program', () => {
  const SECRET = 'the_secret-of-the-API'
  const conf = () => at('etc/subpanel/node.conf')
  const state = () => at('state')
  /** Writes them for a node with Hysteria, on a server that has these files. */
  function write(files: Record<string, string>, parameters = 'hysteria 2\nport 443\n') {
    for (const folder of ['state', 'etc', 'etc/subpanel']) {
      mkdirSync(at(folder), { recursive: true })
    }
    for (const [path, text] of Object.entries(files)) writeFileSync(path, text)
    standIn('openssl', 'echo made-anew-by-openssl')
    standIn('install')
    const machine = {
      'CONF=/etc/subpanel/node.conf': `CONF='${conf()}'`,
      'DIR=/var/lib/subpanel-node': `DIR='${state()}'`,
    }
    const values = { CODE: 'far', HYSTERIA_PARAMS: Buffer.from(parameters).toString('base64') }
    const done = run('place() { cat "$3" >"$4"; }; write_conf', values, { machine })
    expect(done).toEqual({ status: 0, reason: '', said: '' })
    return readFileSync(conf(), 'utf8').split('\n')
  }
  const secretsOf = (lines: string[]) => lines.filter((line) => line.startsWith('HYSTERIA_SECRET='))

  test('are in a folder of root, and name no command', () => {
    expect(write({})).toEqual([
      `XRAY_BIN=${at()}/lib/xray`,
      'API_SOCK=/run/subpanel-xray/api.sock',
      'SUPERVISOR=systemd',
      'CORE_USER=subpanel-xray',
      'CONFIG_GROUP=subpanel-node',
      'NODE=far',
      `HYSTERIA_BIN=${at()}/lib/hysteria`,
      'HYSTERIA_SECRET=made-anew-by-openssl',
      '',
    ])
    expect(calls()).toContain(`install -d -m 755 -o root -g root ${at()}/etc/subpanel`)
    expect(write({}, '').join()).not.toContain('HYSTERIA')
  })

  test.each([
    ['program 1 kept it', () => join(state(), 'node.conf')],
    ['it is now', conf],
  ])('keep the secret of Hysteria from where %s', (_, file) => {
    const lines = write({ [file()]: `XRAY_BIN=x\nHYSTERIA_SECRET=${SECRET}\n` })
    expect(secretsOf(lines)).toEqual([`HYSTERIA_SECRET=${SECRET}`])
  })

  test('take nothing else over from the folder in which program 1 had them', () => {
    const former = join(state(), 'node.conf')
    const lines = write({
      [former]: `CORE_RESTART=id\nHYSTERIA_SECRET=$(id)\nHYSTERIA_SECRET=x\nHYSTERIA_SECRET=${SECRET}\n`,
    })
    expect(secretsOf(lines)).toEqual([`HYSTERIA_SECRET=${SECRET}`])
    expect(lines.join('\n')).not.toMatch(/RESTART|id$/m)
    expect(secretsOf(write({ [former]: 'HYSTERIA_SECRET=too;bad\n', [conf()]: '' }))).toEqual([
      'HYSTERIA_SECRET=made-anew-by-openssl',
    ])
  })
})

test('a node program that cannot test configurations says so, and the script goes on', () => {
  standIn('sudo', `echo '{"ok":true,"program":2,"tested":false}'`)
  const warned = {
    status: 0,
    said: expect.stringContaining('there is no setpriv (package util-linux)'),
  }
  expect(run('check_access')).toMatchObject(warned)
  rmSync(at('bin/sudo'))
  for (const tool of ['sudo', 'env']) symlinkSync(pathOf('true'), at('bin', tool))
  standIn('setpriv', `echo '{"ok":true,"program":2,"tested":false}'`)
  expect(run('check_access')).toMatchObject(warned)
  standIn('setpriv', `echo '{"ok":true,"program":2}'`)
  expect(run('check_access').said).toBe('')
})

test('what a failure quotes is text to whoever reads it, the terminal included', () => {
  standIn('curl', 'cat')
  const name = String.raw`$'\e]0;"x"\a\n\\'`
  const { said } = run(`STEP=ports REASON=${name}; finish`)
  expect(said).toContain(String.raw`FAILED at the step "ports":  ]0;"x"  \ `.trimEnd())
  expect(said.replaceAll('\n', '')).toMatch(/^[ -~]+$/)
})
