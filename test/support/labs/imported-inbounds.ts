/** Inbounds as other panels have them, one of each kind, for the node program, and what a client app dials them with. */
import { X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Node } from '#db/schema/index.ts'
import type { Target } from './lab.ts'
import type { NodeServer } from './node-lab.ts'

export const [A, B, C] = ['a', 'b', 'c'].map(
  (x) => `${x.repeat(8)}-0000-4000-8000-000000000000`,
) as [string, string, string]
/** What C logs in with. */
export const OTHER_ID = 'dddddddd-0000-4000-8000-000000000000'
/** Keys of Shadowsocks 2022: the server's, and a client's. */
export const KEY_16 = Buffer.from('sixteen bytes !!').toString('base64')
export const USER_KEY_16 = Buffer.from('another sixteen!').toString('base64')

/** All hold the group `g1`; `vmess` holds `g2` too. */
export function importedParameters(server: NodeServer, row: Node, target: Target): string {
  const base64 = (name: string) => readFileSync(join(server.dir, 'tls', name)).toString('base64')
  const inline = `certificate ${base64('node.crt')} ${base64('node.key')}`
  const reality = `security reality
target ${target.address}
server-name ${target.serverName}
private-key ${row.privateKey}
short-id ab`
  return `xray 2
inbound vmess
protocol vmess
port 1001
group g1
group g2
network ws
path /%D0%BF%20x
host a.example
security tls
server-name ${target.serverName}
${inline}
alpn http/1.1
sniffing off
inbound trojan-grpc
protocol trojan
port 1002
group g1
network grpc
service-name the/service
${reality}
inbound ss
protocol shadowsocks
port 1003
group g1
method chacha20-ietf-poly1305
network raw
security none
inbound ss2022
protocol shadowsocks
port 1004
group g1
method 2022-blake3-aes-128-gcm
password ${KEY_16}
network raw
security none
inbound ss2022-none
protocol shadowsocks
port 1005
group g1
method 2022-blake3-aes-256-gcm
password ${Buffer.alloc(32, 7).toString('base64')}
network raw
security none
inbound ss2022-all
protocol shadowsocks
port 1006
group g1
method 2022-blake3-chacha20-poly1305
password ${Buffer.alloc(32, 8).toString('base64')}
network raw
security none
inbound upgrade
protocol vless
port 1007
group g1
network httpupgrade
path /u
security tls
${inline}
min-version 1.2
inbound names
protocol vless
port 1008
group g1
flow xtls-rprx-vision
network raw
security reality
target ${target.address}
server-name ${target.serverName}
server-name second.example
private-key ${row.privateKey}
short-id
short-id ab
short-id 0123456789abcdef
max-time-diff 60000
fallback names-xhttp
inbound names-xhttp
protocol vless
socket names
group g1
network xhttp
path /x
mode auto
security none
inbound trojan
protocol trojan
listen 45.45.46.1
port 1009
group g1
network raw
security tls
alpn http/1.1
min-version 1.3
certificate node
fallback behind alpn=http/1.1 path=/b sni=x.example
fallback port=8080
inbound behind
protocol vless
socket behind
group g1
network ws
security none
inbound header
protocol vmess
port 1010
group g1
network raw
path /h
host h.example
header http
security none
${['packet-up', 'stream-up', 'stream-one']
  .map(
    (mode, i) => `inbound xhttp-${mode}
protocol vless
port ${1011 + i}
group g1
network xhttp
path /m
mode ${mode}
security tls
certificate node
alpn h2`,
  )
  .join('\n')}
inbound vless-grpc
protocol vless
port 1014
group g1
network grpc
service-name g
${reality}
`
}

/** What a client app dials the inbounds of `importedParameters` with. */
export function importedOutbounds(
  server: NodeServer,
  row: Node,
  target: Target,
): Record<string, object> {
  const certificate = new X509Certificate(server.certificate)
  const pin = certificate.fingerprint256.replaceAll(':', '').toLowerCase()
  const at = (port: number) => ({ address: server.address, port })
  const tls = { serverName: target.serverName, pinnedPeerCertSha256: pin, fingerprint: 'chrome' }
  const reality = {
    serverName: target.serverName,
    publicKey: row.publicKey,
    shortId: 'ab',
    fingerprint: 'chrome',
  }
  const vless = (port: number, id: string, flow = '') => ({
    protocol: 'vless',
    settings: { ...at(port), id, encryption: 'none', flow },
  })
  const vmess = (port: number) => ({ protocol: 'vmess', settings: { ...at(port), id: A } })
  const trojan = (port: number) => ({
    protocol: 'trojan',
    settings: { ...at(port), password: 'p "é"<&>' },
  })
  const shadowsocks = (port: number, method: string, password: string) => ({
    protocol: 'shadowsocks',
    settings: { ...at(port), method, password },
  })
  const behindTls = (network: string, more: object) => ({
    streamSettings: { network, security: 'tls', tlsSettings: tls, ...more },
  })
  const behindReality = (network: string, more: object = {}) => ({
    streamSettings: { network, security: 'reality', realitySettings: reality, ...more },
  })
  const request = { path: ['/h'], headers: { Host: ['h.example'] } }
  return {
    'VMess, WS, TLS': {
      ...vmess(1001),
      ...behindTls('ws', { wsSettings: { path: '/п x', host: 'a.example' } }),
    },
    'Trojan, gRPC, REALITY': {
      ...trojan(1002),
      ...behindReality('grpc', { grpcSettings: { serviceName: 'the/service' } }),
    },
    Shadowsocks: shadowsocks(1003, 'chacha20-ietf-poly1305', USER_KEY_16),
    'Shadowsocks 2022': shadowsocks(1004, '2022-blake3-aes-128-gcm', `${KEY_16}:${USER_KEY_16}`),
    'VLESS, HTTPUpgrade, TLS': {
      ...vless(1007, A),
      ...behindTls('httpupgrade', { httpupgradeSettings: { path: '/u' } }),
    },
    'VLESS, REALITY, vision': { ...vless(1008, A, 'xtls-rprx-vision'), ...behindReality('raw') },
    'VLESS, REALITY, a flow and an id of their own': {
      ...vless(1008, OTHER_ID),
      ...behindReality('raw'),
    },
    'VLESS, XHTTP behind REALITY': {
      ...vless(1008, A),
      ...behindReality('xhttp', { xhttpSettings: { path: '/x' } }),
    },
    'Trojan, TLS': { ...trojan(1009), ...behindTls('raw', {}) },
    'VMess, an HTTP header': {
      ...vmess(1010),
      streamSettings: { network: 'raw', rawSettings: { header: { type: 'http', request } } },
    },
    'VLESS, XHTTP, TLS': {
      ...vless(1012, A),
      ...behindTls('xhttp', { xhttpSettings: { path: '/m', mode: 'stream-up' } }),
    },
    'VLESS, gRPC, REALITY': {
      ...vless(1014, A),
      ...behindReality('grpc', { grpcSettings: { serviceName: 'g' } }),
    },
  }
}
