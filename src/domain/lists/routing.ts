/** Routing presets: private ranges and one country's names and addresses go direct, the rest through the servers. */
import { base64, utf8 } from '#src/lib/encoding.ts'
import type { Country } from '#src/lib/routing-presets.ts'

/** What a list leaves direct beside private ranges. */
export interface Routing {
  country: Country
  /** Whether it blocks advertisements. */
  ads: boolean
  /** Where sing-box gets rule files from; ends without a slash. */
  rulesUrl: string
}

/** The lists of names and addresses that clients know, or load, by these names. */
const GEOSITE: Record<Country, string> = { ru: 'category-ru', ir: 'category-ir', cn: 'cn' }
const GEOSITE_ADS = 'category-ads-all'

/** What clients get that know no lists of names. */
const SUFFIXES: Record<Country, string[]> = {
  ru: ['ru', 'su', 'xn--p1ai', 'xn--d1acj3b', 'xn--80adxhks', 'xn--80aswg', 'moscow', 'tatar'],
  ir: ['ir', 'xn--mgba3a4f16a'],
  cn: ['cn', 'xn--fiqs8s', 'xn--fiqz9s'],
}
const AD_SUFFIXES = ['doubleclick.net', 'googlesyndication.com', 'googleadservices.com']
AD_SUFFIXES.push('adservice.google.com', 'app-measurement.com', 'adcolony.com', 'applovin.com')
AD_SUFFIXES.push('criteo.com', 'inmobi.com', 'taboola.com', 'outbrain.com', 'an.yandex.ru')
AD_SUFFIXES.push('mc.yandex.ru', 'ad.mail.ru', 'unityads.unity3d.com')

export const PRIVATE_CIDRS = ['10.0.0.0/8', '100.64.0.0/10', '127.0.0.0/8', '169.254.0.0/16']
PRIVATE_CIDRS.push('172.16.0.0/12', '192.168.0.0/16', '224.0.0.0/4', '255.255.255.255/32')
PRIVATE_CIDRS.push('::1/128', 'fc00::/7', 'fe80::/10', 'ff00::/8')
export const PRIVATE_DOMAINS = ['localhost', 'local', 'lan', 'home.arpa', 'internal']

/** Names are asked there through the servers: what the network answers may be a lie. */
export const REMOTE_DNS = 'https://1.1.1.1/dns-query'

interface RuleSets {
  /** Names of the country's. */
  sites: string
  /** Its addresses. */
  addresses: string
  /** Names of advertisements, where they are blocked. */
  ads: string | null
}

/** The rule files of a preset, by the names that they have without `.srs`. */
export const ruleSetsOf = ({ country, ads }: Pick<Routing, 'country' | 'ads'>): RuleSets => ({
  sites: `geosite-${GEOSITE[country]}`,
  addresses: `geoip-${country}`,
  ads: ads ? `geosite-${GEOSITE_ADS}` : null,
})

/** The names of the files that sing-box loads for a preset. */
export function ruleFilesOf(routing: Pick<Routing, 'country' | 'ads'>): string[] {
  const { sites, addresses, ads } = ruleSetsOf(routing)
  return [sites, addresses, ...(ads === null ? [] : [ads])].map((name) => `${name}.srs`)
}

/** Rules of a Mihomo profile, which come with data files of its own. */
export const mihomoRules = ({ country, ads }: Routing): string[] => [
  ...(ads ? [`GEOSITE,${GEOSITE_ADS},REJECT`] : []),
  `GEOSITE,${GEOSITE[country]},DIRECT`,
  `GEOIP,${country},DIRECT`,
]

const domains = (suffixes: string[]) => suffixes.map((name) => `domain:${name}`)

/** What Xray does with names, before anything is looked up, and with addresses. Apps bring `geoip.dat`, and not always the same categories of names. */
export const xrayTargets = ({ country, ads }: Routing) => ({
  block: ads ? domains(AD_SUFFIXES) : [],
  names: domains(SUFFIXES[country]),
  addresses: [`geoip:${country}`],
})

/** An id of its own for each, by which v2RayTun puts a newer one in place of an older. */
const V2RAYTUN_IDS: Record<Country, string> = {
  ru: '5b1c0a52-7e0f-4f0c-9a53-1f5f0a6c7201',
  ir: '5b1c0a52-7e0f-4f0c-9a53-1f5f0a6c7202',
  cn: '5b1c0a52-7e0f-4f0c-9a53-1f5f0a6c7203',
}

/** Xray's routing as v2RayTun takes it. What no rule names goes through the server. */
function v2raytunRouting(routing: Routing, name: string): object {
  const { block, names, addresses } = xrayTargets(routing)
  const rule = (title: string, target: object) => ({ type: 'field', __name__: title, ...target })
  return {
    id: V2RAYTUN_IDS[routing.country],
    name,
    domainStrategy: 'IPIfNonMatch',
    domainMatcher: 'hybrid',
    balancers: [],
    rules: [
      ...(block.length > 0 ? [rule('ads', { domain: block, outboundTag: 'block' })] : []),
      rule('private names', { domain: domains(PRIVATE_DOMAINS), outboundTag: 'direct' }),
      rule('private addresses', { ip: PRIVATE_CIDRS, outboundTag: 'direct' }),
      rule('names', { domain: names, outboundTag: 'direct' }),
      rule('addresses', { ip: addresses, outboundTag: 'direct' }),
    ],
  }
}

/** The same as Happ and INCY take it: its truth values are texts, and no key may be absent. */
function happRouting(routing: Routing, name: string): object {
  const { block, names, addresses } = xrayTargets(routing)
  const release = 'https://github.com/Loyalsoldier/v2ray-rules-dat/releases/latest/download'
  return {
    Name: name,
    GlobalProxy: 'true',
    RemoteDNSType: 'DoH',
    RemoteDNSDomain: 'https://cloudflare-dns.com/dns-query',
    RemoteDNSIP: '1.1.1.1',
    DomesticDNSType: 'DoU',
    DomesticDNSDomain: '',
    DomesticDNSIP: '8.8.8.8',
    Geoipurl: `${release}/geoip.dat`,
    Geositeurl: `${release}/geosite.dat`,
    LastUpdated: '',
    DnsHosts: { 'cloudflare-dns.com': '1.1.1.1' },
    DirectSites: [...domains(PRIVATE_DOMAINS), ...names],
    DirectIp: [...PRIVATE_CIDRS, ...addresses],
    ProxySites: [],
    ProxyIp: [],
    BlockSites: block,
    BlockIp: [],
    DomainStrategy: 'IPIfNonMatch',
    FakeDNS: 'false',
  }
}

/** The header by which an app that reads links takes a preset; undefined for apps that read none. */
export function routingHeader(agent: string, routing: Routing, brand: string): string | undefined {
  const name = `${brand} ${routing.country.toUpperCase()}`
  const encoded = (profile: object) => base64(utf8(JSON.stringify(profile)))
  if (agent.startsWith('happ/')) {
    return `happ://routing/onadd/${encoded(happRouting(routing, name))}`
  }
  if (agent.startsWith('incy')) {
    return `incy://routing/onadd/${encoded(happRouting(routing, name))}`
  }
  return agent.startsWith('v2raytun') ? encoded(v2raytunRouting(routing, name)) : undefined
}
