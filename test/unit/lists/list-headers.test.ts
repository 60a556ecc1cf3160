import { describe, expect, test } from 'vitest'
import { type OwnHeaders, ownListHeaders, sharedListHeaders } from '#src/domain/lists/headers.ts'
import { fromBase64, fromUtf8 } from '#src/lib/encoding.ts'
import { NASTY_LABELS } from '#test/fixtures/lists/samples.ts'

const INPUT = {
  brandName: 'Subpanel',
  userinfo: { upload: 1, download: 2_000_000_000_000, total: 0, expire: 1_795_000_000 },
  webPageUrl: 'https://site.example/cabinet.html',
  supportUrl: 'https://t.me/support',
}

type Input = OwnHeaders & { brandName: string; supportUrl: string }

const listHeaders = ({ brandName, supportUrl, ...own }: Input): Record<string, string> => ({
  ...sharedListHeaders(brandName, supportUrl),
  ...ownListHeaders(own),
})

const decoded = (value: string | undefined) => {
  expect(value).toMatch(/^base64:[A-Za-z0-9+/]*={0,2}$/)
  return fromUtf8(fromBase64((value ?? '').slice('base64:'.length)))
}

test('the headers are these and no others', () => {
  expect(listHeaders({ ...INPUT, announce: '3 days left' })).toEqual({
    'content-type': 'text/plain; charset=utf-8',
    'cache-control': 'private, no-store',
    'profile-title': 'base64:U3VicGFuZWw=',
    'subscription-userinfo': 'upload=1; download=2000000000000; total=0; expire=1795000000',
    'profile-update-interval': '12',
    'profile-web-page-url': 'https://site.example/cabinet.html',
    'support-url': 'https://t.me/support',
    'content-disposition': `attachment; filename="Subpanel"; filename*=UTF-8''Subpanel`,
    announce: 'base64:MyBkYXlzIGxlZnQ=',
  })
})

test('without an announcement there is no such header', () => {
  expect(listHeaders(INPUT)).not.toHaveProperty('announce')
  expect(listHeaders({ ...INPUT, announce: '' })).not.toHaveProperty('announce')
})

test('userinfo holds four whole numbers, whatever comes in', () => {
  const userinfo = {
    upload: 1.9,
    download: Number.NaN,
    total: -5,
    expire: Number.POSITIVE_INFINITY,
  }
  expect(listHeaders({ ...INPUT, userinfo })['subscription-userinfo']).toBe(
    'upload=1; download=0; total=0; expire=0',
  )
})

describe.each(NASTY_LABELS)('brand %j', (brandName) => {
  const headers = listHeaders({ ...INPUT, brandName, announce: `${brandName}!` })

  test('every value is one line of printable ASCII that Headers takes', () => {
    for (const value of Object.values(headers)) expect(value).toMatch(/^[\x20-\x7e]*$/)
    expect([...new Headers(headers)]).toHaveLength(9)
  })

  test('the file name is quoted once, and again in UTF-8', () => {
    const match = /^attachment; filename="([^"\\%]+)"; filename\*=UTF-8''([\w!#$&+.^`|~%-]+)$/.exec(
      headers['content-disposition'] ?? '',
    )
    expect(match).not.toBeNull()
    expect(decodeURIComponent(match?.[2] ?? '')).not.toMatch(/[\p{Cc}]/u)
  })

  test('the title is one line of at most 25 characters', () => {
    const title = decoded(headers['profile-title'])
    expect([...title].length).toBeLessThanOrEqual(25)
    expect(title).not.toMatch(/\p{Cc}/u)
  })
})

test('a title is cut at 25 characters and an announcement at 200, never inside one', () => {
  const headers = listHeaders({
    ...INPUT,
    brandName: '🚀'.repeat(30),
    announce: `${'я'.repeat(199)}🚀🚀`,
  })
  expect(decoded(headers['profile-title'])).toBe('🚀'.repeat(25))
  expect(decoded(headers.announce)).toBe(`${'я'.repeat(199)}🚀`)
})

test('a Cyrillic brand keeps its name in UTF-8 and gets a plain one beside it', () => {
  expect(listHeaders({ ...INPUT, brandName: "Прокси (d'Or)" })['content-disposition']).toBe(
    `attachment; filename="(d'Or)"; filename*=UTF-8''%D0%9F%D1%80%D0%BE%D0%BA%D1%81%D0%B8%20%28d%27Or%29`,
  )
  expect(listHeaders({ ...INPUT, brandName: 'Прокси' })['content-disposition']).toBe(
    `attachment; filename="subscription"; filename*=UTF-8''%D0%9F%D1%80%D0%BE%D0%BA%D1%81%D0%B8`,
  )
})

test('URLs are encoded; one that is no URL is left out', () => {
  const supportUrl = 'https://сайт.рф/a b\r\nx-evil: 1'
  expect(listHeaders({ ...INPUT, supportUrl })['support-url']).toBe(
    'https://xn--80aswg.xn--p1ai/a%20bx-evil:%201',
  )
  expect(listHeaders({ ...INPUT, supportUrl: 'ask at the desk' })).not.toHaveProperty('support-url')
})
