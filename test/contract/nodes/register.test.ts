import { execFileSync } from 'node:child_process'
import { expect } from 'vitest'
import { recordHealth } from '#db/nodes.ts'
import { CERT_PEM } from '#test/fixtures/lists/samples.ts'
import {
  ACTIVE,
  guided,
  HOST_KEY,
  installed,
  nodeOf,
  register,
} from '#test/support/calls/provisioning.ts'
import { addNode, auditOf, nowOf, putSettings } from '#test/support/rows/records.ts'
import { type Scenario, scenarios } from '#test/support/worlds/scenario.ts'

/** A certificate in one line, as long as a report takes. */
const LONG_CERT = execFileSync(
  'openssl',
  [
    ...'req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout /dev/null'.split(
      ' ',
    ),
    ...['-subj', '/CN=x', '-addext', `nsComment=${'x'.repeat(11_750)}`],
  ],
  { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] },
).replace(/(?<=[\w+/=])\n(?!-)/g, '')

const ANOTHER_KEY =
  'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIDTC55uxBOGQeuSKIBl8ur1WHJyklQbO+Y1dWN6A78pG'

scenarios('POST /nodes/register/{token}', [
  {
    name: '200 and the node is active, enabled, with what it reported',
    given: guided,
    request: (token) => register(token, ACTIVE),
    status: 200,
    body: { ok: true },
    effects: async (w) => {
      const pinned = (type: string) => ({ type, cert: CERT_PEM })
      expect(nodeOf(w)).toMatchObject({
        status: 'active',
        enabled: 1,
        provisioning: null,
        provision_expires_at: '2026-03-02T12:00:00',
        core_version: '26.7.28',
        ssh_port: 2222,
        ssh_user: 'subpanel',
        host_key: HOST_KEY,
        last_error: null,
        transports_json: [pinned('ws'), pinned('hysteria2')],
      })
      expect(w.knownHosts()).toBe(`[nl.test]:2222 ${HOST_KEY}\n`)
      expect(auditOf(w)).toEqual(['node.provision', 'node.register'])
      expect((await w.admin('/admin/api/nodes/nl/status')).json).toEqual({
        status: 'active',
        enabled: true,
      })
    },
  },
  {
    name: '200 and the node that had this server before is given up',
    given: async (w) => {
      await installed(w)
      putSettings(w, { ADMIN_TG_IDS: '7' })
      return guided(w, { label: 'second' })
    },
    request: (token) => register(token, ACTIVE),
    status: 200,
    body: { ok: true },
    effects: async (w) => {
      await w.s.background.idle()
      expect(
        w.rows('select code, status from nodes where kind = ? order by code', 'managed'),
      ).toEqual([
        { code: 'nl', status: 'pending' },
        { code: 'second', status: 'active' },
      ])
      expect(nodeOf(w)).toMatchObject({
        last_error: expect.stringContaining('its server became another node'),
        last_seen_at: null,
      })
      expect(w.rows("select object, detail from audit_log where action = 'node.give-up'")).toEqual([
        { object: 'nl', detail: 'node=second' },
      ])
      const alert = { about: 'server-taken', node: 'nl', other: 'second' }
      expect(
        w
          .rows("select payload from outbox where kind = 'alert'")
          .map((row) => JSON.parse(row.payload)),
      ).toEqual([expect.objectContaining(alert)])
      // What a pass that was under way learned of it does not bring it back.
      await recordHealth(w.s.db, ['nl', 'second'], { lastSeenAt: nowOf(w), lastError: null })
      expect(
        w.rows(
          "select code from nodes where kind = 'managed' and last_error is null and last_seen_at = ?",
          nowOf(w),
        ),
      ).toEqual([{ code: 'second' }])
    },
  },
  {
    name: '400 for a server that is known as another node at another place, which stays as it is',
    given: async (w) => {
      await installed(w)
      return guided(w, { label: 'second', address: 'relay.test' })
    },
    request: (token) => register(token, ACTIVE),
    status: 400,
    error: /^this server has an SSH host key of the node nl, which is at /,
  },
  {
    name: '400 for such a server, also where the first node of these keys is at its own place',
    given: async (w) => {
      addNode(w, 'here', {
        ...{ kind: 'managed', address: 'relay.test', ssh_port: 2222, host_key: ANOTHER_KEY },
      })
      await installed(w)
      return guided(w, { label: 'second', address: 'relay.test' })
    },
    request: (token) => register(token, { ...ACTIVE, host_keys: [ANOTHER_KEY, HOST_KEY] }),
    status: 400,
    error: /^this server has an SSH host key of the node nl, which is at /,
  },
  {
    name: '200 and a node behind the same address stays, whose key is another',
    given: async (w) => {
      await installed(w)
      return guided(w, { label: 'second' })
    },
    request: (token) => register(token, { ...ACTIVE, host_keys: [ANOTHER_KEY] }),
    status: 200,
    body: { ok: true },
    effects: (w) => expect(nodeOf(w).status).toBe('active'),
  },
  {
    name: '200 and active with the status alone',
    given: guided,
    request: (token) => register(token, { status: 'active' }),
    status: 200,
    body: { ok: true },
    effects: (w) =>
      expect(nodeOf(w)).toMatchObject({
        status: 'active',
        enabled: 1,
        host_key: null,
        ssh_port: 22,
      }),
  },
  {
    name: '200 and failed with the step and the reason, in printable characters',
    given: guided,
    request: (token) =>
      register(token, { status: 'failed', step: 'packages', reason: 'no\nnetwork \u202e' }),
    status: 200,
    body: { ok: true },
    effects: (w) => {
      expect(nodeOf(w)).toMatchObject({
        status: 'failed',
        enabled: 0,
        provisioning: 'first',
        last_error: 'the install script failed at the step "packages": no network  ',
      })
      expect(auditOf(w)).toEqual(['node.provision', 'node.register-failed'])
    },
  },
  {
    name: '200 and active after a failure',
    given: async (w) => {
      const token = await guided(w)
      await w.call(register(token).path, { method: 'POST', body: { status: 'failed' } })
      return token
    },
    request: (token) => register(token, ACTIVE),
    status: 200,
    effects: (w) =>
      expect(nodeOf(w)).toMatchObject({ status: 'active', enabled: 1, last_error: null }),
  },
  ...[
    undefined,
    {},
    { status: 'pending' },
    { status: 'ACTIVE' },
    { status: 1 },
    { status: null },
  ].map(
    (body): Scenario => ({
      name: `200 and nothing changed for ${JSON.stringify(body)}`,
      given: guided,
      request: (token) => register(token, body),
      status: 200,
      body: { ok: true },
      effects: (w) => expect(nodeOf(w)).toMatchObject({ status: 'pending', enabled: 0 }),
    }),
  ),
  ...['{', '[]', '"active"', 'null', 'status=active', '\xff'].map(
    (raw): Scenario => ({
      name: `200 and nothing changed for the body ${JSON.stringify(raw)}`,
      given: guided,
      request: (token) => ({ ...register(token), raw: Buffer.from(raw, 'latin1') }),
      status: 200,
      body: { ok: true },
      effects: (w) => expect(nodeOf(w).status).toBe('pending'),
    }),
  ),
  ...(
    [
      [{ host_keys: ['ssh-ed25519 AAAA'] }, /^host_keys\.0 /],
      [{ host_keys: [`${HOST_KEY}\nssh-rsa x`, 7] }, /^host_keys\.1 /],
      [{ host_keys: HOST_KEY }, /^host_keys /],
      [{ host_keys: Array(21).fill(HOST_KEY) }, /^host_keys /],
      [{ ssh_port: 0 }, /^ssh_port /],
      [{ ssh_port: '22' }, /^ssh_port /],
      [{ core: '26.7.28; reboot' }, /^core /],
      [{ arch: 'mips' }, /^arch /],
      [{ transports: [{ type: 'ws', cert: 'no certificate' }] }, /^transports\.0\.cert /],
      [
        { transports: [{ type: 'ws', cert: CERT_PEM.replace('MII', 'AII') }] },
        /^transports\.0\.cert /,
      ],
      // Broken into lines it is longer than a restore takes.
      [{ transports: [{ type: 'ws', cert: LONG_CERT }] }, /^transports\.0\.cert /],
      [{ transports: [{ type: 'grpc', cert: CERT_PEM }] }, /^transports\.0\.type /],
    ] as const
  ).map(
    ([more, error]): Scenario => ({
      name: `400 for ${JSON.stringify(more).slice(0, 80)}`,
      given: guided,
      request: (token) => register(token, { ...ACTIVE, ...more }),
      status: 400,
      error,
    }),
  ),
  {
    name: '413 for a body that is too large',
    given: guided,
    request: (token) => register(token, { ...ACTIVE, padding: 'x'.repeat(66_000) }),
    status: 413,
    error: 'request body too large',
  },
])
