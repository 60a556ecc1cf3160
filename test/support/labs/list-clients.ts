/** Client cores that run outside with one entry of a connection list that the panel served, its text unchanged. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ListFormat } from '#src/domain/lists/formats.ts'
import { type ParsedLink, parseShareLink } from '#test/fixtures/lists/share-link-parser.ts'
import { findCore } from '#test/support/cores.ts'
import type { Lab } from './lab.ts'
import type { Client, Service } from './service.ts'

export type ClientCore = 'xray' | 'sing-box' | 'mihomo' | 'hysteria'
export type EntryKind = 'reality' | 'ws' | 'xhttp' | 'grpc' | 'hysteria2'

/** What each core speaks of a node without gRPC (sing-box and mihomo have no XHTTP, the hysteria client only its own protocol). */
export const SPOKEN: [ClientCore, EntryKind][] = [
  ['xray', 'reality'],
  ['xray', 'ws'],
  ['xray', 'xhttp'],
  ['xray', 'hysteria2'],
  ['sing-box', 'reality'],
  ['sing-box', 'ws'],
  ['sing-box', 'hysteria2'],
  ['mihomo', 'reality'],
  ['mihomo', 'ws'],
  ['mihomo', 'hysteria2'],
  ['hysteria', 'hysteria2'],
]

/** By gRPC, which is behind the port of REALITY in place of XHTTP. */
export const SPOKEN_GRPC: typeof SPOKEN = [
  ['xray', 'grpc'],
  ['sing-box', 'grpc'],
  ['mihomo', 'grpc'],
]

const SUFFIX: Record<EntryKind, string> = {
  reality: '',
  ws: ' · WS',
  xhttp: ' · XHTTP',
  grpc: ' · gRPC',
  hysteria2: ' · HY2',
}

let nextPort = 30_000

interface Started {
  file: string
  args: string[]
}

interface Wanted {
  lab: Lab
  port: number
  /** The name of the entry in the list. */
  entry: string
  list: string
}

function write(lab: Lab, name: string, text: string): string {
  const file = join(lab.dir, name)
  writeFileSync(file, text)
  return file
}

/** The format of list that each core reads. */
export const FORMATS: Record<ClientCore, ListFormat> = {
  xray: 'xray',
  'sing-box': 'singbox',
  mihomo: 'mihomo',
  hysteria: 'links',
}

/** A link with the ports where the official client reads them: apps have them in `mport`. */
function hopping(link: string): string {
  const ports = /[?&]mport=([\d-]+)/.exec(link)?.[1]
  return ports === undefined ? link : link.replace(/:\d+\/\?/, `:${ports}/?`)
}

const prepare: Record<ClientCore, (wanted: Wanted) => Started> = {
  xray({ lab, port, entry, list }) {
    const outbounds = JSON.parse(list).outbounds as { tag: string }[]
    const chosen = outbounds.filter(({ tag }) => tag === `proxy ${entry}`)
    const inbounds = [{ listen: '127.0.0.1', port, protocol: 'socks' }]
    const config = { log: { loglevel: 'warning' }, inbounds, outbounds: chosen }
    const file = write(lab, `client-${port}.json`, JSON.stringify(config))
    return { file, args: ['run', '-c', file] }
  },
  'sing-box'({ lab, port, entry, list }) {
    const outbounds = JSON.parse(list).outbounds as { tag: string }[]
    const config = {
      log: { level: 'warn' },
      inbounds: [{ type: 'mixed', listen: '127.0.0.1', listen_port: port }],
      outbounds: outbounds.filter(({ tag }) => tag === entry),
      route: { final: entry },
    }
    const file = write(lab, `client-${port}.json`, JSON.stringify(config))
    return { file, args: ['run', '-c', file, '-D', lab.dir] }
  },
  mihomo({ lab, port, entry, list }) {
    const yaml = list
      .replace(/^(mixed-port|external-controller):.*\n/gm, '')
      .replace('MATCH,Proxy', `MATCH,${entry}`)
    const file = write(lab, `client-${port}.yaml`, `${yaml}\nmixed-port: ${port}\n`)
    return { file, args: ['-d', join(lab.dir, `mihomo-${port}`), '-f', file] }
  },
  hysteria({ lab, port, list }) {
    const link = hopping(list.split('\n').find((line) => line.startsWith('hysteria2://')) ?? '')
    const yaml = `server: "${link}"\ntransport: {type: udp, udp: {hopInterval: 5s}}\nsocks5:\n  listen: 127.0.0.1:${port}\n`
    const file = write(lab, `client-${port}.yaml`, yaml)
    return { file, args: ['client', '--disable-update-check', '-c', file] }
  },
}

/** Fetches the user's list as the core reads it and starts the core with the entry of this node and kind. */
export async function startListClient(
  lab: Lab,
  service: Service,
  token: string,
  label: string,
  spoken: [ClientCore, EntryKind],
): Promise<Client> {
  const list = (await service.request(`/sub/${token}?format=${FORMATS[spoken[0]]}`)).text
  return runListClient(lab, list, label, spoken)
}

/** Starts the core with the entry of this node and kind in a list of its format. */
export function runListClient(
  lab: Lab,
  list: string,
  label: string,
  [core, kind]: [ClientCore, EntryKind],
): Client {
  return { ...runEntry(lab, list, label + SUFFIX[kind], { core }), name: `${core} by ${kind}` }
}

interface CoreOptions {
  core: ClientCore
  /** Of sing-box. */
  version?: string
  env?: Record<string, string>
}

/** Starts the core with the entry of this name in a list of its format. */
export function runEntry(
  lab: Lab,
  list: string,
  entry: string,
  { core, version = '1.13.2', env = {} }: CoreOptions,
): Client {
  if (core !== 'hysteria' && !list.includes(entry)) throw new Error(`no "${entry}" in\n${list}`)
  const port = nextPort++
  const { args } = prepare[core]({ lab, port, entry, list })
  const isSingbox = core === 'sing-box'
  const program = isSingbox ? findCore(core, version) : findCore(core)
  const process = lab.spawn(program, args, { outside: true, env })
  return { name: `${core}${isSingbox ? ` ${version}` : ''} by ${entry}`, socks: port, process }
}

/** What an app built on Xray makes of a link of VLESS. */
function outboundOf({ user, host, port, params }: ParsedLink): object {
  const { type, path, host: asked, mode, sni, fp, alpn, pcs } = params
  const names = { serverName: sni, fingerprint: fp }
  const tls = { ...names, alpn: alpn?.split(','), pinnedPeerCertSha256: pcs }
  const reality = { ...names, publicKey: params.pbk, shortId: params.sid, spiderX: params.spx }
  return {
    protocol: 'vless',
    settings: { address: host, port, id: user, encryption: 'none', flow: params.flow },
    streamSettings: {
      network: type,
      security: params.security,
      ...(params.security === 'tls' ? { tlsSettings: tls } : { realitySettings: reality }),
      ...(type === 'ws' ? { wsSettings: { path, host: asked } } : {}),
      ...(type === 'xhttp' ? { xhttpSettings: { path, host: asked, mode } } : {}),
    },
  }
}

/** Starts Xray with the link of this name, as apps do that read links. */
export function runLink(
  lab: Lab,
  links: string,
  entry: string,
  env: Record<string, string> = {},
): Client {
  const link = links
    .split('\n')
    .map(parseShareLink)
    .find(({ name }) => name === entry)
  if (!link) throw new Error(`no "${entry}" in\n${links}`)
  const outbounds = [{ ...outboundOf(link), tag: `proxy ${entry}` }]
  const list = JSON.stringify({ outbounds })
  return { ...runEntry(lab, list, entry, { core: 'xray', env }), name: `link by ${entry}` }
}
