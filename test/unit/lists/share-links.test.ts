import { describe, expect, test } from 'vitest'
import { listEntries, wantsHybridKeyShare } from '#src/domain/lists/entries.ts'
import { renderList } from '#src/domain/lists/formats.ts'
import { linksBody, shareLink } from '#src/domain/lists/share-links.ts'
import { readCertificate } from '#src/domain/nodes/certificates.ts'
import { hysteriaAuth } from '#src/domain/nodes/hysteria-auth.ts'
import {
  ALL_TRANSPORTS,
  CERT_PEM,
  CERT_SHA256,
  listSource,
  NASTY_LABELS,
  nastySources,
  OTHER_UUID,
  PUBLIC_KEY,
  UUID,
} from '#test/fixtures/lists/samples.ts'
import { parseBase64Body, parseShareLink } from '#test/fixtures/lists/share-link-parser.ts'
import { unchecked } from '#test/support/unchecked.ts'

const base64Body = (entries: Parameters<typeof linksBody>[0]) =>
  renderList('base64', entries, { brandName: '', singboxVersion: null, wsAndXhttp: true })

const names = (sources: Parameters<typeof listEntries>[0]) =>
  listEntries(sources).map((entry) => entry.name)

describe('links', () => {
  const EXTRA =
    '%7B%22xmux%22%3A%7B%22maxConnections%22%3A%223%22%2C%22hMaxRequestTimes%22%3A%22600-900%22%2C%22hMaxReusableSecs%22%3A%221800-3000%22%7D%7D'
  const AUTH = 'ANfZQIMEW42r4YxZJqxJTYiP1WFxO6K0WZTvYyfhb1Y'
  const links = listEntries([listSource({ transports: ALL_TRANSPORTS })]).map(shareLink)

  test.each(
    [
      `vless://${UUID}@de1.example.com:443?encryption=none&flow=xtls-rprx-vision&type=tcp&headerType=none&security=reality&sni=target.test&fp=chrome&pbk=${PUBLIC_KEY}&sid=0123456789abcdef&spx=%2F#Germany`,
      `vless://${UUID}@de1.example.com:8443?encryption=none&type=ws&security=tls&sni=target.test&host=target.test&path=%2Fws-path&fp=chrome&alpn=http%2F1.1&pcs=${CERT_SHA256}#Germany%20%C2%B7%20WS`,
      `vless://${UUID}@de1.example.com:443?encryption=none&type=xhttp&path=%2Fxhttp-path&mode=auto&extra=${EXTRA}&security=reality&sni=target.test&fp=chrome&pbk=${PUBLIC_KEY}&sid=0123456789abcdef&spx=%2F#Germany%20%C2%B7%20XHTTP`,
      `hysteria2://${AUTH}@de1.example.com:8444/?sni=target.test&insecure=1&pinSHA256=${CERT_SHA256}&obfs=salamander&obfs-password=obfs%20password#Germany%20%C2%B7%20HY2`,
    ].map((link, i) => [i, link] as const),
  )('link %i is exact', (i, link) => {
    expect(links[i]).toBe(link)
  })

  test('no parameter is empty: a missing flow, sni, short id or obfs leaves its key out', () => {
    const bare = { flow: '', sni: '', shortId: '', hysteriaObfsPassword: null }
    const parsed = listEntries([listSource({ ...bare, transports: ALL_TRANSPORTS })])
      .map(shareLink)
      .map(parseShareLink)
    for (const link of parsed) {
      for (const key of ['flow', 'sni', 'host', 'sid', 'obfs', 'obfs-password']) {
        expect(link.params).not.toHaveProperty(key)
      }
    }
  })

  test.each([
    ['2001:db8::1', '[2001:db8::1]', '2001:db8::1'],
    ['[2001:DB8:0::1]', '[2001:db8::1]', '2001:db8::1'],
    ['пример.рф', 'xn--e1afmkfd.xn--p1ai', 'xn--e1afmkfd.xn--p1ai'],
    [' de1.example.com ', 'de1.example.com', 'de1.example.com'],
    ['203.0.113.7', '203.0.113.7', '203.0.113.7'],
  ])('address %s becomes %s', (address, inLink, host) => {
    const [entry] = listEntries([listSource({ address })])
    if (!entry) throw new Error('no entry')
    expect(entry.address).toBe(host)
    expect(shareLink(entry)).toContain(`@${inLink}:443?`)
  })

  test('an address that is no host cannot change the rest of the link', () => {
    const [entry] = listEntries([listSource({ address: 'a/b?c#d@e f' })])
    expect(entry && shareLink(entry)).toContain('@a%2Fb%3Fc%23d%40e%20f:443?encryption=none&')
  })

  test('links are ASCII, whatever the address, the uuid or the key', () => {
    const odd = { sharedUuid: 'идентификатор', publicKey: 'ключ', shortId: 'я', flow: 'поток' }
    for (const address of ['пример:443', '日本 語', '::ж', '\uD83D', 'fe80::1%eth0']) {
      const entries = listEntries([listSource({ address, ...odd, transports: ALL_TRANSPORTS })])
      expect(linksBody(entries)).toMatch(/^[\x21-\x7e\n]+$/)
      expect(atob(base64Body(entries))).toBe(linksBody(entries))
    }
  })

  test('nasty labels come back as the entry says, on one line each', () => {
    const entries = listEntries(nastySources())
    const parsed = linksBody(entries).split('\n').map(parseShareLink)
    expect(parsed.map(({ name, host }) => [name, host])).toEqual(
      entries.map(({ name, address }) => [name, address]),
    )
    expect(entries).toHaveLength(NASTY_LABELS.length * 4)
  })

  test('the base64 body is the links, whatever its length', () => {
    const sources = Array.from({ length: 3000 }, (_, i) =>
      listSource({ code: `n${i}`, label: `Узел 🚀 ${i}` }),
    )
    const entries = listEntries(sources)
    const body = base64Body(entries)
    expect(body).toMatch(/^[A-Za-z0-9+/]+=*$/)
    expect(parseBase64Body(body).at(-1)?.name).toBe('Узел 🚀 2999')
    expect(atob(body)).toBe(linksBody(entries))
  })

  test('what is kept of a node is the same for all users, their ids and names are not', () => {
    const { node } = listSource({ transports: ALL_TRANSPORTS })
    const linksOf = (uuid: string, planLabel: string) => {
      const own = ['', '2'].map((end) => unchecked(uuid + end))
      return linksBody(
        listEntries(own.map((one) => ({ uuid: one, planLabel: unchecked(planLabel), node }))),
      )
    }
    const first = linksOf(UUID, 'First')
    const second = linksOf(OTHER_UUID, 'Second')
    expect(linksOf(UUID, 'First')).toBe(first)
    const auths = (uuid: string) =>
      ['', '2'].map((end) => hysteriaAuth('node password', uuid + end))
    const [one = '', two = ''] = auths(OTHER_UUID)
    const [own = '', ownTwo = ''] = auths(UUID)
    const renamed = first.replaceAll(UUID, OTHER_UUID).replaceAll('First', 'Second')
    expect(renamed.replace(own, one).replace(ownTwo, two)).toBe(second)
  })

  test('no entries make empty bodies', () => {
    expect(linksBody([])).toBe('')
    expect(base64Body([])).toBe('')
  })
})

describe('entries', () => {
  test('a node that occurs once is named by its label, one that occurs twice with its plan', () => {
    const fr = { code: 'fr1', label: 'France' }
    expect(names([listSource(), listSource(fr), listSource(fr, OTHER_UUID)])).toEqual([
      'Germany',
      'France · 30 days',
      'France · 30 days 2',
    ])
  })

  test('names are unique, also across nodes, transports and the names that clients reserve', () => {
    const sources = [
      ...nastySources(),
      listSource({ code: 'a', label: 'Germany' }),
      listSource({ code: 'b', label: 'Germany', transports: ALL_TRANSPORTS }),
      listSource({ code: 'c', label: 'Germany 2 · WS' }),
    ]
    const all = names(sources)
    expect(new Set(all).size).toBe(all.length)
    for (const name of ['DIRECT', 'direct', 'Proxy', 'Auto', 'GLOBAL', 'REJECT', '']) {
      expect(all).not.toContain(name)
    }
    expect(all).toEqual(expect.arrayContaining(['DIRECT 2', 'Germany 2', 'Germany 2 · WS 2']))
  })

  test('an empty label gives way to the node code', () => {
    expect(names([listSource({ label: ' \n ' })])).toEqual(['de1'])
  })

  test('names hold no control, line break, reordering character or lone surrogate', () => {
    for (const name of names(nastySources())) {
      expect(name).not.toMatch(/[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff]/u)
      expect(name.isWellFormed()).toBe(true)
      expect(name).toBe(name.trim())
    }
  })

  test('a shared uuid replaces the uuid', () => {
    const sharedUuid = OTHER_UUID
    for (const entry of listEntries([listSource({ sharedUuid, transports: ALL_TRANSPORTS })])) {
      if (entry.kind !== 'hysteria2') expect(entry.uuid).toBe(OTHER_UUID)
    }
  })

  test.each([
    ['missing', undefined],
    ['empty', ''],
    ['no PEM', 'certificate'],
    ['cut', CERT_PEM.replace('hE93koYwgAR+lswoyGRinsIo2FRfYta/bWIEYeJ9GQ==\n', '')],
  ])('transports that need a certificate are left out while it is %s', (_, cert) => {
    const transports = ALL_TRANSPORTS.map(({ cert: _cert, ...rest }) =>
      cert === undefined ? rest : { ...rest, cert },
    )
    const kinds = listEntries([listSource({ transports })]).map((entry) => entry.kind)
    expect(kinds).toEqual(['reality', 'xhttp'])
  })

  test('Hysteria2 is left out without the password of the node', () => {
    const source = listSource({ transports: ALL_TRANSPORTS, hysteriaPassword: null })
    expect(listEntries([source]).map((entry) => entry.kind)).not.toContain('hysteria2')
  })

  test('XHTTP is behind the REALITY port, and paths begin with one slash', () => {
    const transports = [
      { type: 'xhttp' as const, port: 1, path: 'x' },
      { type: 'ws' as const, port: 8443, path: '//w', cert: CERT_PEM },
    ]
    expect(listEntries([listSource({ port: 2053, transports })])).toMatchObject([
      { kind: 'reality', port: 2053 },
      { kind: 'xhttp', port: 2053, path: '/x' },
      { kind: 'ws', port: 8443, path: '/w' },
    ])
  })
})

test('a certificate is read from any PEM text, as one clean block with its SHA-256', () => {
  const messy = `subject=x\r\n${CERT_PEM.replaceAll('\n', '\r\n  ')}\r\n${CERT_PEM}`
  expect(readCertificate(messy)).toEqual({ pem: CERT_PEM, sha256: CERT_SHA256 })
})

test('the Hysteria2 password is base64url(HMAC-SHA256(node password, uuid))', async () => {
  const bytes = (text: string) => new TextEncoder().encode(text)
  const hash = { name: 'HMAC', hash: 'SHA-256' }
  const key = await crypto.subtle.importKey('raw', bytes('пароль'), hash, false, ['sign'])
  const mac = Buffer.from(await crypto.subtle.sign('HMAC', key, bytes(UUID)))
  expect(hysteriaAuth('пароль', UUID)).toBe(mac.toString('base64url'))
})

test.each([
  [null, false],
  ['', false],
  ['unknown', false],
  ['26.3.27', false],
  ['26.7.28', false],
  ['26.9.7', false],
  ['26.9.8', true],
  ['v26.9.9', true],
  ['26.10.1', true],
  ['27.1.1', true],
  ['25.12.31', false],
])('core %s wants a hybrid key share: %s', (version, wanted) => {
  expect(wantsHybridKeyShare(version)).toBe(wanted)
})
