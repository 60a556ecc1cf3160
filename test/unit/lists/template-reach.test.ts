/** What is in no template of lists, as it reaches beyond the list. */
import { expect, test } from 'vitest'
import { faultOf, mihomo, singbox } from '#test/fixtures/lists/template-faults.ts'

const beyond = (where: string) => `${where} can't be in a template: it reaches beyond the list`
test.each([
  ['external-controller: 127.0.0.1:9090', 'external-controller'],
  ['external-ui: /', 'external-ui'],
  ['listeners: []', 'listeners'],
  ['tunnels: []', 'tunnels'],
  ['proxy-providers: {}', 'proxy-providers'],
  ['ntp: {write-to-system: true}', 'ntp'],
  ['allow-lan: true', 'allow-lan'],
  ['allow-lan: "false"', 'allow-lan'],
  ['bind-address: "*"', 'bind-address'],
  ['dns: {listen: "0.0.0.0:53"}', 'dns.listen'],
  ['dns: {listen: ":53"}', 'dns.listen'],
  ['dns: {listen: "127.0.0.1.evil.test:53"}', 'dns.listen'],
  ['rule-providers: {x: {type: http, path: ../../.bashrc}}', 'rule-providers.x.path'],
  ['rule-providers: {x: {type: file}}', 'rule-providers.x.type'],
  ['rule-providers: {x: {type: http, Path: config.yaml}}', 'rule-providers.x.Path'],
  ['x-anchors: 1', 'x-anchors'],
  ['__proto__: {a: 1}', '__proto__'],
  ['"a b\\nc": 1', '"a b\\\\nc"'],
  ['"<<": {external-controller: ":9090"}', '"<<"'],
  ['dns: {"<<": {listen: "0.0.0.0:53"}}', 'dns."<<"'],
  ['hosts: {a: [{"<<": {b: c}}]}', 'hosts.a[0]."<<"'],
])('Mihomo: %s', (more, where) => {
  expect(faultOf('mihomo', mihomo(more))).toBe(beyond(where.replace('\\\\', '\\')))
})

const PEM = (kind: string) => `-----BEGIN ${kind}-----\\nAAA/+B==\\n-----END ${kind}-----\\n`
const own = (more: string) =>
  faultOf('mihomo', mihomo('', `proxies: [$proxies, {name: Own, ${more}}]`))
test.each([
  ['type: tailscale, control-url: "https://x.test", state-dir: /x', 'type'],
  ['type: openvpn', 'type'],
  ['type: [ss, tailscale]', 'type'],
  ['type: ssh, private-key: id.txt', 'private-key'],
  ['type: ssh, Private_Key: id.txt', 'Private_Key'],
  ['type: ssh, privateKey: id', 'privateKey'],
  ['type: ssh, private-key: [id.txt]', 'private-key'],
  [`type: ssh, private-key: "-----BEGIN PRIVATE KEY-----/../id.txt"`, 'private-key'],
  [`type: ssh, private-key: "${PEM('PRIVATE KEY')}/../../id.txt"`, 'private-key'],
  ['type: ssh, "pr\u0131vate-key": id.txt', '"pr\u0131vate-key"'],
  ['type: vless, tls: true, certificate: client.pem', 'certificate'],
  [
    'type: vless, xhttp-opts: {download-settings: {certificate: a.pem}}',
    'xhttp-opts.download-settings.certificate',
  ],
  ['type: ss, plugin: v2ray-plugin, plugin-opts: {private-key: a.pem}', 'plugin-opts.private-key'],
  ['type: hysteria, ca: ca.pem', 'ca'],
  ['type: vless, ech-opts: {ech_key: a.pem}', 'ech-opts.ech_key'],
  ['type: direct, STATE_DIR: x', 'STATE_DIR'],
  ['type: vless, ws-opts: {headers: {"<<": {a: b}}}', 'ws-opts.headers."<<"'],
])('a server of Mihomo’s own: %s', (more, where) => {
  expect(own(more)).toBe(beyond(`proxies[1].${where}`))
})

test.each([
  'type: reject',
  'type: vmess, alterId: 0, skip_cert_verify: false, ws-opts: {path: /x, headers: {User Agent: b, certificate: c}}',
  `type: ssh, private-key: "${PEM('OPENSSH PRIVATE KEY')}", host-key: ["ssh-ed25519 AAAA"]`,
  `type: trojan, certificate: "${PEM('CERTIFICATE')}", private-key: "${PEM('EC PRIVATE KEY')}"`,
  `type: wireguard, private-key: "${'k'.repeat(43)}="`,
])('of its own are taken: %s', (more) => expect(own(more)).toBe('none'))

test.each([
  [{ log: { output: '/etc/passwd' } }, 'log.output'],
  [{ route: { dhcp_lease_files: ['/x'] } }, 'route.dhcp_lease_files'],
  [{ inbounds: [{ type: 'tun', netns: 'x' }] }, 'inbounds[0].netns'],
  [
    { dns: { servers: [{ type: 'hosts', predefined: { '<<': '1.1.1.1' } }] } },
    'dns.servers[0].predefined."<<"',
  ],
  [{ services: [] }, 'services'],
  [{ endpoints: [] }, 'endpoints'],
  [{ ntp: { write_to_system: true } }, 'ntp'],
  [{ certificate: {} }, 'certificate'],
  [{ experimental: { v2ray_api: { listen: ':1' } } }, 'experimental.v2ray_api'],
  [
    { experimental: { clash_api: { external_controller: ':9090' } } },
    'experimental.clash_api.external_controller',
  ],
  [
    { experimental: { clash_api: { external_ui_download_url: 'https://x.test' } } },
    'experimental.clash_api.external_ui_download_url',
  ],
  [{ experimental: { cache_file: { path: '/x' } } }, 'experimental.cache_file.path'],
  [{ inbounds: [{ type: 'mixed', listen: '0.0.0.0' }] }, 'inbounds[0].type'],
  [{ inbounds: [{ type: 'mixed' }] }, 'inbounds[0].type'],
  [{ inbounds: [{ type: 'redirect', listen: '127.0.0.1' }] }, 'inbounds[0].type'],
  [{ inbounds: { type: 'redirect' } }, 'inbounds.type'],
  [{ inbounds: [{ Type: 'redirect' }] }, 'inbounds[0].Type'],
  [{ log: { Output: '/x' } }, 'log.Output'],
  [
    { experimental: { clash_api: { External_controller: ':9090' } } },
    'experimental.clash_api.External_controller',
  ],
  [{ inbounds: [{ type: 'tun', 'li\u017ften': '::' }] }, 'inbounds[0]."li\u017ften"'],
  [{ route: { rule_set: [{ type: 'local', path: '/x' }] } }, 'route.rule_set[0].path'],
  [{ dns: { servers: [{ type: 'hosts', path: ['/etc/x'] }] } }, 'dns.servers[0].path'],
])('sing-box: %j', (more, where) => {
  expect(faultOf('singbox', singbox(more))).toBe(beyond(where))
})

test.each([
  [{ type: 'tor', tag: 't' }, 'outbounds[2].type'],
  [{ type: 'bridge', tag: 't' }, 'outbounds[2].type'],
  [{ type: ['tor'], tag: 't' }, 'outbounds[2].type'],
  [{ executable_path: '/bin/sh', type: 'tor', tag: 't' }, 'outbounds[2].executable_path'],
  [{ type: 'direct', tag: 't', netns: 'x' }, 'outbounds[2].netns'],
  [{ type: 'direct', tag: 't', lease_file: 'x' }, 'outbounds[2].lease_file'],
  [{ type: 'http', tag: 't', headers: { '<<': 'x' } }, 'outbounds[2].headers."<<"'],
  [{ type: 'ssh', tag: 't', private_key_path: '/x' }, 'outbounds[2].private_key_path'],
  [
    { type: 'http', tag: 't', tls: { certificate_path: '/x' } },
    'outbounds[2].tls.certificate_path',
  ],
])('sing-box outbound: %j', (outbound, where) => {
  expect(faultOf('singbox', singbox({}, [outbound]))).toBe(beyond(where))
})

test.each(['127.0.0.1:53', '127.1.2.3:1053', 'localhost:53', '[::1]:53', '127.0.0.1'])(
  'an app may listen for itself: %s',
  (listen) => {
    expect(faultOf('mihomo', mihomo(`dns: {listen: "${listen}"}`))).toBe('none')
  },
)

test.each(['include-all', 'include-all-proxies'])('Mihomo has entries by %s too', (key) => {
  const body = `proxies: [$proxies]\nproxy-groups: [{name: P, type: select, ${key}: true}]\n`
  expect(faultOf('mihomo', body)).toBe('none')
})
