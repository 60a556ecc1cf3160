/** What a new database holds: one admin, four plans, the local node, the management key. Done once, under the start lock. */
import { countAdmins, insertAdmin } from '#db/admins.ts'
import { putManagementKey, readManagementKey } from '#db/management-key.ts'
import { insertNode, readNode, updateNode } from '#db/nodes.ts'
import { countPlans, insertPlans } from '#db/plans.ts'
import { putSetting } from '#db/settings.ts'
import { generatePassword } from '#src/domain/accounts/admins.ts'
import { isWeakPassword } from '#src/domain/accounts/new-password.ts'
import { generateRealityKeys } from '#src/domain/nodes/install/keys.ts'
import { LOCAL_NODE } from '#src/domain/nodes/local-node.ts'
import { generateWebhookSecret } from '#src/domain/notify/webhook-settings.ts'
import { readSettingsIn } from '#src/domain/settings.ts'
import { hashPassword } from '#src/lib/crypto.ts'
import { isWholeEd25519 } from '#src/lib/host-key.ts'
import { randomHex } from '#src/lib/random.ts'
import { formatTimestamp } from '#src/lib/time.ts'
import type { Services } from '#src/services.ts'

type Deps = Pick<Services, 'db' | 'clock' | 'config'>

const PLANS = [
  { code: '1m', label: '30 days', days: 30, price: 199, sortOrder: 1 },
  { code: '3m', label: '90 days', days: 90, price: 549, sortOrder: 2 },
  { code: '6m', label: '180 days', days: 180, price: 999, sortOrder: 3 },
  { code: '12m', label: '365 days', days: 365, price: 1799, sortOrder: 4 },
]

/** What a first start shows: the admin's password where it was generated, null where the operator gave it. */
export interface FirstStart {
  password: string | null
  /** Whether the operator's is easy to guess. */
  weak: boolean
}

/** Creates the account `admin` when there is none; null when there is one. */
export async function seedAdmin(s: Deps): Promise<FirstStart | null> {
  if ((await s.db.tx(countAdmins)) > 0) return null
  const username = 'admin'
  const generated = s.config.panelPassword === ''
  const password = generated ? generatePassword() : s.config.panelPassword
  const passwordHash = await hashPassword(password)
  const createdAt = formatTimestamp(s.clock.now())
  return s.db.tx(function* (tx) {
    if ((yield* countAdmins(tx)) > 0) return null
    yield* insertAdmin(tx, { username, passwordHash, createdAt })
    return generated
      ? { password, weak: false }
      : { password: null, weak: isWeakPassword(password, username) }
  })
}

export async function seedPlans(s: Deps): Promise<void> {
  await s.db.tx(function* (tx) {
    if ((yield* countPlans(tx)) === 0) yield* insertPlans(tx, PLANS)
  })
}

/**
 * Creates the local node on the first start and gives it the address and SNI of the settings on every one, where its core is on this machine. Its port is the
 * setting's, else what was chosen at first: 443, or 2053 when `canBind(443)` is false.
 */
export async function seedLocalNode(
  s: Deps,
  canBind: (port: number) => Promise<boolean>,
): Promise<void> {
  const { address, port, sni, on, elsewhere } = s.config.localNode
  const known = await s.db.read((q) => readNode(q, LOCAL_NODE))
  if (known && elsewhere) return
  if (known) {
    const changes = { address, sni, enabled: on, ...(port === null ? {} : { port }) }
    const same = Object.entries(changes).every(
      ([key, value]) => known[key as keyof typeof known] === value,
    )
    if (!same) await s.db.tx((tx) => updateNode(tx, LOCAL_NODE, changes))
    return
  }
  const chosen = port ?? ((await canBind(443)) ? 443 : 2053)
  const keys = await generateRealityKeys()
  const createdAt = formatTimestamp(s.clock.now())
  await s.db.tx((tx) =>
    insertNode(tx, {
      code: LOCAL_NODE,
      label: 'Local',
      kind: 'local',
      address,
      port: chosen,
      sni,
      enabled: on || elsewhere,
      shortId: randomHex(8),
      createdAt,
      ...keys,
    }),
  )
}

/**
 * Stores the key pair with which nodes are managed, made by `generate` on the first start. A cut one, which versions before
 * this check made of 1 in 256 pairs, never opened a node: another takes its place.
 */
export async function seedManagementKey(
  s: Deps,
  generate: () => Promise<{ privateKey: string; publicKey: string }>,
): Promise<void> {
  const known = await s.db.read(readManagementKey)
  if (known && isWholeEd25519(known.publicKey)) return
  const key = await generate()
  const createdAt = formatTimestamp(s.clock.now())
  await s.db.tx((tx) => putManagementKey(tx, { id: 1, ...key, createdAt }))
}

/** Generates WEBHOOK_SECRET when the webhook's URL comes from the environment and no secret does. */
export async function seedWebhookSecret(s: Deps): Promise<void> {
  await s.db.tx(function* (tx) {
    const settings = yield* readSettingsIn(tx, s)
    if (settings.text('WEBHOOK_URL') === '' || settings.text('WEBHOOK_SECRET') !== '') return
    yield* putSetting(tx, 'WEBHOOK_SECRET', generateWebhookSecret())
  })
}
