/** What all lists say beside their entries, as an admin sets it. */
import { expect } from 'vitest'
import { buyer, fetchAs, links } from '#test/support/calls/list-fetches.ts'
import { path, refusals } from '#test/support/calls/settings-calls.ts'
import { auditOf, putSettings } from '#test/support/rows/records.ts'
import { scenarios } from '#test/support/worlds/scenario.ts'

const defaults = {
  routing_preset: 'off',
  routing_ads: false,
  ruleset_base_url: '',
  xray_json_agents: [],
  node_change_hours: 24,
}

scenarios('settings/lists', [
  { name: '200 with nothing set', request: { path: path('lists') }, status: 200, body: defaults },
  {
    name: '200 with the values of the environment',
    world: { environment: { XRAY_JSON_AGENTS: 'Happ, v2rayNG' } },
    request: { path: path('lists') },
    status: 200,
    body: { ...defaults, xray_json_agents: ['happ', 'v2rayng'] },
  },
  {
    name: '200 with the hours between two changes of server, as the environment has them',
    world: { environment: { NODE_CHANGE_HOURS: '0' } },
    request: { path: path('lists') },
    status: 200,
    body: { ...defaults, node_change_hours: 0 },
  },
  {
    name: '200 with other hours, which count at once',
    request: { path: path('lists'), body: { node_change_hours: 8760 } },
    status: 200,
    body: { ...defaults, node_change_hours: 8760 },
  },
  {
    name: '200 and each word once, in lower case',
    request: {
      path: path('lists'),
      body: { xray_json_agents: ['Happ', ' happ ', 'v2raytun/ios'] },
    },
    status: 200,
    body: { ...defaults, xray_json_agents: ['happ', 'v2raytun/ios'] },
    effects: async (w) => {
      const now = (await w.admin(path('lists'))).json
      expect(now).toEqual({ ...defaults, xray_json_agents: ['happ', 'v2raytun/ios'] })
      expect(auditOf(w)).toHaveLength(1)
    },
  },
  ...refusals('lists', [
    [{}, 'nothing to change'],
    [{ routing_preset: 'us' }, 'routing_preset must be off, ru, ir or cn'],
    [{ routing_preset: null }, /^routing_preset/],
    [{ routing_ads: 'yes' }, /^routing_ads/],
    [{ node_change_hours: -1 }, 'node_change_hours must be a whole number from 0 to 8760'],
    [{ node_change_hours: 8761 }, 'node_change_hours must be a whole number from 0 to 8760'],
    [{ node_change_hours: '24' }, /^node_change_hours/],
    [{ ruleset_base_url: 'ftp://x.test/' }, /^ruleset_base_url must be an http\(s\) address/],
    [{ ruleset_base_url: 'https://x.test/?a' }, /^ruleset_base_url/],
    [{ ruleset_base_url: 'https://x.test/#a' }, /^ruleset_base_url/],
    [{ xray_json_agents: 'happ' }, 'xray_json_agents must be a list of words'],
    [{ xray_json_agents: ['two words'] }, /^xray_json_agents.* must be words of 2 to 32/],
    [{ xray_json_agents: [''] }, /must be words of 2 to 32/],
    [{ xray_json_agents: ['x'] }, /must be words of 2 to 32/],
    [{ xray_json_agents: ['x'.repeat(33)] }, /must be words of 2 to 32/],
    [{ xray_json_agents: [7] }, /^xray_json_agents/],
    [
      { xray_json_agents: Array.from({ length: 51 }, (_, i) => `app${i}`) },
      'xray_json_agents must have at most 50 words',
    ],
  ]),
])

const jsonFor = (agents: string) => (w: Parameters<typeof buyer>[0]) => {
  putSettings(w, { XRAY_JSON_AGENTS: agents })
  return buyer(w)
}

scenarios('GET /sub/{token} as Xray JSON', [
  {
    name: '200 with the fastest server and one config for each entry, to an agent that is named',
    given: jsonFor('happ v2rayng'),
    request: (token) => fetchAs(token, { 'user-agent': 'Happ/3.26.3/Android/1' }),
    status: 200,
    headers: { 'content-type': 'text/plain; charset=utf-8', routing: null },
    effects: (_w, _token, { json }) =>
      expect(json.map(({ remarks }: { remarks: string }) => remarks)).toEqual([
        '⚡ Auto',
        expect.any(String),
      ]),
  },
  ...[
    ['another agent', 'v2raytun/ios'],
    // Its agent names what it resembles, and it reads headers only beside links.
    ['Hiddify', 'HiddifyNext/2.5.7 (android) like ClashMeta v2ray sing-box'],
  ].map(([who, agent = '']) => ({
    name: `200 with links for ${who}`,
    given: jsonFor('happ sing-box'),
    request: (token: string) => fetchAs(token, { 'user-agent': agent }),
    status: 200,
    effects: (_w: unknown, _token: string, answer: Parameters<typeof links>[0]) =>
      expect(links(answer)).toHaveLength(1),
  })),
  {
    name: '200 in the form that its address asks for',
    given: jsonFor('happ'),
    request: (token) => ({
      ...fetchAs(token, { 'user-agent': 'Happ/3.26.3' }),
      path: `/sub/${token}?format=links`,
    }),
    status: 200,
    effects: (_w, _token, { text }) => expect(text).toMatch(/^vless:\/\//),
  },
  {
    name: '200 and a page for a browser, whatever is named',
    given: jsonFor('mozilla'),
    request: (token) => fetchAs(token, { 'user-agent': 'Mozilla/5.0 (X11; Linux x86_64)' }),
    status: 200,
    headers: { 'content-type': /^text\/html/ },
  },
])
