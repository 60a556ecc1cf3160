/** Each format of a list with each kind of host for each transport. */
import { describe, expect, test } from 'vitest'
import { listEntries } from '#src/domain/lists/entries.ts'
import { LIST_FORMATS, renderList, usableEntries } from '#src/domain/lists/formats.ts'
import {
  ALL_HOSTS,
  ALL_TRANSPORTS,
  CERT_SHA256,
  hostedSource,
  listSource,
} from '#test/fixtures/lists/samples.ts'
import { parseShareLink } from '#test/fixtures/lists/share-link-parser.ts'

const OPTIONS = { brandName: 'Subpanel', singboxVersion: null, wsAndXhttp: true }
const HOSTED = listEntries([hostedSource()])

const NAMES = [...['Relay', 'Germany', 'Germany · WS', 'CDN', 'Germany · XHTTP', 'CDN 2'], 'Hop']

describe('whole bodies', () => {
  const golden = [
    ['mihomo', null, 'hosts.mihomo.yaml'],
    ['singbox', '1.11.15', 'hosts.sing-box-1.11.golden'],
    ['singbox', '1.12.12', 'hosts.sing-box-1.12.golden'],
    ['xray', null, 'hosts.xray.golden'],
    ['links', null, 'hosts.links.golden'],
  ] as const

  test.each(golden)('%s %s is as in %s', async (format, singboxVersion, file) => {
    const body = renderList(format, HOSTED, { ...OPTIONS, singboxVersion })
    await expect(`${body.trimEnd()}\n`).toMatchFileSnapshot(`../../fixtures/lists/${file}`)
  })

  test('base64 is that of the links', () => {
    expect(atob(renderList('base64', HOSTED, OPTIONS))).toBe(renderList('links', HOSTED, OPTIONS))
  })
})

describe('entries', () => {
  test('lead to each host, and are read back from their links', () => {
    const links = renderList('links', HOSTED, OPTIONS).split('\n')
    expect(HOSTED.map(({ name }) => name)).toEqual(NAMES)
    expect(links.map(parseShareLink)).toMatchObject(
      HOSTED.map(({ name, port }) => ({ name, port })),
    )
  })

  test('without a host say what they always said', () => {
    const plain = listEntries([listSource({ transports: ALL_TRANSPORTS })])
    const bare = { address: 'de1.example.com' }
    const same = ALL_TRANSPORTS.map(({ type }) => ({ ...bare, transport: type }))
    const hosted = listEntries([hostedSource([{ ...bare, transport: 'reality' }, ...same])])
    for (const format of LIST_FORMATS) {
      expect(renderList(format, hosted, OPTIONS)).toBe(renderList(format, plain, OPTIONS))
    }
  })

  test('of a node of which the certificate is not known are those behind a public one', () => {
    const transports = ALL_TRANSPORTS.map(({ cert, ...rest }) => rest)
    const names = listEntries([hostedSource(ALL_HOSTS, { transports })]).map(({ name }) => name)
    expect(names).toEqual(['Relay', 'Germany', 'CDN', 'Germany · XHTTP', 'CDN 2'])
  })

  test('behind a public certificate are pinned nowhere, the others everywhere', () => {
    const pins = (format: (typeof LIST_FORMATS)[number], entries = HOSTED) =>
      renderList(format, entries, OPTIONS).split(CERT_SHA256).length - 1
    // Of the relay of WebSocket and of Hysteria2.
    expect([pins('links'), pins('mihomo'), pins('xray')]).toEqual([2, 2, 2])
    const singbox = JSON.parse(renderList('singbox', HOSTED, OPTIONS)).outbounds
    const pinned = singbox.filter(
      (one: { tls?: { certificate?: string[] } }) => one.tls?.certificate,
    )
    expect(pinned.map(({ tag }: { tag: string }) => tag)).toEqual(['Germany · WS', 'Hop'])
    for (const format of LIST_FORMATS) {
      expect(renderList(format, HOSTED, OPTIONS)).not.toMatch(/allowInsecure|skip-cert-verify/)
    }
  })

  test('are those of the format, also where others are for some formats alone', () => {
    const hosts = LIST_FORMATS.map((format) => ({ label: format, formats: [format] }))
    const source = hostedSource(
      hosts.map((host) => ({ ...host, transport: 'reality' as const, address: 'a.test' })),
      { transports: [] },
    )
    for (const format of LIST_FORMATS) {
      const entries = usableEntries(format, listEntries([source], format), OPTIONS)
      expect(entries.map(({ name }) => name)).toEqual([format])
    }
    expect(listEntries([source])).toHaveLength(LIST_FORMATS.length)
  })

  test('of other hosts of the same node object are written anew', () => {
    const one = hostedSource([{ transport: 'reality', address: 'a.test' }], { transports: [] })
    const other = {
      ...one,
      hosts: hostedSource([{ transport: 'reality', address: 'b.test' }]).hosts,
    }
    const addressOf = (source: typeof one) => listEntries([source])[0]?.address
    expect([one, other, one, { ...one, hosts: undefined }].map(addressOf)).toEqual([
      ...['a.test', 'b.test', 'a.test', 'de1.example.com'],
    ])
  })
})
