/** Templates of lists: what is written by them, and what is in none. */
import { describe, expect, test } from 'vitest'
import { MAX_TEMPLATE, type TemplateFormat } from '#db/values.ts'
import { listEntries } from '#src/domain/lists/entries.ts'
import { renderList } from '#src/domain/lists/formats.ts'
import type { Routing } from '#src/domain/lists/routing.ts'
import { builtInTemplate, keptTemplate, readTemplate } from '#src/domain/lists/template.ts'
import { ApiError } from '#src/lib/errors.ts'
import { ALL_TRANSPORTS, listSource, nastySources } from '#test/fixtures/lists/samples.ts'
import { MIHOMO_TEMPLATE, SINGBOX_TEMPLATE } from '#test/fixtures/lists/templates.ts'

const OPTIONS = { brandName: 'Subpanel', singboxVersion: null, wsAndXhttp: true }
const RU: Routing = { country: 'ru', ads: true, rulesUrl: 'https://sub.example.com/rules' }
const FORMATS: TemplateFormat[] = ['mihomo', 'singbox']
const TEXTS = { mihomo: MIHOMO_TEMPLATE, singbox: SINGBOX_TEMPLATE }

const faultOf = (format: TemplateFormat, body: string): string => {
  try {
    readTemplate(format, body)
  } catch (error) {
    return (error as Error).message
  }
  return 'none'
}

describe('our own list as a template', () => {
  const sources = [listSource({ transports: ALL_TRANSPORTS })]
  test.each(FORMATS.flatMap((format) => [null, RU].map((routing) => [format, routing] as const)))(
    'writes the very same list: %s, %o',
    (format, routing) => {
      const template = readTemplate(format, builtInTemplate(format, routing))
      for (const all of [sources, nastySources()]) {
        const plain = renderList(format, listEntries(all), { ...OPTIONS, routing })
        const entries = listEntries(all, format, template.names)
        expect(renderList(format, entries, { ...OPTIONS, template })).toBe(plain)
      }
    },
  )

  test.each(FORMATS)('is what counts without servers: %s', (format) => {
    const template = readTemplate(format, TEXTS[format])
    const plain = renderList(format, [], OPTIONS)
    expect(renderList(format, [], { ...OPTIONS, template })).toBe(plain)
  })
})

describe('whole bodies', () => {
  test.each([
    ['mihomo', 'mihomo.yaml'],
    ['singbox', 'sing-box.golden'],
  ] as const)('%s is as in %s', async (format, file) => {
    const template = readTemplate(format, TEXTS[format])
    // One is called as a group of the template is.
    const sources = [
      listSource({ transports: ALL_TRANSPORTS }),
      listSource({ code: 'nl1', label: 'Choose' }),
    ]
    const entries = listEntries(sources, format, template.names)
    const body = renderList(format, entries, { ...OPTIONS, template })
    await expect(`${body.trimEnd()}\n`).toMatchFileSnapshot(
      `../../fixtures/lists/templates/${file}`,
    )
  })
})

test('no entry is called as something of the template is', () => {
  const template = readTemplate('mihomo', MIHOMO_TEMPLATE)
  expect([...template.names]).toEqual(['Past', 'Fast', 'Reserve', 'Choose'])
  const sources = ['Fast', 'Past', 'Other'].map((label, i) => listSource({ code: `n${i}`, label }))
  const names = listEntries(sources, 'mihomo', template.names).map(({ name }) => name)
  expect(names).toEqual(['Fast 2', 'Past 2', 'Other'])
})

test('what is read of YAML is written as what it was read as', () => {
  const body = `proxies: [$proxies]
proxy-groups: [{name: P, type: select, proxies: [$names]}]
rules: ["MATCH,P"]
hosts: {"no": 1.2.3.4, 0x10: "12e45678", "a: b": ~, empty: {}, none: [], yes: yes, n: 0x1F, "x\\u2028y": true}
`
  const written = readTemplate('mihomo', body).sample()
  expect(written).toContain(`hosts:
  "16": "12e45678"
  "no": "1.2.3.4"
  "a: b": null
  empty: {}
  none: []
  "yes": "yes"
  "n": 31
  "x\\u2028y": true
`)
})

describe('what is wrong is named with its place', () => {
  const group = '{name: P, type: select, proxies: [$names]}'
  /** With more in it. */
  const mihomo = (more: string, rest = 'proxies: [$proxies]') =>
    `${rest}\nproxy-groups: [${group}]\n${more}\n`
  test.each([
    ['a: b: c', /^the template can't be read at line 1, column 5: /],
    ['a: 1\na: 2', /^the template can't be read at line 2, column 1: duplicated/],
    ['a:\n\t- b', /at line 2, column 1: /],
    ['x: *none', /at line 1, column 5: /],
    ['a: !!js/function x', /at line 1, column 4: /],
    ['---\na: 1\n---\nb: 2', /^the template can't be read at line 1, column 1: /],
    ['', /^the template can't be read at line 1, column 1: /],
    [`${'['.repeat(40)}`, /^the template can't be read at line 1, column 32: /],
    ['[1, 2]', 'the template must be a map of settings'],
    ['text', 'the template must be a map of settings'],
    ['mode: rule', 'the template needs $proxies once, as an item of proxies'],
    ['proxies: []', 'the template needs $proxies once, as an item of proxies'],
    [mihomo('', 'proxies: [$proxies, $proxies]'), /^the template needs \$proxies once/],
    ['proxies: [$proxies]', 'the template needs $names as an item of a group'],
    [mihomo('', 'proxies: $proxies'), "$proxies can't stand at proxies of the template"],
    [mihomo('mode: $names'), "$names can't stand at mode of the template"],
    [mihomo('rules: [$names]'), "$names can't stand at rules[0] of the template"],
    [mihomo('', 'proxies: [[$proxies]]'), "$proxies can't stand at proxies[0][0] of the template"],
    [mihomo('hosts: {a: [{b: $proxies}]}'), "$proxies can't stand at hosts.a[0].b of the template"],
    [
      mihomo('', 'proxies: [$proxies, {type: direct}]'),
      'proxies[1].name of the template must be a name',
    ],
    [
      mihomo('', 'proxies: [$proxies, {name: 7}]'),
      'proxies[1].name of the template must be a name',
    ],
    [
      mihomo('', 'proxies: [$proxies, {name: P}]'),
      'proxy-groups[0].name of the template is called P, as something else is',
    ],
    [mihomo('rules: ["MATCH,Q"]'), 'rules[0] of the template names Q, which there is not'],
    [
      mihomo('sub-rules: {s: ["MATCH,P", "GEOIP,ru,Q,no-resolve"]}'),
      'sub-rules.s[1] of the template names Q, which there is not',
    ],
    [
      mihomo('rules: ["OR,((DOMAIN,a),(DOMAIN,b)),Q"]'),
      'rules[0] of the template names Q, which there is not',
    ],
    [mihomo('log-level: .inf'), 'log-level of the template is no number that can be written'],
    [mihomo('short: 1'), "short can't be in a template: it reaches beyond the list"],
    [mihomo(`? ${'k'.repeat(300)}\n: 1`), /^the template is too large at "?k{64}"?$/],
    [mihomo(`hosts: {? ${'k'.repeat(300)} : 1}`), /^the template is too large at hosts\."k{64}"$/],
  ])('%j', (body, message) => {
    if (typeof message === 'string') expect(faultOf('mihomo', body)).toBe(message)
    else expect(faultOf('mihomo', body)).toMatch(message)
  })

  const singbox = (more: object, outbounds: unknown[] = []) =>
    JSON.stringify({
      outbounds: ['$proxies', { type: 'selector', tag: 'P', outbounds: ['$names'] }, ...outbounds],
      ...more,
    })
  test.each([
    ['{"log": {},}', "the template can't be read at line 1, column 12: this is no JSON"],
    [
      '{\n  "log": {}\n  "dns": {}\n}',
      "the template can't be read at line 3, column 3: this is no JSON",
    ],
    ['log: {}', "the template can't be read at line 1, column 1: this is no JSON"],
    ['[]', 'the template must be a map of settings'],
    ['{}', 'the template needs $proxies once, as an item of outbounds'],
    [singbox({ route: { final: 'Q' } }), 'route.final of the template names Q, which there is not'],
    [
      singbox({ route: { rules: [{ type: 'logical', rules: [], outbound: 'Q' }] } }),
      'route.rules[0].outbound of the template names Q, which there is not',
    ],
    [
      singbox({ dns: { servers: [{ tag: 'a', detour: 'Q' }] } }),
      'dns.servers[0].detour of the template names Q, which there is not',
    ],
    [
      singbox({}, [{ type: 'selector', tag: 'S', outbounds: ['P'], default: 'Q' }]),
      'outbounds[2].default of the template names Q, which there is not',
    ],
    [singbox({}, [{ type: 'direct', tag: 'P' }]), /^outbounds\[2\]\.tag .* is called P/],
    [singbox({ route: { final: '$names' } }), "$names can't stand at route.final of the template"],
    [`${'{"log":'.repeat(40)}1${'}'.repeat(40)}`, /^the template is too large at log\.log\./],
    ['['.repeat(30_000), /^the template can't be read at line 1, column 30001: this is no JSON$/],
  ])('%j', (body, message) => {
    if (typeof message === 'string') expect(faultOf('singbox', body)).toBe(message)
    else expect(faultOf('singbox', body)).toMatch(message)
  })

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
  ])('Mihomo: %s', (more, where) => {
    expect(faultOf('mihomo', mihomo(more))).toBe(beyond(where.replace('\\\\', '\\')))
  })

  test.each([
    [{ log: { output: '/etc/passwd' } }, 'log.output'],
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
    [{ type: 'tor2', tag: 't', executable_path: '/bin/sh' }, 'outbounds[2].executable_path'],
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
})

describe('a stranger’s text holds nobody up', () => {
  const most = (part: string) =>
    part.repeat(Math.ceil(MAX_TEMPLATE / part.length)).slice(0, MAX_TEMPLATE)
  const levels = 'bcdefghij'
    .split('')
    .map((name, i) => `${name}: &${name} [${Array(9).fill(`*${'abcdefghij'[i]}`).join(',')}]`)
  const bomb = `proxies: [$proxies]\nhosts:\n  a: &a [x]\n  ${levels.join('\n  ')}\n`
  const keys = Array.from({ length: 4000 }, (_, i) => `k${i}: 1`)
  test.each([
    ['brackets', most('[')],
    ['maps', most('{a: ')],
    ['items', most('- ')],
    ['question marks', most('? ')],
    ['quotes', most('"')],
    ['anchors', most('&a ')],
    ['aliases', `hosts: {a: &a [x], b: [${'*a,'.repeat(10_000)}]}`],
    ['names for names', bomb],
    [
      'merges',
      `hosts: {a: &a {${keys.slice(0, 1500).join(', ')}}, b: {<<: [${'*a,'.repeat(4000)}]}}`,
    ],
    ['keys', keys.join('\n')],
    ['lines', most('\n')],
    ['comments', most('#\n')],
    ['documents', most('---\n')],
    ['directives', most('%\n')],
    ['tags', most('!')],
    ['colons', most(':')],
    ['tabs', most('\t')],
  ])('%s', (_name, body) => {
    const start = performance.now()
    for (const format of FORMATS) {
      expect(keptTemplate({ format, body })).toEqual({ fault: expect.any(ApiError) })
    }
    expect(performance.now() - start).toBeLessThan(1500)
  })

  test('what is named once and put at many places is counted there', () => {
    const body = `proxies: [$proxies]\nhosts:\n  a: &a [${'x,'.repeat(3000)}]\n  b: [${'*a,'.repeat(400)}]\n`
    expect(faultOf('mihomo', body)).toMatch(/^the template is too large at hosts\.b\[\d+\]\[\d+\]$/)
  })
})

test('a text that is kept is read once', () => {
  const row = { format: 'mihomo', body: MIHOMO_TEMPLATE } as const
  const first = keptTemplate(row)
  expect(keptTemplate({ ...row })).toBe(first)
  expect(keptTemplate({ ...row, body: `${MIHOMO_TEMPLATE}# more\n` })).not.toBe(first)
})

test('what a core reads for us needs no data of apps', () => {
  const text = readTemplate('mihomo', MIHOMO_TEMPLATE).sample()
  expect(text).not.toMatch(/"geosite:|GEOSITE|GEOIP/)
  expect(text).toContain('"DOMAIN-SUFFIX,geosite.invalid,Past"')
  expect(text).toContain('"IP-CIDR,192.0.2.0/24,DIRECT,no-resolve"')
  expect(text).toContain('"+.geosite1.invalid":')
  expect(text).toContain('geosite: "http://127.0.0.1:1/"')
  expect(text).toContain('- "Sample 1"')
})
