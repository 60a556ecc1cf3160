import { createHash } from 'node:crypto'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import type { Core } from '#src/ports/cores.ts'
import { ACTIVE, guided, installed, nodeOf, register } from '#test/support/calls/provisioning.ts'
import { createFakeNode } from '#test/support/fakes/node.ts'
import { addNode } from '#test/support/rows/records.ts'
import { type Scenario, scenarios } from '#test/support/worlds/scenario.ts'
import { createWorld, type World } from '#test/support/worlds/world.ts'

const DAY_MS = 86_400_000

/** A program's header for a machine, with some bytes behind it. */
function program(machine: number, text: string): Buffer {
  const header = Buffer.alloc(64)
  header.write('\x7fELF\x02\x01')
  header.writeUInt16LE(machine, 18)
  return Buffer.concat([header, Buffer.from(text)])
}

const coresDir = mkdtempSync(join(tmpdir(), 'install-cores-'))
afterAll(() => rmSync(coresDir, { recursive: true }))
const XRAY = program(62, 'xray for amd64'.repeat(50_000))
const FOREIGN = program(183, 'xray for arm64')
mkdirSync(join(coresDir, 'amd64'))
mkdirSync(join(coresDir, 'arm64'))
writeFileSync(join(coresDir, 'amd64/xray'), XRAY)
writeFileSync(join(coresDir, 'arm64/xray'), FOREIGN)
writeFileSync(join(coresDir, 'arm64/hysteria'), XRAY)
const environment = { CORES_DIR: coresDir, XRAY_BIN: '', HYSTERIA_BIN: '' }

const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex')

/** The value of a variable of the script, as a shell would have it. */
const variableOf = (script: string, name: string) =>
  new RegExp(`\\b${name}='([^']*)'`).exec(script)?.[1]

const textOf = (script: string, name: string) =>
  Buffer.from(variableOf(script, name) ?? '', 'base64').toString()

const unknown = (name: string, given: (w: World) => unknown): Scenario[] =>
  [
    (token: string) => ({ path: `/install/${token}.sh` }),
    (token: string) => ({ path: `/install/${token}/core/xray?arch=amd64` }),
    (token: string) => register(token, ACTIVE),
  ].map((request) => ({
    name: `404 for ${name}: ${request('TOKEN').path}`,
    world: { environment },
    given,
    request: (token: string) => request(token),
    status: 404,
    body: { error: 'not found' },
    headers: { 'cache-control': 'private, no-store' },
  }))

scenarios('the token of an install command', [
  ...unknown('an unknown one', () => 'x'.repeat(43)),
  ...unknown('an empty column', (w) => {
    addNode(w, 'nl', { kind: 'managed' })
    return 'null'
  }),
  ...unknown('one of 7 days that nobody used', async (w) => {
    const token = await guided(w)
    w.clock.advance(7 * DAY_MS)
    return token
  }),
  ...unknown('one of a day after the activation', async (w) => {
    const token = await installed(w)
    w.clock.advance(DAY_MS)
    return token
  }),
  ...unknown('one that was given out anew', async (w) => {
    const token = await installed(w)
    await w.admin('/admin/api/nodes/nl/provision', { method: 'POST' })
    return token
  }),
  ...unknown('one of a node that was deleted', async (w) => {
    const token = await guided(w)
    await w.admin('/admin/api/nodes/nl', { method: 'DELETE' })
    return token
  }),
])

scenarios('GET /install/{token}.sh', [
  {
    name: '200 with the script of the node and the digests of the files that the panel has',
    world: { environment },
    given: guided,
    request: (token) => ({ path: `/install/${token}.sh` }),
    status: 200,
    headers: {
      'content-type': 'text/plain; charset=utf-8',
      'cache-control': 'private, no-store',
    },
    effects: (w, token, { text }) => {
      expect(text.split('\n').at(0)).toBe('#!/usr/bin/env bash')
      expect(text.trimEnd().split('\n').at(-1)).toBe('main "$@" </dev/null')
      expect(text).not.toContain('{{')
      expect(variableOf(text, 'PANEL_URL')).toBe('https://panel.test')
      expect(variableOf(text, 'TOKEN')).toBe(token)
      expect(variableOf(text, 'CODE')).toBe('nl')
      expect(variableOf(text, 'OWNER')).toBe(w.s.instanceId())
      expect(variableOf(text, 'PORTS')).toBe('443/tcp 8443/tcp 443/udp')
      expect(variableOf(text, 'PINNED')).toBe('ws hysteria2')
      expect(variableOf(text, 'FRESH')).toBe('yes')
      expect(variableOf(text, 'MANAGEMENT_KEY')).toBe('ssh-ed25519 AAAA subpanel')
      expect(variableOf(text, 'XRAY_AMD64')).toBe(sha256(XRAY))
      expect(variableOf(text, 'XRAY_ARM64')).toBe(sha256(FOREIGN))
      expect(variableOf(text, 'HYSTERIA_AMD64')).toBe('')
      // A file for another machine than its folder says.
      expect(variableOf(text, 'HYSTERIA_ARM64')).toBe('')
      expect(textOf(text, 'XRAY_PARAMS')).toContain('\nport 8443\n')
      expect(textOf(text, 'XRAY_PARAMS')).toContain(nodeOf(w).private_key)
      expect(textOf(text, 'HYSTERIA_PARAMS')).toContain(nodeOf(w).hysteria_obfs_password)
      expect(textOf(text, 'AGENT')).toMatch(/^#!\/usr\/bin\/env bash\n/)
    },
  },
  {
    name: '200 that waits for XHTTP where the node is by now, not on the port of its guide',
    given: async (w) => {
      const token = await guided(w, {
        include_ws: false,
        include_hysteria2: false,
        include_xhttp: true,
      })
      w.change('update nodes set port = 8443 where provision_token is not null')
      return token
    },
    request: (token) => ({ path: `/install/${token}.sh` }),
    status: 200,
    effects: (_w, _token, { text }) => expect(variableOf(text, 'PORTS')).toBe('8443/tcp'),
  },
  {
    name: '200 without Hysteria for a node that has none',
    given: (w) => guided(w, { include_ws: false, include_hysteria2: false }),
    request: (token) => ({ path: `/install/${token}.sh` }),
    status: 200,
    effects: (_w, _token, { text }) => {
      expect(variableOf(text, 'HYSTERIA_PARAMS')).toBe('')
      expect(variableOf(text, 'PINNED')).toBe('')
      expect(variableOf(text, 'PORTS')).toBe('443/tcp')
    },
  },
  {
    name: '200 with the same configuration once the node is active, so that nothing starts anew',
    given: async (w) => {
      const token = await guided(w)
      const { text } = await w.call(`/install/${token}.sh`)
      await w.call(register(token).path, { method: 'POST', body: ACTIVE })
      return { token, text }
    },
    request: ({ token }) => ({ path: `/install/${token}.sh` }),
    status: 200,
    effects: (_w, before, { text }) => {
      expect(variableOf(text, 'FRESH')).toBe('')
      for (const name of ['XRAY_PARAMS', 'HYSTERIA_PARAMS', 'AGENT']) {
        expect(variableOf(text, name)).toBe(variableOf(before.text, name))
      }
    },
  },
  {
    name: '200 with the digest of a file that was replaced',
    world: { environment: { ...environment, XRAY_BIN: join(coresDir, 'own') } },
    given: async (w) => {
      const token = await guided(w)
      writeFileSync(join(coresDir, 'own'), program(62, 'one'))
      await w.call(`/install/${token}.sh`)
      writeFileSync(join(coresDir, 'own'), program(62, 'another'))
      return token
    },
    request: (token) => ({ path: `/install/${token}.sh` }),
    status: 200,
    effects: (_w, _token, { text }) =>
      expect(variableOf(text, 'XRAY_AMD64')).toBe(sha256(program(62, 'another'))),
  },
  {
    name: '404 without the ending',
    given: guided,
    request: (token) => ({ path: `/install/${token}` }),
    status: 404,
    error: 'not found',
  },
])

test('the counters of an active node are read before its script is handed out, those of a pending one not', async () => {
  const w = await createWorld()
  const token = await guided(w)
  const node = createFakeNode()
  const core: Core = { name: 'nl', program: node.program, known: null }
  const { of } = w.s.cores
  w.s.cores.of = (row) => (row.code === 'nl' && row.status === 'active' ? core : of(row))
  await w.call(`/install/${token}.sh`)
  expect(node.calls).toEqual([])
  await w.call(register(token).path, { method: 'POST', body: ACTIVE })
  await w.s.background.idle()
  node.calls.length = 0
  await w.call(`/install/${token}.sh`)
  expect(node.calls.map(({ verb }) => verb)).toEqual(['status'])
  node.failure = 'unreachable'
  expect((await w.call(`/install/${token}.sh`)).status).toBe(200)
  w.close()
})

const file = (path: string) => (token: string) => ({ path: `/install/${token}/core/${path}` })

scenarios(
  'GET /install/{token}/core/{program}',
  [
    {
      name: '200 with the whole file',
      given: guided,
      request: file('xray?arch=amd64'),
      status: 200,
      headers: {
        'content-type': 'application/octet-stream',
        'content-length': String(XRAY.length),
        'cache-control': 'private, no-store',
      },
      effects: (_w, _token, { bytes }) => expect(sha256(bytes)).toBe(sha256(XRAY)),
    },
    {
      name: '200 with the file for another machine',
      given: guided,
      request: file('xray?arch=arm64'),
      status: 200,
      effects: (_w, _token, { bytes }) => expect(sha256(bytes)).toBe(sha256(FOREIGN)),
    },
    ...['xray', 'xray?arch=mips', 'xray?arch=', 'xray?arch=../amd64'].map(
      (path): Scenario => ({
        name: `400 for ${path}`,
        given: guided,
        request: file(path),
        status: 400,
        error: /^arch /,
      }),
    ),
    ...[
      ...['hysteria?arch=amd64', 'hysteria?arch=arm64', 'SHA256SUMS?arch=amd64', '?arch=amd64'],
      ...['..%2f..%2fpanel.db?arch=amd64', '%2e%2e/xray?arch=amd64', 'xray%00?arch=amd64'],
      ...['XRAY?arch=amd64', 'constructor?arch=amd64'],
    ].map(
      (path): Scenario => ({
        name: `404 for ${path}`,
        given: guided,
        request: file(path),
        status: 404,
        error: 'not found',
      }),
    ),
  ],
  { environment },
)
