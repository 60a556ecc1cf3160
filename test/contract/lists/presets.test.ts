/** Lists with a routing preset, and the rule files that they name. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect } from 'vitest'
import { LIST_FORMATS } from '#src/domain/lists/formats.ts'
import { buyer, fetchAs } from '#test/support/calls/list-fetches.ts'
import { path } from '#test/support/calls/settings-calls.ts'
import { addGroup } from '#test/support/rows/groups.ts'
import { addSubscription, addUser, auditOf, putSettings } from '#test/support/rows/records.ts'
import { type Scenario, scenarios } from '#test/support/worlds/scenario.ts'
import type { World } from '#test/support/worlds/world.ts'

const FILES = ['geosite-category-ru', 'geoip-ru', 'geosite-cn', 'geoip-cn']
/** As sing-box begins one; nothing here reads on. */
const RULES = Buffer.from('SRS\x01rules')

const folder = mkdtempSync(join(tmpdir(), 'subpanel-rules-'))
const withFiles = { environment: { CORES_DIR: join(folder, 'cores') } }
const withoutFiles = { environment: { CORES_DIR: join(folder, 'none') } }

let mirror: Server
let mirrorUrl = ''
beforeAll(async () => {
  mkdirSync(join(folder, 'cores', 'rules'), { recursive: true })
  for (const name of FILES) writeFileSync(join(folder, 'cores', 'rules', `${name}.srs`), RULES)
  writeFileSync(join(folder, 'cores', 'secret.srs'), RULES)
  mirror = createServer((request, response) => {
    const isThere = FILES.some((name) => request.url === `/r/${name}.srs`)
    response.writeHead(isThere ? 200 : 404).end(isThere ? RULES : 'none')
  })
  await new Promise<void>((done) => mirror.listen(0, '127.0.0.1', done))
  mirrorUrl = `http://127.0.0.1:${(mirror.address() as AddressInfo).port}/r/`
})
afterAll(() => {
  mirror.close()
  rmSync(folder, { recursive: true, force: true })
})

const SFA = { 'user-agent': 'SFA/1.13.2 (600; sing-box 1.13.2; language ru_RU)' }
const HAPP = { 'user-agent': 'Happ/3.26.3/Android/1' }

/** The addresses of the rule files in the list of somebody. */
async function ruleUrls(w: World, token: string): Promise<string[]> {
  const { json } = await w.call(`/sub/${token}`, { host: 'sub.test', headers: SFA })
  return (json.route.rule_set ?? []).map(({ url }: { url: string }) => url)
}

const own = (...names: string[]) => names.map((name) => `https://sub.test/rules/${name}.srs`)

const save = (body: unknown) => ({ path: path('lists'), body })

const refuses = (body: unknown, files: string, world = withFiles): Scenario => ({
  name: `400 for ${JSON.stringify(body)}: ${files}`,
  world,
  request: save(body),
  status: 400,
  error: `rule files can't be had: ${files}`,
  effects: (w) => expect(auditOf(w)).toEqual([]),
})

scenarios('settings/lists: presets', [
  {
    name: '200, and lists name the files of the service at once',
    world: withFiles,
    given: async (w) => {
      const token = buyer(w)
      expect(await ruleUrls(w, token)).toEqual([])
      return token
    },
    request: save({ routing_preset: 'ru' }),
    status: 200,
    body: {
      routing_preset: 'ru',
      routing_ads: false,
      ruleset_base_url: '',
      xray_json_agents: [],
      node_change_hours: 24,
    },
    effects: async (w, token) =>
      expect(await ruleUrls(w, token)).toEqual(own('geosite-category-ru', 'geoip-ru')),
  },
  {
    name: '200 for an address that has them, and lists name that',
    world: withoutFiles,
    given: buyer,
    request: () => save({ routing_preset: 'cn', ruleset_base_url: mirrorUrl }),
    status: 200,
    effects: async (w, token) =>
      expect(await ruleUrls(w, token)).toEqual([
        `${mirrorUrl}geosite-cn.srs`,
        `${mirrorUrl}geoip-cn.srs`,
      ]),
  },
  refuses({ routing_preset: 'ir' }, 'geosite-category-ir.srs, geoip-ir.srs'),
  refuses({ routing_preset: 'ru', routing_ads: true }, 'geosite-category-ads-all.srs'),
  refuses({ routing_preset: 'ru' }, 'geosite-category-ru.srs, geoip-ru.srs', withoutFiles),
  {
    name: '400 for an address that lacks them',
    world: withFiles,
    request: () => save({ routing_preset: 'ru', ruleset_base_url: `${mirrorUrl}gone` }),
    status: 400,
    error: /^rule files can't be had: geosite-category-ru.srs, geoip-ru.srs$/,
  },
  {
    name: '200 with what is missing, and lists have no preset, where the files went',
    world: withoutFiles,
    given: async (w) => {
      const token = buyer(w)
      const plain = await w.call(`/sub/${token}`, { host: 'sub.test', headers: SFA })
      putSettings(w, { ROUTING_PRESET: 'ru' })
      const now = await w.call(`/sub/${token}`, { host: 'sub.test', headers: SFA })
      expect(now.text).toBe(plain.text)
    },
    request: { path: path('lists') },
    status: 200,
    effects: (_w, _given, { json }) =>
      expect(json.missing_rules).toEqual(['geosite-category-ru.srs', 'geoip-ru.srs']),
  },
])

scenarios('a preset of a group', [
  {
    name: '200 for one of its own, which its lists have before that of the settings',
    world: withFiles,
    given: (w) => {
      putSettings(w, { ROUTING_PRESET: 'ru' })
      addGroup(w, 'all', 'de1')
      const token = addUser(w, 7)
      addSubscription(w, 7, { node_group: 'all' })
      return token
    },
    request: {
      path: '/admin/api/node-groups/all',
      method: 'PATCH',
      body: { routing_preset: 'cn' },
    },
    status: 200,
    effects: async (w, token, { json }) => {
      expect(json.routing_preset).toBe('cn')
      expect(await ruleUrls(w, token)).toEqual(own('geosite-cn', 'geoip-cn'))
      const patch = (body: object) =>
        w.admin('/admin/api/node-groups/all', { method: 'PATCH', body })
      await patch({ routing_preset: 'off' })
      expect(await ruleUrls(w, token)).toEqual([])
      expect((await patch({ routing_preset: null })).json).not.toHaveProperty('routing_preset')
      expect(await ruleUrls(w, token)).toEqual(own('geosite-category-ru', 'geoip-ru'))
    },
  },
  {
    name: '400 for one whose files are not there',
    world: withFiles,
    given: (w) => addGroup(w, 'all', 'de1'),
    request: {
      path: '/admin/api/node-groups/all',
      method: 'PATCH',
      body: { routing_preset: 'ir' },
    },
    status: 400,
    error: /^rule files can't be had/,
  },
  {
    name: '400 for a country that there is none for',
    request: {
      path: '/admin/api/node-groups',
      body: { label: 'A', nodes: [], routing_preset: 'us' },
    },
    status: 400,
    error: 'routing_preset must be off, ru, ir or cn',
  },
])

scenarios('GET /sub/{token}: the header of a preset', [
  {
    name: '200 with it for Happ, and its links as without',
    world: withFiles,
    given: async (w) => {
      const token = buyer(w)
      const { text } = await w.call(`/sub/${token}`, { host: 'sub.test', headers: HAPP })
      putSettings(w, { ROUTING_PRESET: 'ru' })
      return { token, text }
    },
    request: ({ token }) => fetchAs(token, HAPP),
    status: 200,
    headers: { routing: /^happ:\/\/routing\/onadd\/[A-Za-z0-9+/=]+$/ },
    effects: (_w, given, answer) => expect(answer.text).toBe(given.text),
  },
  ...['v2rayNG/2.3.5', 'Streisand/1.6.4', 'clash-verge/v2.4.2'].map(
    (agent): Scenario => ({
      name: `200 without it for ${agent}`,
      world: withFiles,
      given: (w) => {
        putSettings(w, { ROUTING_PRESET: 'ru' })
        return buyer(w)
      },
      request: (token) => fetchAs(token, { 'user-agent': agent }),
      status: 200,
      headers: { routing: null },
    }),
  ),
])

const AGENTS = [
  'Happ/3.26.3',
  'v2raytun/ios',
  'v2rayNG/2.3.5',
  'clash-verge/v2.4.2',
  'HiddifyNext/2.5.7',
]
AGENTS.push('SFA/1.11.15 (sing-box 1.11.15)', 'SFA/1.14.1 (sing-box 1.14.1)', 'Karing/1.1.2')
const FORMATS = ['', ...LIST_FORMATS.map((format) => `?format=${format}`)]

/** Whatever the lists of somebody answer: bodies and headers. */
async function everyList(w: World, token: string): Promise<unknown[]> {
  const answers: unknown[] = []
  for (const agent of AGENTS) {
    for (const format of FORMATS) {
      const headers = { 'user-agent': agent }
      const answer = await w.call(`/sub/${token}${format}`, { host: 'sub.test', headers })
      answers.push([answer.text, Object.fromEntries(answer.headers)])
    }
  }
  return answers
}

scenarios('settings/lists: off and empty', [
  {
    name: '200, and every list is byte for byte as it was',
    world: withFiles,
    given: async (w) => {
      const token = buyer(w)
      return { token, before: await everyList(w, token) }
    },
    request: save({
      routing_preset: 'off',
      routing_ads: true,
      ruleset_base_url: 'https://rules.test/r',
      xray_json_agents: [],
    }),
    status: 200,
    effects: async (w, { token, before }) => expect(await everyList(w, token)).toEqual(before),
  },
])

const rule = (name: string, headers = {}) => ({ path: `/rules/${name}`, host: 'sub.test', headers })

scenarios('GET /rules/{name}', [
  {
    name: '200 with the file, which may be kept',
    world: withFiles,
    request: rule('geoip-ru.srs'),
    status: 200,
    headers: {
      'content-type': 'application/octet-stream',
      'cache-control': 'public, max-age=3600',
    },
    effects: (_w, _given, { text }) => expect(text).toBe('SRS\x01rules'),
  },
  ...['geoip-ir.srs', 'nothing.srs', '..%2Fsecret.srs', '..%2Frules%2Fgeoip-ru.srs'].map(
    (name): Scenario => ({
      name: `404 for ${name}, which is not there`,
      world: withFiles,
      request: rule(name),
      status: 404,
      error: 'not found',
    }),
  ),
])
