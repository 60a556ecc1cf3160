/** What the install script does on systems that no test has: parts of it, run by bash with stand-ins for their programs. */
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { ROOT } from '#test/support/drivers/process.ts'

const SCRIPT = readFileSync(join(ROOT, 'templates/install.sh'), 'utf8')
const LAST_LINE = 'main "$@" </dev/null\n'
/** What the parts need of the machine itself, which has more than some stand for. */
const TOOLS = [
  ...['bash', 'grep', 'sha256sum', 'chmod', 'mv', 'cat', 'mkdir', 'sed', 'tr', 'timeout'],
  ...['base64', 'rm', 'tail'],
]

const pathOf = (tool: string) =>
  spawnSync('sh', ['-c', `command -v ${tool}`], { encoding: 'utf8' }).stdout.trim()
const toolPaths = TOOLS.map((tool) => [tool, pathOf(tool)] as const)

let dir: string
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'install-script-'))
  for (const folder of ['bin', 'lib', 'work']) mkdirSync(join(dir, folder))
  for (const [tool, path] of toolPaths) symlinkSync(path, join(dir, 'bin', tool))
})
afterEach(() => rmSync(dir, { recursive: true, force: true }))

/** Puts a program in the only folder of PATH, or another one: it notes how it was called, then does `body`. */
function standIn(name: string, body = '', folder = 'bin') {
  const file = join(dir, folder, name)
  // It may be a link to the machine's own program, which would be written to.
  rmSync(file, { force: true })
  writeFileSync(file, `#!${dir}/bin/bash\necho "${name} $*" >>'${dir}/calls'\n${body}\n`)
  chmodSync(file, 0o755)
}

const calls = () =>
  existsSync(join(dir, 'calls'))
    ? readFileSync(join(dir, 'calls'), 'utf8').split('\n').filter(Boolean)
    : []

interface Circumstances {
  /** What stands in for parts of the script's text that name the machine itself. */
  machine?: Record<string, string>
  /** What starts bash. */
  by?: string[]
}

/** Runs parts of the script as `main` would, with these values in place of the panel's. */
function run(
  parts: string,
  values: Record<string, string> = {},
  { machine = {}, by = [] }: Circumstances = {},
) {
  expect(SCRIPT.endsWith(LAST_LINE)).toBe(true)
  let own = SCRIPT.slice(0, -LAST_LINE.length)
  const places = { 'LIB=/usr/local/lib/subpanel': `LIB='${dir}/lib'`, ...machine }
  for (const [there, here] of Object.entries(places)) {
    expect(own).toContain(there)
    own = own.replaceAll(there, here)
  }
  const text = own.replaceAll(/\{\{([A-Z0-9_]+)\}\}/g, (_, key: string) => values[key] ?? '')
  const script = `${text}trap 'echo "$REASON"' EXIT\nWORK='${dir}/work' SSH_PORT=2222\n${parts}`
  const [program = '', ...words] = [...by, realpathSync(join(dir, 'bin/bash')), '-c', script]
  const { status, stdout, stderr } = spawnSync(program, words, {
    // Without a socket as stdin, at which bash reads its user's files.
    stdio: ['ignore', 'pipe', 'pipe'],
    encoding: 'utf8',
    env: { PATH: join(dir, 'bin') },
  })
  return { status, reason: stdout.trim(), said: stderr }
}

describe('the machine', () => {
  /** The check on a machine that is `id` of `version`. */
  function check(id: string, version: string) {
    writeFileSync(join(dir, 'os-release'), `NAME="x"\nID=${id}\nVERSION_ID="${version}"\n`)
    standIn('uname', 'echo x86_64')
    const machine = {
      '((EUID == 0))': '((0 == 0))',
      '/run/systemd/system': dir,
      '/etc/os-release': `${dir}/os-release`,
      'UNITS=/etc/systemd/system': `UNITS='${dir}/units'`,
    }
    return run('check_machine', {}, { machine })
  }

  test.each([
    ['debian', '11'],
    ['debian', '13'],
    // Testing has no number.
    ['debian', ''],
    ['ubuntu', '20.04'],
    ['ubuntu', '24.04'],
  ])('that is %s %s is taken', (id, version) => {
    expect(check(id, version)).toEqual({ status: 0, reason: '', said: '' })
  })

  test.each([
    ['debian', '10', 'Debian 10 is too old: 11 or later'],
    ['debian', '9.13', 'Debian 9.13 is too old: 11 or later'],
    ['ubuntu', '18.04', 'Ubuntu 18.04 is too old: 20.04 or later'],
  ])('that is %s %s is refused', (id, version, reason) => {
    expect(check(id, version)).toEqual({ status: 1, reason, said: '' })
  })

  test('that is something else is taken with a remark', () => {
    const { status, said } = check('fedora', '43')
    expect(status).toBe(0)
    expect(said).toContain('This system (fedora) is not among those that are tested')
  })

  test('is set up by root alone', () => {
    const isRoot = process.getuid?.() === 0
    const by = isRoot ? [pathOf('setpriv'), '--reuid', '65534', '--clear-groups'] : []
    expect(run('check_machine', {}, { by })).toMatchObject({
      status: 1,
      reason: 'run this as root',
    })
  })
})

describe('an SNI', () => {
  const warn = (answer: string) => {
    standIn('agent', answer, 'lib')
    return run('warn_of_sni', { SNI: 'dead.example.com' })
  }
  const answer = (suits: boolean, reason: string) =>
    `echo '{"ok":true,"suits":${suits},"tls13":false,"x25519":false,"first_flight":0,"reason":"${reason}"}'`

  test('that does not answer is warned of, and the script goes on', () => {
    const told =
      'WARNING: dead.example.com does not answer as REALITY needs: no connection. Choose another SNI in the panel.'
    const said = `    ${told}\n`
    expect(warn(answer(false, 'no connection'))).toEqual({ status: 0, reason: '', said })
    expect(calls()).toEqual(['agent probe-sni dead.example.com'])
  })

  test.each([
    ['suits', answer(true, '')],
    ['cannot be tried', 'exit 1'],
  ])('that %s is not warned of', (_, body) => {
    expect(warn(body)).toEqual({ status: 0, reason: '', said: '' })
  })
})

describe('the firewall', () => {
  const PORTS = '443/tcp 8443/tcp 443/udp'
  const open = (parameters = '') =>
    run('open_firewall', { PORTS, HYSTERIA_PARAMS: Buffer.from(parameters).toString('base64') })

  test('ufw that is active gets a rule for every port', () => {
    standIn('ufw', '[ "$1" != status ] || printf "Status: active\\n\\nTo Action From\\n"')
    expect(open()).toEqual({ status: 0, reason: '', said: '' })
    expect(calls()).toEqual([
      'ufw status',
      'ufw allow 443/tcp',
      'ufw allow 8443/tcp',
      'ufw allow 443/udp',
    ])
  })

  test('ufw with more rules than a pipe takes is active as well', () => {
    standIn(
      'ufw',
      'echo "Status: active"; for ((i = 0; i < 5000; i++)); do echo "$i/tcp ALLOW Anywhere"; done',
    )
    expect(open().said).toBe('')
    expect(calls()).toHaveLength(4)
  })

  test('ufw that is not active is left alone, and the operator is told the ports', () => {
    standIn('ufw', 'echo "Status: inactive"')
    expect(open()).toMatchObject({
      status: 0,
      said: expect.stringContaining(`open ${PORTS}, and 2222/tcp for the panel`),
    })
    expect(calls()).toEqual(['ufw status'])
  })

  test('firewalld gets every port now and for good, and is never reloaded', () => {
    standIn('firewall-cmd')
    expect(open()).toEqual({ status: 0, reason: '', said: '' })
    const ports = PORTS.split(' ').flatMap((port) => [
      `firewall-cmd -q --add-port=${port}`,
      `firewall-cmd -q --permanent --add-port=${port}`,
    ])
    expect(calls()).toEqual(['firewall-cmd --state', ...ports])
  })

  test.each([
    ['ufw', 'echo "Status: active"', 'ufw allow 20000:30000/udp'],
    ['firewall-cmd', '', 'firewall-cmd -q --permanent --add-port=20000-30000/udp'],
  ])('%s gets the range of ports among which clients of Hysteria hop', (name, body, call) => {
    standIn(name, body)
    expect(open('hysteria 2\nport 443\nhop 20000-30000\n')).toMatchObject({ status: 0, said: '' })
    expect(calls()).toContain(call)
  })

  test('that nobody knows leaves the range to the operator too', () => {
    expect(open('hysteria 2\nport 443\nhop 20000-30000\n').said).toContain(
      `open ${PORTS} 20000-30000/udp, and 2222/tcp`,
    )
  })

  test('firewalld that does not run counts as none', () => {
    standIn('firewall-cmd', 'exit 252')
    expect(open().said).toContain('none that is known runs')
    expect(calls()).toEqual(['firewall-cmd --state'])
  })

  test('an inactive ufw does not hide the firewalld that runs', () => {
    standIn('ufw', 'echo "Status: inactive"')
    standIn('firewall-cmd')
    expect(open().said).toBe('')
    expect(calls()).toContain('firewall-cmd -q --permanent --add-port=443/udp')
  })

  test.each([
    ['ufw', 'if [ "$1" = status ]; then echo "Status: active"; else exit 1; fi', 'ufw'],
    ['firewall-cmd', '[ "$1" = --state ]', 'firewalld'],
  ])('a port that %s refuses is told, and the others go on', (name, body, told) => {
    standIn(name, body)
    const { status, said } = open()
    expect(status).toBe(0)
    for (const port of PORTS.split(' ')) expect(said).toContain(`${told} did not open ${port}`)
  })
})

test('a node that is given up is retired by its own program, before its files go', () => {
  const state = join(dir, 'state')
  mkdirSync(state)
  writeFileSync(join(state, 'config.json'), '{}')
  writeFileSync(join(dir, 'lib/node'), 'former-panel nl1\n')
  standIn('systemctl')
  standIn(
    'agent',
    `[ ! -e '${state}/config.json' ] || echo 'with its files' >>'${dir}/calls'`,
    'lib',
  )
  const values = { OWNER: 'panel', CODE: 'de1', FRESH: 'yes' }
  const machine = { 'DIR=/var/lib/subpanel-node': `DIR='${state}'` }
  expect(run('check_owner', values, { machine })).toMatchObject({ status: 1 })
  expect(calls()).toEqual([])
  expect(run('REPLACE=1; check_owner', values, { machine }).status).toBe(0)
  expect(calls().slice(-2)).toEqual(['agent retire former-panel', 'with its files'])
  expect(existsSync(join(state, 'config.json'))).toBe(false)
})

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
  /** Gives the file of the answer to `-o`. */
  const download = (text: string) =>
    standIn(
      'curl',
      `while [ "$1" != -o ]; do shift; done; cat >"$2" <<'END'\n${text.trimEnd()}\nEND`,
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
    const [url] = calls().filter((call) => call.startsWith('curl'))
    expect(url).toMatch(/ https:\/\/panel\.test\/install\/t\/core\/xray\?arch=arm64$/)
    expect(readFileSync(join(dir, 'lib/xray'), 'utf8')).toBe(CORE)
    // No other may take its place.
    expect(readFileSync(join(dir, 'lib/cores.sha256'), 'utf8')).toBe(`${sha(CORE)}  xray\n`)
  })

  test('a core of another sum is not put in place', () => {
    standIn('uname', 'echo aarch64')
    download('#!/bin/sh\necho other\n')
    expect(run(install, values).reason).toBe('xray did not arrive as the panel has it')
    expect(existsSync(join(dir, 'lib/xray'))).toBe(false)
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
  const conf = () => join(dir, 'etc/subpanel/node.conf')
  const state = () => join(dir, 'state')
  /** Writes them for a node with Hysteria, on a server that has these files. */
  function write(files: Record<string, string>, parameters = 'hysteria 2\nport 443\n') {
    for (const folder of ['state', 'etc', 'etc/subpanel']) {
      mkdirSync(join(dir, folder), { recursive: true })
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
      `XRAY_BIN=${dir}/lib/xray`,
      'API_SOCK=/run/subpanel-xray/api.sock',
      'SUPERVISOR=systemd',
      'CORE_USER=subpanel-xray',
      'CONFIG_GROUP=subpanel-node',
      'NODE=far',
      `HYSTERIA_BIN=${dir}/lib/hysteria`,
      'HYSTERIA_SECRET=made-anew-by-openssl',
      '',
    ])
    expect(calls()).toContain(`install -d -m 755 -o root -g root ${dir}/etc/subpanel`)
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
  rmSync(join(dir, 'bin/sudo'))
  for (const tool of ['sudo', 'env']) symlinkSync(pathOf('true'), join(dir, 'bin', tool))
  standIn('setpriv', `echo '{"ok":true,"program":2,"tested":false}'`)
  expect(run('check_access')).toMatchObject(warned)
  standIn('setpriv', `echo '{"ok":true,"program":2}'`)
  expect(run('check_access').said).toBe('')
})
