import { describe, expect, test } from 'vitest'
import { type ListEntry, listEntries } from '#src/domain/lists/entries.ts'
import {
  LIST_FORMATS,
  type ListFormat,
  type ListOptions,
  renderList,
} from '#src/domain/lists/formats.ts'
import {
  ALL_TRANSPORTS,
  CERT_PEM,
  CERT_SHA256,
  listSource,
  NASTY_LABELS,
  nastySources,
} from '#test/fixtures/lists/samples.ts'
import { parseBase64Body, parseShareLink } from '#test/fixtures/lists/share-link-parser.ts'

const OPTIONS: ListOptions = { brandName: 'Subpanel', singboxVersion: null, wsAndXhttp: true }
const ALL_KINDS = listEntries([listSource({ transports: ALL_TRANSPORTS })])
const NASTY = listEntries(nastySources())

type Json = Record<string, unknown>
interface Singbox {
  dns: Json & { servers: Json[] }
  outbounds: (Json & { type: string; tag: string; outbounds?: string[] })[]
  route: Json
}

const singbox = (entries: ListEntry[], singboxVersion: string | null = null): Singbox =>
  JSON.parse(renderList('singbox', entries, { ...OPTIONS, singboxVersion }))
const xray = (entries: ListEntry[]) => JSON.parse(renderList('xray', entries, OPTIONS))
const mihomo = (entries: ListEntry[]) => renderList('mihomo', entries, OPTIONS)

/** The names of the proxies in our YAML, whose strings are all JSON. */
function mihomoNames(text: string): string[] {
  const proxies = text.slice(text.indexOf('\nproxies:'), text.indexOf('\nproxy-groups:'))
  return [...proxies.matchAll(/^ {2}- name: (.*)$/gm)].map((match) => JSON.parse(match[1] ?? ''))
}

describe('whole bodies', () => {
  const golden = [
    ['mihomo', null, 'mihomo.yaml'],
    ['singbox', '1.11.15', 'sing-box-1.11.golden'],
    ['singbox', '1.12.12', 'sing-box-1.12.golden'],
    ['xray', null, 'xray.golden'],
    ['xray-array', null, 'xray-array.golden'],
    ['links', null, 'links.golden'],
  ] as const

  test('are kept of every format but base64, which is that of the links', () => {
    const kept = new Set<string>(golden.map(([format]) => format))
    expect(LIST_FORMATS.filter((format) => !kept.has(format))).toEqual(['base64'])
  })

  test.each(golden)('%s %s is as in %s', async (format, singboxVersion, file) => {
    const body = renderList(format, ALL_KINDS, { ...OPTIONS, singboxVersion })
    await expect(`${body.trimEnd()}\n`).toMatchFileSnapshot(`../../fixtures/lists/${file}`)
  })
})

describe('entries by client', () => {
  const kinds = (format: ListFormat, wsAndXhttp: boolean) => {
    const body = renderList(format, ALL_KINDS, { ...OPTIONS, wsAndXhttp })
    if (format === 'base64') return parseBase64Body(body).map((link) => link.name)
    if (format === 'links') return body.split('\n').map((link) => parseShareLink(link).name)
    if (format === 'mihomo') return mihomoNames(body)
    const { outbounds } = JSON.parse(body)
    return outbounds
      .map(({ tag }: { tag: string }) => tag)
      .filter((tag: string) => tag.includes('Germany'))
  }
  const plain = ['Germany', 'Germany · HY2']
  const withWs = ['Germany', 'Germany · WS', 'Germany · HY2']
  const all = ['Germany', 'Germany · WS', 'Germany · XHTTP', 'Germany · HY2']

  test.each([
    ['base64', false, plain],
    ['base64', true, all],
    ['links', false, plain],
    ['links', true, all],
    ['mihomo', false, withWs],
    ['mihomo', true, withWs],
    ['singbox', false, withWs],
    ['singbox', true, withWs],
    ['xray', true, all.map((name) => `proxy ${name}`)],
  ] as const)('%s with ws and xhttp %s', (format, wsAndXhttp, expected) => {
    expect(kinds(format, wsAndXhttp)).toEqual(expected)
  })

  test('a node that wants a hybrid key share is told to Mihomo and left out of sing-box', () => {
    const entries = listEntries([listSource({ coreVersion: '26.9.8', transports: ALL_TRANSPORTS })])
    expect(mihomo(entries)).toContain('      support-x25519mlkem768: true\n')
    expect(mihomo(ALL_KINDS)).not.toContain('support-x25519mlkem768')
    const tags = singbox(entries).outbounds.map(({ tag }) => tag)
    expect(tags).not.toContain('Germany')
    expect(tags).toContain('Germany · WS')
  })

  test.each([
    ['public key', { publicKey: '' }],
    ['public key', { publicKey: 'not a key' }],
    ['short id', { shortId: 'abc' }],
    ['short id', { shortId: 'xy' }],
    ['short id', { shortId: '0123456789abcdef00' }],
    ['uuid', { sharedUuid: 'x'.repeat(31) }],
  ])('an entry with a broken %s is left out of configs, not of links: %j', (_, broken) => {
    const entries = listEntries([
      listSource({ code: 'b', label: 'Broken', ...broken }),
      listSource(),
    ])
    expect(mihomoNames(mihomo(entries))).toEqual(['Germany'])
    expect(renderList('singbox', entries, OPTIONS)).not.toContain('Broken')
    expect(renderList('xray', entries, OPTIONS)).not.toContain('Broken')
    expect(parseBase64Body(renderList('base64', entries, OPTIONS))).toHaveLength(2)
  })
})

describe('no entries', () => {
  test('links and base64 are empty', () => {
    expect(renderList('links', [], OPTIONS)).toBe('')
    expect(renderList('base64', [], OPTIONS)).toBe('')
  })

  test('Mihomo has an empty proxies list and a group that goes direct', () => {
    expect(mihomo([])).toContain('\nproxies: []\n')
    expect(mihomo([])).toContain('\n    proxies:\n      - "DIRECT"\n')
  })

  test('sing-box has no dns server that detours, nor an urltest', () => {
    for (const version of ['1.11.15', '1.14.1']) {
      const { dns, outbounds } = singbox([], version)
      expect(dns.servers).toHaveLength(1)
      expect(outbounds.map(({ type }) => type)).toEqual(['selector', 'direct'])
    }
  })

  test('Xray goes direct first and has no balancer', () => {
    const config = xray([])
    expect(config.outbounds[0].protocol).toBe('freedom')
    expect(config.routing).not.toHaveProperty('balancers')
    expect(config).not.toHaveProperty('observatory')
  })
})

describe('Mihomo YAML', () => {
  test('every string is quoted: what is not is a number, a truth value or an empty list', () => {
    for (const line of mihomo(NASTY).split('\n')) {
      if (line === '') continue
      expect(line).toMatch(
        /^ *(?:- )?(?:[A-Za-z0-9-]+:(?: (?:"(?:[^"\\]|\\.)*"|\d+|true|false|\[\]))?|"(?:[^"\\]|\\.)*")$/u,
      )
      expect(line).not.toMatch(/[\p{Cc}\u2028\u2029\ufeff\p{Cs}]/u)
    }
  })

  test('nasty labels come back unchanged, in the proxies and in the groups', () => {
    const names = NASTY.filter(({ kind }) => kind !== 'xhttp').map(({ name }) => name)
    expect(mihomoNames(mihomo(NASTY))).toEqual(names)
    for (const name of names) {
      expect(mihomo(NASTY).split(`\n      - ${JSON.stringify(name)}\n`).length).toBeGreaterThan(1)
    }
  })

  test('a short id of digits stays text', () => {
    for (const shortId of ['0123456789012345', '12e45678']) {
      expect(mihomo(listEntries([listSource({ shortId })]))).toContain(`short-id: "${shortId}"\n`)
    }
  })
})

describe('sing-box', () => {
  test.each([
    ['1.10.7', true],
    ['1.11.0', true],
    ['1.11.15', true],
    ['1.12.0-beta.1', false],
    ['1.12.12', false],
    ['1.14.1', false],
    ['1.20.0', false],
    ['2.0.0', false],
    ['', false],
    ['nonsense', false],
    [null, false],
  ])('core %s gets the dns section of 1.11: %s', (version, legacy) => {
    const { dns, route } = singbox(ALL_KINDS, version)
    expect(dns.servers.some((server) => 'address' in server)).toBe(legacy)
    expect(dns.servers.every((server) => 'type' in server)).toBe(!legacy)
    expect('default_domain_resolver' in route).toBe(!legacy)
  })

  test('certificates are pinned by their PEM, and nothing is insecure', () => {
    const text = renderList('singbox', ALL_KINDS, OPTIONS)
    expect(text).not.toContain('insecure')
    const pinned = singbox(ALL_KINDS).outbounds.filter(({ tag }) => /WS|HY2/.test(tag))
    expect(pinned).toHaveLength(2)
    for (const { tls } of pinned) {
      expect((tls as { certificate: string[] }).certificate.join('\n')).toBe(CERT_PEM)
    }
  })

  test('tags are unique and groups name every server', () => {
    const { outbounds } = singbox(NASTY)
    const tags = outbounds.map(({ tag }) => tag)
    expect(new Set(tags).size).toBe(tags.length)
    const servers = outbounds.filter(({ type }) => type === 'vless' || type === 'hysteria2')
    expect(servers).toHaveLength(NASTY_LABELS.length * 3)
    expect(outbounds.find(({ type }) => type === 'urltest')?.outbounds).toEqual(
      servers.map(({ tag }) => tag),
    )
  })
})

describe('Xray', () => {
  test('one server is the default outbound, several are balanced', () => {
    const one = xray(listEntries([listSource()]))
    expect(one.outbounds[0].tag).toBe('proxy Germany')
    expect(one.routing).not.toHaveProperty('balancers')
    const several = xray(ALL_KINDS)
    expect(several.routing.rules.at(-1)).toEqual({ network: 'tcp,udp', balancerTag: 'fastest' })
    expect(several.observatory.subjectSelector).toEqual(several.routing.balancers[0].selector)
  })

  test('the array has the fastest first, then each server alone under its name', () => {
    const array = JSON.parse(renderList('xray-array', ALL_KINDS, OPTIONS))
    const [auto, ...own] = array
    expect(auto).toEqual({ ...xray(ALL_KINDS), remarks: '⚡ Auto' })
    expect(own.map(({ remarks }: Json) => remarks)).toEqual(ALL_KINDS.map(({ name }) => name))
    own.forEach((config: { outbounds: Json[] }, i: number) => {
      expect(config.outbounds[0]).toEqual({ ...auto.outbounds[i], tag: 'proxy' })
      expect(config.outbounds).toHaveLength(3)
      expect(config).not.toHaveProperty('observatory')
    })
  })

  test('the array balances a single server too, and is empty without any', () => {
    const [auto, own] = JSON.parse(renderList('xray-array', listEntries([listSource()]), OPTIONS))
    expect(auto.routing.balancers[0].strategy).toEqual({ type: 'leastPing' })
    expect(own.remarks).toBe('Germany')
    expect(renderList('xray-array', [], OPTIONS)).toBe('[]')
  })

  test('self-signed certificates are pinned by SHA-256', () => {
    expect(renderList('xray', ALL_KINDS, OPTIONS).split(CERT_SHA256)).toHaveLength(3)
    expect(renderList('xray', ALL_KINDS, OPTIONS)).not.toContain('allowInsecure')
  })
})
