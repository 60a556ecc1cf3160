import { describe, expect, test } from 'vitest'
import { renderList } from '#src/domain/lists/formats.ts'
import { type Routing, routingHeader, ruleFilesOf } from '#src/domain/lists/routing.ts'
import { COUNTRIES } from '#src/lib/routing-presets.ts'
import { PRESET_LISTS, renderPreset } from '#test/fixtures/lists/preset-lists.ts'

const RU: Routing = { country: 'ru', ads: true, rulesUrl: 'https://sub.example.com/rules' }

describe('whole bodies', () => {
  test.each(PRESET_LISTS)('$file', async (list) => {
    const body = `${renderPreset(list).trimEnd()}\n`
    await expect(body).toMatchFileSnapshot(`../../fixtures/lists/presets/${list.file}`)
  })

  test.each(PRESET_LISTS.filter(({ routing }) => routing.country === 'ru'))(
    'without entries nothing is routed: $format $singboxVersion',
    ({ format, singboxVersion }) => {
      const options = { brandName: 'Subpanel', singboxVersion, wsAndXhttp: true }
      const plain = renderList(format, [], options)
      expect(renderList(format, [], { ...options, routing: RU })).toBe(plain)
    },
  )

  test('links are the same with a preset', () => {
    const [list] = PRESET_LISTS
    if (!list) throw new Error('no lists')
    const links = renderPreset({ ...list, format: 'links' })
    expect(links).toMatch(/^vless:\/\/[^\n]+$/)
  })
})

test.each(COUNTRIES)(
  'the sing-box list of %s names its rule files, and the proxy to load them',
  (country) => {
    const lists = PRESET_LISTS.filter(
      ({ format, routing }) => format === 'singbox' && routing.country === country,
    )
    for (const list of lists) {
      const { rule_set } = JSON.parse(renderPreset(list)).route
      expect(rule_set.map(({ url }: { url: string }) => url)).toEqual(
        ruleFilesOf(list.routing).map((file) => `${list.routing.rulesUrl}/${file}`),
      )
      for (const set of rule_set) {
        expect(set.download_detour ?? set.http_client.detour).toBe('Proxy')
      }
    }
  },
)

describe('the header', () => {
  const decoded = (header: string | undefined, prefix: string) => {
    if (!header?.startsWith(prefix)) throw new Error(`no ${prefix} in ${header}`)
    return JSON.parse(Buffer.from(header.slice(prefix.length), 'base64').toString('utf8'))
  }

  test.each([
    ['happ/3.26.3/android/1', 'happ://routing/onadd/'],
    ['incy/3.4.3/android', 'incy://routing/onadd/'],
  ])('of %s is a profile of Happ’s form', (agent, prefix) => {
    const profile = decoded(routingHeader(agent, RU, 'Мой VPN'), prefix)
    expect(profile).toMatchObject({
      Name: 'Мой VPN RU',
      GlobalProxy: 'true',
      DomainStrategy: 'IPIfNonMatch',
      ProxySites: [],
    })
    expect(profile.DirectSites).toContain('domain:ru')
    expect(profile.DirectIp).toEqual(expect.arrayContaining(['geoip:ru', '10.0.0.0/8']))
    expect(profile.BlockSites.length).toBeGreaterThan(5)
    expect(JSON.stringify(profile)).not.toContain('geosite:')
  })

  test('of v2RayTun is a routing of Xray', () => {
    const routing = decoded(routingHeader('v2raytun/ios', { ...RU, ads: false }, 'VPN'), '')
    expect(routing.rules.map((rule: { outboundTag: string }) => rule.outboundTag)).toEqual([
      'direct',
      'direct',
      'direct',
      'direct',
    ])
    expect(routing.rules.at(-1).ip).toEqual(['geoip:ru'])
  })

  test.each(['v2rayng/2.3.5', 'streisand/1.6.4', 'hiddifynext/2.5.7', 'cashapp/5.1', ''])(
    'is none for %j',
    (agent) => {
      expect(routingHeader(agent, RU, 'VPN')).toBeUndefined()
    },
  )
})
