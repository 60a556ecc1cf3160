/** SSH host keys of managed nodes with a real sshd and the real service: pinned, refused, trusted, written to known_hosts. */
import { readFileSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import { fingerprintOf } from '#src/lib/host-key.ts'
import {
  type Area,
  createArea,
  PLAIN,
  ROOT,
  RUNTIMES,
  type Server,
} from '#test/support/drivers/process.ts'
import { createSshServer, SSH_USER, type SshServer } from '#test/support/labs/ssh-server.ts'

const PROGRAM = join(ROOT, 'templates/node-agent.sh')
const ANOTHER = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIDTC55uxBOGQeuSKIBl8ur1WHJyklQbO+Y1dWN6A78pG'

let area: Area
let sshd: SshServer
afterEach(async () => {
  await area?.close()
  await sshd?.close()
})

const knownHosts = () => join(area.dir, 'data/known_hosts')
const metrics = async (server: Server) => (await server.admin('/nodes/far/metrics')).json
const nodeOf = async (server: Server) =>
  (await server.admin('/nodes')).json.find((node: { code: string }) => node.code === 'far')
const prints = () => sshd.hostKeys().map(fingerprintOf)
const pin = (key: string | null) =>
  area.write("update nodes set host_key = ? where code = 'far'", key)

/** A server of the service with a managed node that nobody has met yet. */
async function startWithNode(runtime: 'node' | 'bun'): Promise<Server> {
  area = createArea({ ...PLAIN, ADMIN_TG_IDS: '501', SYNC_INTERVAL_MS: '3600000' })
  const server = await area.startServer({ runtime })
  const publicKey = (await server.call('/mgmt-pubkey.txt')).text.trim()
  sshd = await createSshServer(publicKey, `env SUBPANEL_NODE_DIR=$DIR/node bash ${PROGRAM}`)
  await sshd.start()
  area.write(
    `insert into nodes (code, label, kind, address, ssh_port, ssh_user, sort_order, created_at)
     values ('far', 'Far', 'managed', '127.0.0.1', ?, ?, 9, '2026-01-01T00:00:00')`,
    sshd.port,
    SSH_USER,
  )
  return server
}

async function renewHostKey() {
  await sshd.kill()
  sshd.renewHostKeys('ed25519')
  await sshd.start()
}

describe.each(RUNTIMES)('on %s', (runtime) => {
  test('a key is pinned on first use, another one refused until it is trusted', async () => {
    const server = await startWithNode(runtime)
    expect(await metrics(server)).toMatchObject({ ok: true, mem_total_mb: expect.any(Number) })
    const line = `[127.0.0.1]:${sshd.port} ${sshd.hostKeys()[0]}\n`
    expect(await nodeOf(server)).toMatchObject({ host_key: prints()[0], presented_host_key: null })
    expect(readFileSync(knownHosts(), 'utf8')).toBe(line)
    expect(statSync(knownHosts()).mode & 0o777).toBe(0o600)

    const [old] = prints()
    await renewHostKey()
    const refused = await metrics(server)
    expect(refused).toMatchObject({ ok: false, mem_total_mb: null })
    expect(refused.error).toContain(`presents another host key, ${prints()[0]}`)
    expect(await nodeOf(server)).toMatchObject({ host_key: old, presented_host_key: prints()[0] })
    expect(readFileSync(knownHosts(), 'utf8')).toBe(line)
    expect(area.query("select payload from outbox where kind = 'alert'")).toEqual([
      { payload: '{"about":"host-key-changed","node":"Far"}' },
    ])

    const trust = (fingerprint?: string) =>
      server.admin('/nodes/far/trust-host-key', { fingerprint })
    expect((await trust(old)).status).toBe(400)
    expect(await metrics(server)).toMatchObject({ ok: false })
    expect((await trust(prints()[0])).status).toBe(200)
    expect(await metrics(server)).toMatchObject({ ok: true })
    expect(readFileSync(knownHosts(), 'utf8')).toContain(sshd.hostKeys()[0])

    // A row that was put there by somebody else: the kept connection is not used any more either.
    const [key = null] = sshd.hostKeys()
    pin(ANOTHER)
    expect((await metrics(server)).error).toContain('presents another host key')
    pin('nonsense')
    expect(await metrics(server)).toMatchObject({ ok: false })
    expect(await nodeOf(server)).toMatchObject({ host_key: 'unreadable' })

    pin(key)
    await server.admin('/nodes/far', { address: 'localhost' }, { method: 'PATCH' })
    expect(readFileSync(knownHosts(), 'utf8')).toBe(`[localhost]:${sshd.port} ${key}\n`)
    rmSync(knownHosts())
    await server.stop()
    const again = await area.startServer({ runtime })
    expect(readFileSync(knownHosts(), 'utf8')).toBe(`[localhost]:${sshd.port} ${key}\n`)
    expect(statSync(knownHosts()).mode & 0o777).toBe(0o600)
    expect(await metrics(again)).toMatchObject({ ok: true })
  })
})

test('of two processes that meet a node at once one pins, both use it, and both follow what one trusts', async () => {
  const first = await startWithNode('node')
  const second = await area.startServer({ runtime: 'bun' })
  const both = () => Promise.all([metrics(first), metrics(second)])
  const ok = { ok: true }
  expect(await both()).toMatchObject([ok, ok])
  expect(await nodeOf(second)).toMatchObject({ host_key: prints()[0], presented_host_key: null })
  expect(sshd.logins()).toBe(2)
  await renewHostKey()
  expect(await both()).toMatchObject([{ ok: false }, { ok: false }])
  const [fingerprint] = prints()
  expect((await second.admin('/nodes/far/trust-host-key', { fingerprint })).status).toBe(200)
  expect(await metrics(second)).toMatchObject(ok)
  await new Promise((resolve) => setTimeout(resolve, 1000))
  expect(await metrics(first)).toMatchObject(ok)
})
