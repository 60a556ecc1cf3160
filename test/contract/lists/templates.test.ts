/** Templates of lists: saved, refused, in lists at once, and looked at for a customer. No core is at hand here: test/e2e/list-templates.test.ts. */
import { expect } from 'vitest'
import { MAX_TEMPLATE } from '#db/values.ts'
import { builtInTemplate } from '#src/domain/lists/template.ts'
import { MIHOMO_TEMPLATE, SINGBOX_TEMPLATE } from '#test/fixtures/lists/templates.ts'
import { buyer } from '#test/support/calls/list-fetches.ts'
import { path, refusals } from '#test/support/calls/settings-calls.ts'
import {
  addDevice,
  addNode,
  addSubscription,
  addUser,
  auditOf,
  putSettings,
} from '#test/support/rows/records.ts'
import { putTemplate } from '#test/support/rows/templates.ts'
import type { Answer } from '#test/support/worlds/answer.ts'
import { scenarios } from '#test/support/worlds/scenario.ts'
import type { World } from '#test/support/worlds/world.ts'

const TEMPLATES = path('templates')
const PREVIEW = path('templates/preview')

const none = (format: 'mihomo' | 'singbox') => ({
  format,
  body: null,
  updated_at: null,
  fault: null,
  built_in: builtInTemplate(format, null),
})
const both = [none('mihomo'), none('singbox')]

/** Of two and three bytes each. */
const LONGEST = `${MIHOMO_TEMPLATE}# `.padEnd(MAX_TEMPLATE, 'я—')

/** Two of one name. */
const LONG_NAMES = `proxies: [$proxies, {name: ${'F'.repeat(9000)}}, {name: ${'F'.repeat(9000)}}]
proxy-groups: [{name: P, proxies: [$names]}]`

const CLASH = { 'user-agent': 'clash-verge/v2.4.2' }
const sfa = (version: string) => ({ 'user-agent': `SFA/${version} (600; sing-box ${version})` })

const listAs = async (w: World, token: string, headers: Record<string, string>) =>
  (await w.call(`/sub/${token}`, { host: 'sub.test', headers })).text

scenarios('settings/templates', [
  {
    name: '200 with none, and our own lists to begin with',
    request: { path: TEMPLATES },
    status: 200,
    body: { templates: both },
  },
  {
    name: '200 with our own lists as they are with the preset',
    given: (w) => putSettings(w, { ROUTING_PRESET: 'ru', RULESET_BASE_URL: 'https://rules.test' }),
    request: { path: TEMPLATES },
    status: 200,
    effects: (_w, _given, { json }) =>
      expect(json.templates[0].built_in).toContain('"GEOSITE,category-ru,DIRECT"'),
  },
  {
    name: '200 and lists are written by it at once, those of another format and of links are not',
    given: async (w) => {
      const token = buyer(w)
      const others = [sfa('1.13.2'), { 'user-agent': 'Happ/3.26.3' }]
      return {
        token,
        others,
        before: await Promise.all(others.map((one) => listAs(w, token, one))),
      }
    },
    request: { path: TEMPLATES, body: { format: 'mihomo', body: MIHOMO_TEMPLATE } },
    status: 200,
    body: {
      templates: [
        { ...none('mihomo'), body: MIHOMO_TEMPLATE, updated_at: '2026-03-01T12:00:00' },
        none('singbox'),
      ],
      checked_by: 'structure',
    },
    effects: async (w, { token, others, before }) => {
      const list = await listAs(w, token, CLASH)
      expect(list).toContain('"GEOSITE,category-ru,Past"')
      expect(list.match(/"Local"/g)).toHaveLength(4)
      const now = await Promise.all(
        others.map((one: Record<string, string>) => listAs(w, token, one)),
      )
      expect(now).toEqual(before)
      expect(auditOf(w)).toEqual(['template.save'])
    },
  },
  ...[
    ['я', (text: string) => text],
    [
      'escaped',
      (text: string) =>
        text.replace(/[я—]/g, (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`),
    ],
  ].map(([what, written]) => ({
    name: `200 for as many characters as are promised, of more bytes each: ${what}`,
    request: {
      path: TEMPLATES,
      raw: (written as (text: string) => string)(
        JSON.stringify({ format: 'mihomo', body: LONGEST }),
      ),
    },
    status: 200,
    effects: (_w: World, _given: unknown, { json }: Answer) =>
      expect(json.templates[0].body).toBe(LONGEST),
  })),
  {
    name: '413 for more than any template is',
    request: { path: TEMPLATES, body: { format: 'mihomo', body: 'я'.repeat(140_000) } },
    status: 413,
    error: 'request body too large',
  },
  {
    name: '200 and sing-box has it from 1.12 on, older ones our own',
    given: async (w) => {
      const token = buyer(w)
      return { token, before: await listAs(w, token, sfa('1.11.15')) }
    },
    request: { path: TEMPLATES, body: { format: 'singbox', body: SINGBOX_TEMPLATE } },
    status: 200,
    effects: async (w, { token, before }) => {
      for (const version of ['1.12.0', '1.13.2', '1.14.1']) {
        const { outbounds } = JSON.parse(await listAs(w, token, sfa(version)))
        expect(outbounds.map(({ tag }: { tag: string }) => tag)).toEqual([
          ...['Choose', 'Fast', 'Local', 'direct'],
        ])
      }
      expect(await listAs(w, token, sfa('1.11.15'))).toBe(before)
    },
  },
  {
    name: '200 and an empty one takes it away: lists are our own again',
    given: async (w) => {
      const token = buyer(w)
      const before = await listAs(w, token, CLASH)
      putTemplate(w, 'mihomo', MIHOMO_TEMPLATE)
      expect(await listAs(w, token, CLASH)).not.toBe(before)
      return { token, before }
    },
    request: { path: TEMPLATES, body: { format: 'mihomo', body: ' \n' } },
    status: 200,
    body: { templates: both, checked_by: null },
    effects: async (w, { token, before }) => {
      expect(await listAs(w, token, CLASH)).toBe(before)
      expect(auditOf(w)).toEqual(['template.remove'])
    },
  },
  {
    name: '200 and nothing is noted where there is none to take away',
    request: { path: TEMPLATES, body: { format: 'singbox', body: '' } },
    status: 200,
    body: { templates: both, checked_by: null },
    effects: (w) => expect(auditOf(w)).toEqual([]),
  },
  {
    name: '200 and the former one is replaced, what is wrong with it told until then',
    given: async (w) => {
      putTemplate(w, 'mihomo', 'proxies: [')
      const { json } = await w.admin(TEMPLATES)
      expect(json.templates[0].fault.error).toMatch(/^the template can't be read at line 1, column/)
    },
    request: { path: TEMPLATES, body: { format: 'mihomo', body: MIHOMO_TEMPLATE } },
    status: 200,
    effects: (_w, _given, { json }) => expect(json.templates[0].fault).toBeNull(),
  },
  {
    name: '200 with what is wrong of one that came past us, and lists are our own',
    given: async (w) => {
      const token = buyer(w)
      const before = await listAs(w, token, CLASH)
      putTemplate(w, 'mihomo', `${MIHOMO_TEMPLATE}external-controller: 0.0.0.0:9090\n`)
      expect(await listAs(w, token, CLASH)).toBe(before)
    },
    request: { path: TEMPLATES },
    status: 200,
    effects: (_w, _given, { json }) =>
      expect(json.templates[0].fault).toEqual({
        error: "external-controller can't be in a template: it reaches beyond the list",
        code: 'template-beyond',
        values: { where: 'external-controller' },
      }),
  },
  ...refusals('templates', [
    [{}, /^format/],
    [{ format: 'xray', body: '' }, 'format must be one of mihomo, singbox'],
    [{ format: 'mihomo' }, /^body/],
    [{ format: 'mihomo', body: null }, /^body/],
    [{ format: 'mihomo', body: 'x'.repeat(32_769) }, 'body must have at most 32768 characters'],
    [
      { format: 'mihomo', body: 'a\u0000' },
      'body must have no control characters but line breaks and tabs',
    ],
    [{ format: 'mihomo', body: 'a: b: c' }, /^the template can't be read at line 1, column 5: /],
    [{ format: 'singbox', body: '{,}' }, /^the template can't be read at line 1, column 2: /],
    [{ format: 'singbox', body: '[]' }, 'the template must be a map of settings'],
    [
      { format: 'singbox', body: '{}' },
      'the template needs $proxies once, as an item of outbounds',
    ],
    [
      { format: 'mihomo', body: 'proxies: [$proxies]' },
      'the template needs $names as an item of a group',
    ],
    [{ format: 'mihomo', body: 'mode: $names' }, "$names can't stand at mode of the template"],
    [
      { format: 'mihomo', body: 'mode: .nan' },
      'mode of the template is no number that can be written',
    ],
    [
      { format: 'mihomo', body: 'tunnels: []' },
      "tunnels can't be in a template: it reaches beyond the list",
    ],
    [
      { format: 'singbox', body: `{"log":${'['.repeat(50)}${']'.repeat(50)}}` },
      /^the template is too large at log\[0\]/,
    ],
    [
      { format: 'mihomo', body: MIHOMO_TEMPLATE.replace('name: Reserve', 'name: 7') },
      'proxy-groups[1].name of the template must be a name',
    ],
    [
      { format: 'mihomo', body: MIHOMO_TEMPLATE.replace('name: Reserve', 'name: Fast') },
      'proxy-groups[1].name of the template is called Fast, as something else is',
    ],
    // What is long is not repeated: neither in the answer nor in its headers.
    [{ format: 'mihomo', body: `a: *${'x'.repeat(20_000)}` }, /^.{80,300}$/],
    [{ format: 'mihomo', body: `${'я'.repeat(200)}: 1` }, /^"я{64}" can't be in a template/],
    [{ format: 'mihomo', body: LONG_NAMES }, /is called F{64}, as something else is$/],
    [
      {
        format: 'mihomo',
        body: MIHOMO_TEMPLATE.replace('MATCH,Choose', `MATCH,${'я'.repeat(9000)}`),
      },
      /names я{64}, which there is not$/,
    ],
    [
      { format: 'mihomo', body: MIHOMO_TEMPLATE.replace('MATCH,Choose', 'MATCH,Chose') },
      'rules[5] of the template names Chose, which there is not',
    ],
  ]),
])

scenarios('settings/templates/preview', [
  {
    name: '200 with the list as this customer would get it, and nothing is kept',
    given: (w) => {
      buyer(w)
    },
    request: { path: PREVIEW, body: { format: 'mihomo', body: MIHOMO_TEMPLATE, tg_id: 7 } },
    status: 200,
    effects: async (w, _given, { json }) => {
      expect(Object.keys(json)).toEqual(['body'])
      expect(json.body).toContain('"GEOSITE,category-ru,Past"')
      expect(json.body).toContain('- name: "Local"')
      expect(w.rows('select * from list_templates')).toEqual([])
      expect(auditOf(w)).toEqual([])
    },
  },
  {
    name: '200 with one of as many characters as are promised, of more bytes each',
    given: (w) => {
      buyer(w)
    },
    request: { path: PREVIEW, body: { format: 'mihomo', body: LONGEST, tg_id: 7 } },
    status: 200,
  },
  {
    name: '200 with our own list for an empty one, whatever is kept',
    given: async (w) => {
      const token = buyer(w)
      const own = await listAs(w, token, CLASH)
      putTemplate(w, 'mihomo', MIHOMO_TEMPLATE)
      return own
    },
    request: { path: PREVIEW, body: { format: 'mihomo', body: '', tg_id: 7 } },
    status: 200,
    body: (own: string) => ({ body: own }),
  },
  {
    name: '200 with our own list for a customer who has no servers',
    given: (w) => {
      addUser(w, 7)
    },
    request: { path: PREVIEW, body: { format: 'singbox', body: SINGBOX_TEMPLATE, tg_id: 7 } },
    status: 200,
    effects: (_w, _given, { json }) => expect(JSON.parse(json.body).outbounds[0].tag).toBe('Proxy'),
  },
  {
    name: '404 for nobody’s number',
    request: { path: PREVIEW, body: { format: 'mihomo', body: '', tg_id: 8 } },
    status: 404,
    error: 'user not found',
  },
  ...refusals('templates/preview', [
    [{ format: 'mihomo', body: '' }, /^tg_id/],
    [{ format: 'mihomo', body: '', tg_id: 0 }, /^tg_id/],
    [{ format: 'mihomo', body: 'a', tg_id: 7 }, 'the template must be a map of settings'],
  ]),
])

const listPath = (query: string, tgId: number | string = 7) =>
  `/admin/api/users/${tgId}/list?${new URLSearchParams(query)}`

/** What a fetch would leave behind. */
const traces = (w: World) =>
  ['devices', 'subscriptions', 'users'].map((table) => w.rows(`select * from ${table}`))

scenarios('users/{tg_id}/list', [
  ...[
    'agent=Happ/3.26.3',
    'agent=v2rayNG/2.3.5',
    'agent=clash-verge/v2.4.2',
    'agent=SFA/1.11.15 (600; sing-box 1.11.15)',
    'agent=Hiddify/2.5.7',
    'format=links',
    'format=xray',
    'agent=Mozilla/5.0&format=mihomo',
  ].map((query) => ({
    name: `200 with body and headers as the app gets them: ${query}`,
    given: async (w: World) => {
      putSettings(w, { XRAY_JSON_AGENTS: 'v2rayng', ROUTING_PRESET: 'off' })
      const token = buyer(w)
      const { agent = '', format } = Object.fromEntries(new URLSearchParams(query))
      const answer = await w.call(
        `/sub/${token}${format === undefined ? '' : `?format=${format}`}`,
        {
          host: 'sub.test',
          headers: { 'user-agent': agent },
        },
      )
      expect(answer.status).toBe(200)
      return answer
    },
    request: { path: listPath(query) },
    status: 200,
    effects: (_w: World, app: Answer, { json }: Answer) => {
      expect(json.body).toBe(app.text)
      const said = Object.keys(json.headers).map((name) => [name.toLowerCase(), json.headers[name]])
      // What is said to browsers of other sites is not for apps.
      const told = [...app.headers].filter(([name]) => !/^(?:access-control-.*|vary)$/.test(name))
      expect(Object.fromEntries(said)).toEqual(Object.fromEntries(told))
    },
  })),
  {
    name: '200 and it is no fetch: no device is noted or let in, nothing begins',
    given: (w) => {
      putSettings(w, { HWID_LIMIT_ENABLED: 'true', HWID_FALLBACK_LIMIT: '1' })
      addUser(w, 7)
      addNode(w, 'ex1')
      // On a server of others a fetch would be its first use.
      addSubscription(w, 7, {
        ...{ node: 'ex1', start_by: '2027-01-01T00:00:00', start_seconds: 86_400 },
        expires_at: '2027-01-02T00:00:00',
      })
      addDevice(w, 7, 'known-000000', { last_seen_at: '2020-01-01T00:00:00' })
      return traces(w)
    },
    request: { path: listPath('agent=Happ/3.26.3'), headers: { 'x-hwid': 'known-000000' } },
    status: 200,
    effects: async (w, before, { json }) => {
      expect(json.headers['x-hwid-active']).toBe('true')
      expect(atob(json.body)).toContain('ex1.nodes.test')
      await w.s.seenDevices.flush()
      expect(traces(w)).toEqual(before)
      expect(auditOf(w)).toEqual([])
    },
  },
  {
    name: '200 with no servers for a banned customer',
    given: (w) => {
      addUser(w, 7, { banned_at: '2026-01-01T00:00:00' })
      addSubscription(w, 7)
    },
    request: { path: listPath('format=links') },
    status: 200,
    effects: (_w, _given, { json }) => expect(json.body).toBe(''),
  },
  {
    name: '404 for nobody’s number',
    request: { path: listPath('format=links', 8) },
    status: 404,
    error: 'user not found',
  },
  ...(
    [
      ['', 'agent is no client app'],
      ['agent=Mozilla/5.0', 'agent is no client app'],
      ['format=xray-array', /^format must be one of base64, links/],
      ['agent=', 'agent must not be empty'],
      [`agent=${'happ'.repeat(200)}`, 'agent must have at most 512 characters'],
    ] as const
  ).map(([query, error]) => ({
    name: `400 for ${query.slice(0, 40)}`,
    given: buyer,
    request: { path: listPath(query) },
    status: 400,
    error,
  })),
  {
    name: '400 for what is no number',
    request: { path: listPath('format=links', 'x') },
    status: 400,
    error: 'tg_id must be a positive integer',
  },
])
