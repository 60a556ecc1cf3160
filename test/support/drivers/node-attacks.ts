/**
 * What somebody who holds the management key might send to the node program, to have a file written or a command run on its
 * server. Each would leave a file in `outside` if it worked.
 */
import { createHash } from 'node:crypto'

export interface Attack {
  name: string
  /** What sshd hands over as the forced command's SSH_ORIGINAL_COMMAND. */
  words: string
  input: string | Buffer
}

export const CLIENT = '11111111-1111-4111-8111-111111111111'
const KEY = 'A'.repeat(43)
const base64 = (text: string) => Buffer.from(text).toString('base64')

/** Parameters that are taken, but for the parts that an attack gives instead. */
export function xrayText({
  first = 'xray 2',
  inbound = 'inbound a',
  head = 'protocol vless\nport 443\ngroup n1',
  transport = 'network raw\nsecurity reality',
  target = 'target 45.45.45.46:443',
  identity = `server-name target.test\nprivate-key ${KEY}\nshort-id ab`,
  rest = '',
} = {}): string {
  const parts = [first, inbound, head, transport, target, identity, rest]
  return `${parts.filter(Boolean).join('\n')}\n`
}

const tls = (certificate: string, rest = '') =>
  xrayText({
    transport: 'network raw\nsecurity tls',
    target: certificate,
    identity: rest,
  })

/** A text with the header that goes with it. */
export function withHeader(text: string | Buffer, owner: string, header: object = {}): Buffer {
  const body = Buffer.from(text)
  const lines = body.reduce((count, byte) => count + (byte === 10 ? 1 : 0), 0)
  const config = createHash('sha256').update(body).digest('hex')
  const fields = { owner, config, lines, ...header }
  return Buffer.concat([Buffer.from(`${JSON.stringify(fields)}\n`), body])
}

/** Xray's whole configuration, as program 1 took it. */
const oldConfig = (more: object, inbound: object = {}) => {
  const first = { tag: 'a', port: 443, protocol: 'vless', ...inbound }
  const settings = { decryption: 'none', clients: [] }
  const parts = { inbounds: [{ settings, ...first }], outbounds: [{ protocol: 'freedom' }] }
  return `${JSON.stringify({ log: { access: 'none' }, ...parts, ...more }, null, 1)}\n`
}

/** Parameters of Xray and what else `configure` might be given. `dir`: the state folder. */
function configurations(dir: string, outside: string): Record<string, string | Buffer> {
  const conf = `XRAY_BIN=/bin/true\nCORE_RESTART=touch ${outside}/restart; exit 1\n`
  const certificate = '-----BEGIN CERTIFICATE-----\nTUlJQg==\n-----END CERTIFICATE-----\n'
  const key = '-----BEGIN PRIVATE KEY-----\nTUlJQg==\n-----END PRIVATE KEY-----\n'
  return {
    'a log of errors in a file': oldConfig({
      log: { loglevel: 'debug', error: `${outside}/error.log` },
    }),
    'a log of access in a file': oldConfig({ log: { access: `${outside}/access.log` } }),
    'settings written by way of the log': oldConfig(
      { log: { loglevel: 'debug', error: `${dir}/node.conf` } },
      { tag: `x\n${conf}` },
    ),
    'a log of TLS keys': oldConfig(
      {},
      {
        streamSettings: { security: 'tls', tlsSettings: { masterKeyLog: `${outside}/keys.log` } },
      },
    ),
    'a socket of the API elsewhere': oldConfig({
      api: { tag: 'api', listen: `${outside}/api.sock,0777`, services: ['HandlerService'] },
    }),
    'the folder by its placeholder': oldConfig({ log: { error: '@dir@/../outside/error.log' } }),
    'an inbound on a file': oldConfig({}, { port: undefined, listen: `${outside}/in.sock` }),
    'a key for a log': xrayText({ rest: `log ${outside}/error.log` }),
    'a key for a log of TLS keys': tls('certificate node', `masterKeyLog ${outside}/keys.log`),
    'a key for the API': xrayText({ rest: `api ${outside}/api.sock` }),
    'JSON behind the parameters': `${xrayText()}${oldConfig({ log: { error: `${outside}/e` } })}`,
    'a number of the grammar that is none': xrayText({ first: 'xray 1' }),
    "Hysteria's grammar": xrayText({ first: 'hysteria 2' }),
    'a tag with a quote': xrayText({ inbound: `inbound a","log":{"error":"${outside}/e` }),
    'a tag that is a path': xrayText({ inbound: `inbound ../../${outside}/e` }),
    'a tag with an encoded line break': xrayText({ inbound: `inbound a%0ACORE_RESTART=id` }),
    'a tag with a carriage return': xrayText({ inbound: `inbound a\rCORE_RESTART=id` }),
    'a tag with a NUL': xrayText({ inbound: `inbound a\0b` }),
    'a tag of 1 MB': xrayText({ inbound: `inbound ${'a'.repeat(1_000_000)}` }),
    'a tag twice': `${xrayText()}${xrayText({ first: '', head: 'protocol vless\nport 444\ngroup n1' })}`,
    'a tag that is a formatting word': xrayText({ inbound: 'inbound %s%n%n%n' }),
    'a port twice': `${xrayText()}${xrayText({ first: '', inbound: 'inbound b' })}`,
    'a port with a command': xrayText({
      head: `protocol vless\nport 443;touch${outside}/port\ngroup n1`,
    }),
    'the port of the API of Hysteria': xrayText({ head: 'protocol vless\nport 9999\ngroup n1' }),
    'a port in a tab': xrayText({ head: 'protocol vless\nport\t443\ngroup n1' }),
    'a listening path': xrayText({
      head: `protocol vless\nlisten ${outside}/in.sock\nport 443\ngroup n1`,
    }),
    'a listening name': xrayText({ head: 'protocol vless\nlisten @api\nport 443\ngroup n1' }),
    'a socket that is a path': xrayText({
      head: `protocol vless\nsocket ${outside}/in.sock\ngroup n1`,
    }),
    'a socket that climbs': xrayText({ head: `protocol vless\nsocket ../../in\ngroup n1` }),
    'a group with a command': xrayText({
      head: `protocol vless\nport 443\ngroup $(touch${outside}/group)`,
    }),
    'a group in backticks': xrayText({
      head: 'protocol vless\nport 443\ngroup `id`',
    }),
    'a protocol that opens doors': xrayText({ head: 'protocol dokodemo-door\nport 443\ngroup n1' }),
    'a flow of its own': xrayText({ head: 'protocol vless\nport 443\ngroup n1\nflow "x"' }),
    'decryption with JSON': xrayText({
      head: 'protocol vless\nport 443\ngroup n1\ndecryption none","x":"',
    }),
    'a method with JSON': xrayText({
      head: 'protocol shadowsocks\nport 443\ngroup n1\nmethod aes-128-gcm","x":"',
    }),
    'a key of the server with JSON': xrayText({
      head: `protocol shadowsocks\nport 443\ngroup n1\nmethod 2022-blake3-aes-128-gcm\npassword "},${'A'.repeat(18)}==`,
    }),
    'a network that is none': xrayText({ transport: 'network domainsocket\nsecurity reality' }),
    'a path that climbs': xrayText({
      transport: `network ws\npath /../../../../${outside}/x\nsecurity none`,
      target: '',
      identity: '',
    }),
    'a path that ends the JSON': xrayText({
      transport: `network ws\npath /%22}},%22log%22:{%22error%22:%22${outside}/e%22},%22a%22:{%22b%22:{%22c%22:%22\nsecurity none`,
      target: '',
      identity: '',
    }),
    'a path with an encoded line break': xrayText({
      transport: 'network ws\npath /a%0Ab\nsecurity none',
      target: '',
      identity: '',
    }),
    'a path with an encoded NUL': xrayText({
      transport: 'network ws\npath /a%00b\nsecurity none',
      target: '',
      identity: '',
    }),
    'a path that is no UTF-8': xrayText({
      transport: 'network ws\npath /%C0%AF%C0%AE\nsecurity none',
      target: '',
      identity: '',
    }),
    'a path with a control character of two bytes': xrayText({
      transport: 'network ws\npath /%C2%85\nsecurity none',
      target: '',
      identity: '',
    }),
    'a path with a half of a pair': xrayText({
      transport: 'network ws\npath /%ED%A0%80\nsecurity none',
      target: '',
      identity: '',
    }),
    'a path in another spelling': xrayText({
      transport: 'network ws\npath /%61%2f\nsecurity none',
      target: '',
      identity: '',
    }),
    'a host with a header': xrayText({
      transport: 'network ws\nhost a%0D%0AX-A:%20b\nsecurity none',
      target: '',
      identity: '',
    }),
    'a service with JSON': xrayText({
      transport: 'network grpc\nservice-name a%22,%22x%22:%22\nsecurity reality',
    }),
    'a target that is a socket': xrayText({ target: `target ${dir}/api.sock` }),
    'a target that is an abstract socket': xrayText({ target: 'target @subpanel.a' }),
    'a target that is the API of Hysteria': xrayText({ target: 'target 127.0.0.1:9999' }),
    'a target with JSON': xrayText({ target: 'target a","x":":443' }),
    'a name with JSON': xrayText({
      identity: `server-name a","x":"\nprivate-key ${KEY}\nshort-id ab`,
    }),
    'a name in other letters': xrayText({
      identity: `server-name tаrget.test\nprivate-key ${KEY}\nshort-id ab`,
    }),
    'a private key that is a command': xrayText({
      identity: `server-name a\nprivate-key $(id)${KEY}\nshort-id ab`,
    }),
    'a fallback to a file': xrayText({ rest: `fallback ${outside}/x.sock` }),
    'a fallback to an abstract socket': xrayText({ rest: 'fallback @/tmp/x' }),
    'a fallback to the API of Hysteria': xrayText({ rest: 'fallback port=9999' }),
    'a fallback to nobody': xrayText({ rest: 'fallback b' }),
    'a fallback to itself': xrayText({ rest: 'fallback a' }),
    'a fallback with JSON': xrayText({ rest: 'fallback port=80 path=/%22} sni=a","x":"' }),
    'sniffing into a file': xrayText({ rest: `sniffing ${outside}/sniff` }),
    'a key out of place': xrayText({ rest: 'network ws' }),
    'a key twice': xrayText({ target: 'target a.test:443\ntarget b.test:443' }),
    'a key with two values': xrayText({ target: 'target a.test:443 b.test:443' }),
    'a certificate by its path': tls('certificate /etc/shadow /etc/shadow'),
    'a certificate of another folder': tls('certificate node/../../../etc/shadow'),
    'the folder by its placeholder, in a certificate': tls('certificate @dir@/a @dir@/b'),
    'a certificate that is a script': tls(
      `certificate ${base64(`#!/bin/sh\ntouch ${outside}/pem\n`)} ${base64(key)}`,
    ),
    'a certificate with a line too many': tls(
      `certificate ${base64(`${certificate}"],"x":["\n`)} ${base64(key)}`,
    ),
    'a certificate with NULs': tls(`certificate ${base64(`\0\0\0${certificate}`)} ${base64(key)}`),
    'a certificate whose key is none': tls(
      `certificate ${base64(certificate)} ${base64(certificate)}`,
    ),
    'a certificate that holds nothing': tls(`certificate ${base64(certificate)} ${base64(key)}`),
    'base64 that is none': tls('certificate ====A=== ===='),
    'a certificate of 16 kB of one letter': tls(
      `certificate ${'A'.repeat(8000)} ${'A'.repeat(8000)}`,
    ),
    'a thousand certificates': tls(
      Array(1000)
        .fill(`certificate ${base64(certificate)} ${base64(key)}`)
        .join('\n'),
    ),
    'ten thousand inbounds': Array.from({ length: 10_000 }, (_, i) =>
      xrayText({
        first: i === 0 ? 'xray 2' : '',
        inbound: `inbound a${i}`,
        head: `protocol vless\nsocket s${i}\ngroup n1`,
      }),
    ).join(''),
    nothing: '',
    'bytes of chance': Buffer.from(Array.from({ length: 3000 }, (_, i) => (i * 7919) % 256)),
  }
}

function hysteriaTexts(outside: string): Record<string, string> {
  const yaml = (more: string) => `listen: :443\ntls: {cert: a, key: b}\n${more}\n`
  const hook = `${outside}/../hook.sh`
  return {
    'a command that lets in': yaml(`auth: {type: command, command: "${hook}"}`),
    'a command behind an anchor': yaml(`x: &a {type: command, command: "${hook}"}\nauth: *a`),
    'a folder of certificates': yaml(`acme: {domains: [a.test], dir: ${outside}/acme}`),
    'files to be seen': yaml('masquerade: {type: file, file: {dir: /etc}}'),
    'a log': yaml(`speedTest: true\nlog: ${outside}/log`),
    'YAML behind the parameters': `hysteria 2\nport 443\nauth: {type: command, command: ${hook}}\n`,
    'YAML in the password': `hysteria 2\nport 443\nobfs a"}}\n`,
    'YAML in the password, encoded': `hysteria 2\nport 443\nobfs a%22}}%0Aauth:%20{type:%20command}\n`,
    'an anchor in the password': `hysteria 2\nport 443\nobfs *anchor\n`,
    'a password that Hysteria would not start with': 'hysteria 2\nport 443\nobfs %C3%A9a\n',
    'a comment in the password': `hysteria 2\nport 443\nobfs %23%22}}%23\n`,
    'a line that YAML ends at': `hysteria 2\nport 443\nobfs a%C2%85b\n`,
    'a port with YAML': `hysteria 2\nport 443"\\nauth:\n`,
    'a port twice': 'hysteria 2\nport 443\nport 444\n',
    'ports with a command': `hysteria 2\nport 443\nhop 1000-2000;touch\n`,
    'ports with a rule': `hysteria 2\nport 443\nhop 1000-2000}\n`,
    'ports the wrong way round': 'hysteria 2\nport 443\nhop 2000-1000\n',
    'ports beyond all': 'hysteria 2\nport 443\nhop 1-99999\n',
    "Xray's grammar": 'xray 2\n',
  }
}

/** Operations of `apply`. */
function operations(outside: string): Record<string, string | Buffer> {
  const add = (...values: string[]) => `["+","${CLIENT}",${values.map((v) => `"${v}"`).join(',')}]`
  return {
    'a UUID that is a path': `["+","../../../../${outside}/x","n1"]`,
    'a UUID with a command': `["+","$(touch ${outside}/uuid)","n1"]`,
    'a group that climbs': add(`../../${outside}/x`),
    'a group with JSON': add('n1\\"},{\\"'),
    'a group with an escape': add('n1\\u000aCORE_RESTART=id'),
    'a third value as program 1 had it': add('n1', 'x'.repeat(43)),
    'a password with a command': add('n1', `auth=$(touch ${outside}/auth)`),
    'a password with a blank': add('n1', 'auth=a b'),
    'a password of 1 MB': add('n1', `auth=${'a'.repeat(1_000_000)}`),
    'a flow with JSON': add('n1', 'flow=x","y":"'),
    'a secret that ends the JSON': add('n1', 'secret.trojan=%22}]}},%7B'),
    'a secret with a line break': add('n1', 'secret.trojan=a%0Ab'),
    'a secret that is no UTF-8': add('n1', 'secret.trojan=%FF%FE'),
    'a secret of no protocol': add('n1', 'secret./etc/passwd=a'),
    'a secret that is no UUID': add('n1', 'secret.vless=@/etc/passwd'),
    'a word within a word': add('n1', 'auth flow=x'),
    'values out of order': add('n1', 'flow=none', 'auth=abc'),
    'a value twice': add('n1', 'auth=abc', 'auth=abd'),
    'a secret of 20 kB': add('n1', `secret.trojan=${'a'.repeat(20_000)}`),
    'a NUL': Buffer.from(`["+","${CLIENT}","n\x00001"]`),
    'no JSON': '; id',
  }
}

const HEADERS: Record<string, string> = {
  'a header with a command': '{"owner":"$(id)","config":"","lines":0}\n',
  'a header with a path': '{"owner":"../../x","config":"","lines":0}\n',
  'a header with an extra key': `{"owner":"p","config":"${'a'.repeat(64)}","log":"/x","lines":0}\n`,
  'a header of a billion lines': `{"owner":"p","config":"${'a'.repeat(64)}","lines":1000000000}\n`,
  'a header of lines below none': `{"owner":"p","config":"${'a'.repeat(64)}","lines":-1}\n`,
  'a header with arithmetic': `{"owner":"p","config":"${'a'.repeat(64)}","lines":a[$(id)]}\n`,
  'a header of 1 MB': `${'{'.repeat(1_000_000)}\n`,
  'no header': '',
}

function commands(outside: string): string[] {
  return [
    `configure; touch ${outside}/words`,
    `status $(touch ${outside}/words)`,
    'status `id`',
    '../../../../bin/sh -c id',
    '/bin/sh',
    'bash -i',
    `SUBPANEL_NODE_CONF=${outside}/x status`,
    `--norc -c id`,
    'run_tests',
    'supervise xray restart',
    'prestart ../../hysteria',
    `retire ../../${outside}`,
    `drop ../../${outside}`,
    'list ../',
    'probe-sni -x',
    'probe-sni a.test:443/../x',
    'scp -t /root/.ssh/authorized_keys',
    'internal-sftp',
    'status\nconfigure',
    '*',
  ]
}

/** All of them, for the node of `owner` whose state is in `dir`. */
export function attacks(owner: string, dir: string, outside: string): Attack[] {
  const header = (lines: number) =>
    JSON.stringify({ owner, from: 'any', to: '', force: false, lines })
  const named = <Input>(
    texts: Record<string, Input>,
    make: (input: Input) => Omit<Attack, 'name'>,
  ): Attack[] => Object.entries(texts).map(([name, input]) => ({ name, ...make(input) }))
  return [
    ...named(configurations(dir, outside), (text) => ({
      words: 'configure',
      input: withHeader(text, owner),
    })),
    ...named(hysteriaTexts(outside), (text) => ({
      words: 'hysteria',
      input: withHeader(text, owner),
    })),
    ...named(operations(outside), (line) => ({
      words: 'apply',
      input: Buffer.concat([Buffer.from(`${header(1)}\n`), Buffer.from(line), Buffer.from('\n')]),
    })),
    ...named(HEADERS, (input) => ({ words: 'configure', input })),
    ...commands(outside).map((words) => ({ name: `the words ${words}`, words, input: '' })),
  ]
}
