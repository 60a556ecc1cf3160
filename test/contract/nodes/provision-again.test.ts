/** The guide of a node that is there already. */
import { expect } from 'vitest'
import { type Alert, alertText } from '#src/domain/notify/alert-texts.ts'
import { rowOf } from '#test/support/rows/provisioned-rows.ts'
import { addNode, auditOf, putSettings } from '#test/support/rows/records.ts'
import { scenarios } from '#test/support/worlds/scenario.ts'
import type { World } from '#test/support/worlds/world.ts'

const GUIDE = '/admin/api/nodes/provision-guide'
const NEW = { label: 'Amsterdam', address: 'ams.test' }

const COMMAND =
  /^command -v curl >\/dev\/null \|\| \{ apt-get update -q; apt-get install -yq --no-install-recommends curl ca-certificates; \} <\/dev\/null; echo 'url=https:\/\/panel\.test\/install\/([\w-]{43})\.sh' \| curl -fsSLK- \| bash$/

const again = (code: string) => ({ path: `/admin/api/nodes/${code}/provision`, method: 'POST' })

const managed =
  (more: Record<string, string | number | null> = {}) =>
  (w: World) =>
    addNode(w, 'nl', { kind: 'managed', private_key: 'K'.repeat(43), ...more })

scenarios('POST /admin/api/nodes/{code}/provision', [
  {
    name: '200 with a new command for a pending node, and the old token stops',
    given: async (w) => {
      putSettings(w, { ADMIN_TG_IDS: '501' })
      return (await w.admin(GUIDE, { body: NEW })).json.command
    },
    request: again('amsterdam'),
    status: 200,
    effects: async (w, before, { json }) => {
      expect(w.rows('select payload from outbox')).toEqual([])
      const [old, fresh] = [before, json.command].map((text) => COMMAND.exec(text)?.[1] ?? '')
      expect(old).not.toBe(fresh)
      expect((await w.call(`/install/${old}.sh`)).status).toBe(404)
      expect((await w.call(`/install/${fresh}.sh`)).status).toBe(200)
      expect(rowOf(w, 'amsterdam')).toMatchObject({
        status: 'pending',
        provisioning: 'first',
        provision_expires_at: json.provision_expires_at,
      })
      expect(auditOf(w)).toEqual(['node.provision', 'node.provision'])
    },
  },
  {
    name: '200 for a node that is active without keys of ours, and nobody is told',
    given: (w) => {
      putSettings(w, { ADMIN_TG_IDS: '501' })
      managed({ private_key: '' })(w)
    },
    request: again('nl'),
    status: 200,
    effects: (w) => expect(w.rows('select payload from outbox')).toEqual([]),
  },
  {
    name: '200 for an active node, whose keys go out again, which is told',
    given: (w) => {
      putSettings(w, { ADMIN_TG_IDS: '501' })
      managed()(w)
    },
    request: again('nl'),
    status: 200,
    effects: (w) => {
      const [row] = w.rows('select tg_id, payload from outbox')
      const by = { admin: 'admin', ip: '127.0.0.1' }
      const alert = { about: 'command-reissued', node: 'Label of nl', ...by }
      expect([row.tg_id, JSON.parse(row.payload)]).toEqual([501, alert])
      for (const lang of ['en', 'ru'] as const) {
        expect(alertText(lang, alert as Alert)).toContain('<b>Label of nl</b>')
      }
    },
  },
  {
    name: '200 for an active node, which stays as it is',
    given: managed({ ssh_port: 2222, core_version: '26.7.28' }),
    request: again('nl'),
    status: 200,
    effects: (w) =>
      expect(rowOf(w, 'nl')).toMatchObject({
        status: 'active',
        enabled: 1,
        provisioning: 'again',
        private_key: 'K'.repeat(43),
        public_key: 'P'.repeat(43),
        short_id: 'ab12',
        sni: 'sni.test',
        ssh_port: 2222,
        core_version: '26.7.28',
      }),
  },
  {
    name: '200 for a node whose set-up again has failed, which waits for the new command',
    given: managed({
      status: 'failed',
      provisioning: 'again',
      last_error: 'the install script failed',
    }),
    request: again('nl'),
    status: 200,
    effects: (w) =>
      expect(rowOf(w, 'nl')).toMatchObject({
        status: 'pending',
        provisioning: 'again',
        last_error: null,
        enabled: 1,
      }),
  },
  {
    name: '200 for a node made by hand, which gets what it lacks',
    given: managed({ private_key: '', short_id: 'not hex', flow: 'other', sni: '', enabled: 0 }),
    request: again('nl'),
    status: 200,
    effects: (w) => {
      const row = rowOf(w, 'nl')
      expect(row).toMatchObject({ sni: 'dl.google.com', flow: 'xtls-rprx-vision', enabled: 0 })
      expect(row.private_key).toMatch(/^[\w-]{43}$/)
      expect(row.public_key).not.toBe('P'.repeat(43))
      expect(row.short_id).toMatch(/^[0-9a-f]{16}$/)
    },
  },
  {
    name: '404 for an unknown node',
    request: again('nowhere'),
    status: 404,
    error: 'node not found',
  },
  {
    name: '400 for the local node',
    request: again('de1'),
    status: 400,
    error: 'only a managed node is set up by a command',
  },
  {
    name: '400 for an external node',
    given: (w) => addNode(w, 'ext'),
    request: again('ext'),
    status: 400,
    error: 'only a managed node is set up by a command',
  },
  {
    name: '400 for a node whose SNI can be no name of a certificate',
    given: managed({ sni: "x';reboot" }),
    request: again('nl'),
    status: 400,
    error: 'sni must be a host name',
  },
])
