/** Templates of lists: what is written by them, and what is in none. */
import { describe, expect, test } from 'vitest'
import { MAX_TEMPLATE, type TemplateFormat } from '#db/values.ts'
import { listEntries } from '#src/domain/lists/entries.ts'
import { renderList } from '#src/domain/lists/formats.ts'
import type { Routing } from '#src/domain/lists/routing.ts'
import { builtInTemplate, keptTemplate, readTemplate } from '#src/domain/lists/template.ts'
import { ApiError } from '#src/lib/errors.ts'
import { ALL_TRANSPORTS, listSource, nastySources } from '#test/fixtures/lists/samples.ts'
import { faultOf, mihomo, singbox } from '#test/fixtures/lists/template-faults.ts'
import { MIHOMO_TEMPLATE, SINGBOX_TEMPLATE } from '#test/fixtures/lists/templates.ts'

const OPTIONS = { brandName: 'Subpanel', singboxVersion: null, wsAndXhttp: true }
const RU: Routing = { country: 'ru', ads: true, rulesUrl: 'https://sub.example.com/rules' }
const FORMATS: TemplateFormat[] = ['mihomo', 'singbox']
const TEXTS = { mihomo: MIHOMO_TEMPLATE, singbox: SINGBOX_TEMPLATE }

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
})

test.each([
  'MATCH,Proxy (auto)',
  'DOMAIN-SUFFIX,page.test,Proxy (auto)',
  ' ip-cidr , 10.0.0.0/8 , Proxy (auto) , no-resolve',
  'IP-CIDR,10.0.0.0/8,Proxy (auto),src,no-resolve',
  'AND,((NETWORK,UDP),(DST-PORT,443)),Proxy (auto)',
  'DOMAIN-REGEX,^a{1,2}\\.(test|example)$,Proxy (auto)',
  'SUB-RULE,(NETWORK,tcp),rest',
])('a rule names its target as Mihomo reads it: %s', (rule) => {
  const body = (target: string) =>
    JSON.stringify({
      proxies: ['$proxies'],
      'proxy-groups': [{ name: 'Proxy (auto)', type: 'select', proxies: ['$names'] }],
      'sub-rules': { rest: ['MATCH,DIRECT'] },
      rules: [rule.replace('Proxy (auto)', target)],
    })
  expect(faultOf('mihomo', body('Proxy (auto)'))).toBe('none')
  if (rule.includes('auto'))
    expect(faultOf('mihomo', body('Proxy'))).toMatch(/^rules\[0\] .* names Proxy,/)
})

describe('a stranger’s text holds nobody up', () => {
  const most = (part: string) =>
    part.repeat(Math.ceil(MAX_TEMPLATE / part.length)).slice(0, MAX_TEMPLATE)
  const levels = 'bcdefghij'
    .split('')
    .map((name, i) => `${name}: &${name} [${Array(9).fill(`*${'abcdefghij'[i]}`).join(',')}]`)
  const bomb = `proxies: [$proxies]\nhosts:\n  a: &a [x]\n  ${levels.join('\n  ')}\n`
  const sound = 'proxies: [$proxies]\nproxy-groups: [{name: P, type: select, proxies: [$names]}]\n'
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
    ['parentheses', `rules: [&r "${'('.repeat(28_000)}"${', *r'.repeat(8)}]\n${sound}`],
    [
      'long texts at many places',
      `hosts: {x: &s "${'x'.repeat(28_000)}", y: &l [${'*s,'.repeat(200)}], z: [${'*l,'.repeat(230)}]}\n${sound}`,
    ],
    [
      'long keys at many places',
      `hosts: {x: &m {${keys
        .slice(0, 100)
        .map((key) => 'k'.repeat(240) + key)
        .join()}}, y: [${'*m,'.repeat(400)}]}\n${sound}`,
    ],
  ])('%s', (_name, body) => {
    const start = performance.now()
    for (const format of FORMATS) {
      expect(keptTemplate({ format, body })).toEqual({ fault: expect.any(ApiError) })
    }
    expect(performance.now() - start).toBeLessThan(1500)
  })

  test.each([
    ['as many', 200, 'none'],
    ['more', 201, /^the template is too large at proxy-groups\[200\]\.proxies\[0\]$/],
  ])('places of names are counted, as all names are put in each: %s', (_name, places, fault) => {
    const groups = Array.from({ length: places }, (_, i) => `{name: g${i}, proxies: *n}`)
    const body = `proxies: [$proxies]\nproxy-groups: [{name: P, proxies: &n [$names]}, ${groups.slice(1).join()}]\n`
    expect(faultOf('mihomo', body)).toMatch(fault)
  })

  test.each([
    ['just so much', 7, 'none'],
    ['more', 8, /^the template is too large at hosts\.b\[7\]$/],
  ])('texts are counted where they are put: %s', (_name, places, fault) => {
    const body = `hosts: {a: &a "${'x'.repeat(32_000)}", b: [${'*a,'.repeat(places)}]}\n${sound}`
    expect(faultOf('mihomo', body)).toMatch(fault)
  })

  test('what is named once and put at many places is counted there', () => {
    const body = `proxies: [$proxies]\nhosts:\n  a: &a [${'x,'.repeat(3000)}]\n  b: [${'*a,'.repeat(400)}]\n`
    expect(faultOf('mihomo', body)).toMatch(/^the template is too large at hosts\.b\[\d+\]\[\d+\]$/)
  })
})

test('whatever is thrown of a text that is kept is a fault of it, and remembered', () => {
  // As one of another version would be.
  const row = { format: 'later' as TemplateFormat, body: '{}' }
  const first = keptTemplate(row)
  expect(first).toEqual({ fault: expect.any(ApiError) })
  expect((first as { fault: ApiError }).fault.message).toMatch(
    /^Subpanel refuses the template: \w+/,
  )
  expect(keptTemplate({ ...row })).toBe(first)
})

test('a text that is kept is read once', () => {
  const row = { format: 'mihomo', body: MIHOMO_TEMPLATE } as const
  const first = keptTemplate(row)
  expect(keptTemplate({ ...row })).toBe(first)
  expect(keptTemplate({ ...row, body: `${MIHOMO_TEMPLATE}# more\n` })).not.toBe(first)
})

test('what a core reads for us needs no data of apps, however rules are spaced', () => {
  const rules = ['GEOSITE ,cn,DIRECT', 'GEOIP , cn , DIRECT', 'src-geoip ,ru, DIRECT']
  const logical = 'AND,((GEOSITE , cn),(IP-ASN ,1,no-resolve)),DIRECT'
  const body = MIHOMO_TEMPLATE.replace(
    'rules:\n',
    `rules: ${JSON.stringify([...rules, logical])}\nx:`,
  )
  const text = readTemplate('mihomo', body.slice(0, body.indexOf('\nx:'))).sample()
  expect(text.slice(text.indexOf('\nrules:'), text.indexOf('\ngeo-auto'))).toBe(`
rules:
  - "DOMAIN-SUFFIX,geosite.invalid,DIRECT"
  - "IP-CIDR,192.0.2.0/24, DIRECT"
  - "src-IP-CIDR,192.0.2.0/24, DIRECT"
  - "AND,((DOMAIN-SUFFIX,geosite.invalid),(IP-CIDR,192.0.2.0/24,no-resolve)),DIRECT"`)
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
