/** What the service itself has stored, whatever it was told and by which version, comes back from its backup. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { addSample } from '#db/traffic.ts'
import { admitHostKey } from '#src/domain/nodes/host-keys.ts'
import { noteOrphan } from '#src/domain/payments/orphans.ts'
import { nodeProgram } from '#src/integrations/nodes/program.ts'
import { hostKeyOf } from '#src/lib/host-key.ts'
import { restoreInto } from '#test/support/calls/restores.ts'
import {
  addNode,
  addPayment,
  addSubscription,
  addUser,
  inSeconds,
} from '#test/support/rows/records.ts'
import { createFileWorld, type FileWorld } from '#test/support/worlds/file-world.ts'
import { PASSWORD } from '#test/support/worlds/world.ts'

let w: FileWorld
beforeEach(async () => {
  w = await createFileWorld()
})

afterEach(() => w.close())

const backup = async () => (await w.admin('/admin/api/backup')).bytes

/** Restores the world's own backup; gives rows as they are before and after it. */
async function throughBackup(query: string) {
  const before = w.rows(query)
  await restoreInto(w, await backup())
  return [before, w.rows(query)]
}

describe('a backup that can be restored', () => {
  test.each([
    ['Stars, which have no fraction', 'stars', '250', 'XTR'],
    ['a shop that states fractions', 'provider_a', '199.00', 'RUB'],
    ['a provider with long words', 'provider_a', '1.00', 'x'.repeat(1000)],
  ] as const)('has an orphan of %s', async (_of, provider, amount, currency) => {
    await noteOrphan(w.s, { provider, externalId: 'stx_a/b+c==', amount, currency })
    const [before, after] = await throughBackup('select amount, currency from orphan_payments')
    expect(before).toEqual([{ amount, currency }])
    expect(after).toEqual(before)
  })

  test('has a payment by what Telegram calls it', async () => {
    addPayment(w, { provider: 'stars', external_id: 'stx/+=~!' })
    const [before, after] = await throughBackup('select external_id from payments')
    expect(after).toEqual(before)
  })

  test('has a guest, with when they came', async () => {
    w.change("insert into sequences (name, last) values ('customers', 5)")
    addUser(w, -5, { guest_at: '2026-01-02T03:04:05' })
    const [before, after] = await throughBackup('select tg_id, guest_at from users')
    expect(before).toEqual([{ tg_id: -5, guest_at: '2026-01-02T03:04:05' }])
    expect(after).toEqual(before)
  })

  test('has an admin who was given a name that NFKC makes longer', async () => {
    const body = { username: 'a\u00a8bc', password: PASSWORD }
    expect((await w.admin('/admin/api/admins', { body })).json.username).toBe('a \u0308bc')
    const [before, after] = await throughBackup('select username from admins')
    expect(after).toEqual(before)
  })

  test.each([
    ['of one character', 'é'],
    ['that begins with a space', ' \u0308abc'],
    ['that begins with a mark', '\u0308abc'],
    ['of 4608 characters', 'x'.repeat(18 * 256)],
  ])('has an admin whose name an earlier version stored: %s', async (_what, name) => {
    w.change(
      "insert into admins (username, password_hash, created_at) select ?, password_hash, created_at from admins where username = 'admin'",
      name,
    )
    w.change(
      "insert into audit_log (at, admin, ip, action) values (?, ?, '::1', 'login')",
      inSeconds(w, -5),
      name,
    )
    const [before, after] = await throughBackup('select username from admins')
    expect(after).toEqual(before)
  })

  test('has a plan behind one at the last place', async () => {
    const plan = (code: string, more: object = {}) =>
      w.admin('/admin/api/plans', { body: { code, label: 'x', days: 1, price: 1, ...more } })
    await plan('last', { sort_order: 1_000_000 })
    expect((await plan('later')).json.sort_order).toBe(1_000_000)
    // As earlier versions stored it.
    w.change("update plans set sort_order = 1000001 where code = 'later'")
    const [before, after] = await throughBackup('select code, sort_order from plans')
    expect(after).toEqual(before)
  })

  test('has the traffic of a node that says anything', async () => {
    await w.s.db.tx((tx) => addSample(tx, 'de1', '2026-02-28', 2 ** 60, 2 ** 62))
    const [before, after] = await throughBackup('select up, down from traffic_samples')
    expect(before).toEqual([{ up: 2 ** 53 - 1, down: 2 ** 53 - 1 }])
    expect(after).toEqual(before)
  })
})

describe('a backup after a node has said the largest that it can', () => {
  const BYTES = Number.MAX_SAFE_INTEGER
  const TEXT = '"'.repeat(200)
  const STATUS = {
    ...{ ok: true, owner: TEXT, config: '', clients: '', count: BYTES, live: false },
    ...{ program: 2, reading: '0', counters: [] as unknown[], hysteria: null as unknown },
    core: { up: true, version: TEXT as string | null, uptime_s: 1e308, epoch: TEXT },
  }
  const STORED =
    "select program, core_version, last_error is null as sound from nodes where code = 'nl1'"
  const READING = "select reading from readings where core = 'nl1'"
  const GARBAGE = 'the node program\'s answer to "status" is not understood'

  /** A pass over a node that answers so; gives what it has stored, before and after a restore of its backup. */
  async function afterSaying(answer: (uuid: string) => object, query = STORED) {
    addUser(w, 7)
    addNode(w, 'nl1', { kind: 'managed', last_seen_at: inSeconds(w, -60) })
    const uuid = addSubscription(w, 7, { node: 'nl1' })
    const text = JSON.stringify({ ...STATUS, ...answer(uuid) })
    const node = w.remote('nl1')
    const { status } = nodeProgram(async () => text, '')
    node.program.status = status
    for (let pass = 0; pass < 3; pass++) {
      await w.s.nodeSync.syncAll({ force: false, remove: true, only: ['nl1'] })
    }
    return throughBackup(query)
  }

  test.each([
    ['program', { program: 1000 }, { program: 1000, core_version: TEXT }],
    ['version', {}, { program: 2, core_version: TEXT }],
    ['program, which is the former one', { program: undefined }, { program: 1 }],
  ])('as its %s', async (_what, said, stored) => {
    const [before, after] = await afterSaying(() => said)
    expect(before).toMatchObject([stored])
    expect(after).toEqual(before)
  })

  test.each([
    ['program', { program: BYTES }],
    ['program, too large by one', { program: 1001 }],
    ['program, which is none', { program: 0 }],
    ['reading, which is no word', { reading: TEXT }],
    ['reading of two words', { reading: 'a b' }],
    ['version, too long', { core: { ...STATUS.core, version: `${TEXT}x` } }],
    ['run, too long', { core: { ...STATUS.core, epoch: `${TEXT}x` } }],
    ['bytes', { counters: [['00000000-0000-4000-8000-000000000001', 2 ** 53, 0]] }],
  ])('as its %s, which is garbage', async (_what, said) => {
    const query = "select program, core_version, last_error from nodes where code = 'nl1'"
    const [before, after] = await afterSaying(() => said, query)
    expect(before).toEqual([{ program: null, core_version: null, last_error: GARBAGE }])
    expect(after).toEqual(before)
    expect(w.rows(READING)).toEqual([])
  })

  test('as its reading', async () => {
    const reading = '.:_-'.repeat(50)
    const [before, after] = await afterSaying(() => ({ reading }), READING)
    expect(before).toEqual([{ reading }])
    expect(after).toEqual(before)
  })

  test('as the traffic of both cores', async () => {
    const most = 2 ** 50
    const query = `select core, epoch, c.up, c.down, up_bytes, s.up as day_up from counters as c
      join subscriptions using (uuid), traffic_samples as s order by core`
    const [before, after] = await afterSaying((uuid) => {
      const counters = [[uuid, most, most]]
      return { counters, hysteria: { config: '', up: true, epoch: TEXT, counters } }
    }, query)
    const counted = { epoch: TEXT, up: most, down: most, up_bytes: 2 * most, day_up: 2 * most }
    expect(before).toEqual([
      { core: 'nl1', ...counted },
      { core: 'nl1/hysteria', ...counted },
    ])
    expect(after).toEqual(before)
  })

  test('as the reason of a refusal', async () => {
    const bait = '\u001b\u0000\ud800\u202e"'.repeat(200)
    const query = "select length(last_error) as n from nodes where code = 'nl1'"
    const [before, after] = await afterSaying(
      () => ({ ok: false, error: bait.slice(0, 200), message: bait }),
      query,
    )
    expect(before?.[0].n).toBeGreaterThan(300)
    expect(after).toEqual(before)
  })

  test('as its host key', async () => {
    addNode(w, 'nl1', { kind: 'managed', host_key: 'ssh-ed25519 AAAA' })
    // What an SSH packet can carry (RFC 4253, section 6.1).
    const blob = Buffer.alloc(35_000)
    expect(await admitHostKey(w.s, 'nl1', hostKeyOf(blob))).toBe(false)
    const [before, after] = await throughBackup('select presented_host_key from nodes')
    expect(after).toEqual(before)
  })
})
