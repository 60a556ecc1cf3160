/** What the install script does on systems that no test has: whether it takes them, and what it leaves open. */
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { installScript, pathOf } from '#test/support/drivers/install-script.ts'

const { at, standIn, calls, run } = installScript()

describe('the machine', () => {
  /** The check on a machine that is `id` of `version`. */
  function check(id: string, version: string) {
    writeFileSync(at('os-release'), `NAME="x"\nID=${id}\nVERSION_ID="${version}"\n`)
    standIn('uname', 'echo x86_64')
    const machine = {
      '((EUID == 0))': '((0 == 0))',
      '/run/systemd/system': at(),
      '/etc/os-release': `${at()}/os-release`,
      'UNITS=/etc/systemd/system': `UNITS='${at()}/units'`,
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

describe('packages for a range of ports', () => {
  const HYSTERIA_PARAMS = (text: string) => ({
    HYSTERIA_PARAMS: Buffer.from(text).toString('base64'),
  })
  const HOPS = HYSTERIA_PARAMS('hysteria 2\nport 443\nhop 20000-30000\n')
  /** What is installed on a machine that has all else, and these. */
  function installed(tools: string[], values: Record<string, string>) {
    const others = ['curl', 'openssl', 'sudo', 'sshd', 'ss', 'awk', 'setpriv', 'apt-get']
    for (const name of [...others, ...tools]) standIn(name)
    writeFileSync(at('certificates.crt'), '')
    const machine = { '/etc/ssl/certs/ca-certificates.crt': at('certificates.crt') }
    expect(run('install_packages', values, { machine }).status).toBe(0)
    return calls().filter((call) => call.startsWith('apt-get install'))
  }

  test('have nftables where neither tool is there, and nothing without a range', () => {
    expect(installed([], HYSTERIA_PARAMS('hysteria 2\nport 443\n'))).toEqual([])
    expect(installed([], HOPS)).toEqual(['apt-get install -yq --no-install-recommends nftables'])
  })

  test.each(['nft', 'iptables'])('have nothing where %s is there', (tool) => {
    expect(installed([tool], HOPS)).toEqual([])
  })

  test.each([
    [true, ''],
    [false, 'WARNING: the UDP ports 20000-30000 are not redirected to Hysteria'],
  ])('redirected %s: said %j', (hop, said) => {
    standIn('agent', `echo '{"ok":true,"restarted":false,"live":true,"hop":${hop}}'`, 'lib')
    for (const tool of ['cut', 'wc']) standIn(tool, 'echo 1')
    const answer = run('configure hysteria "$HYSTERIA_PARAMS" hysteria', HOPS)
    expect(answer.status).toBe(0)
    expect(answer.said).toContain(said)
    if (hop) expect(answer.said).toBe('')
  })
})

test('a node that is given up is retired by its own program, before its files go', () => {
  const state = at('state')
  mkdirSync(state)
  writeFileSync(join(state, 'config.json'), '{}')
  writeFileSync(at('lib/node'), 'former-panel nl1\n')
  standIn('systemctl')
  standIn(
    'agent',
    `[ ! -e '${state}/config.json' ] || echo 'with its files' >>'${at()}/calls'`,
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
