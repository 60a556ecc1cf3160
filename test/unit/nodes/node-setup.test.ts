/** What the panel makes of a server that is being set up, and of the keys that its console printed. */
import { describe, expect, test } from 'vitest'
import { lacksCore } from '#src/admin-ui/core-missing.ts'
import { printedKeys } from '#src/admin-ui/screens/nodes/printed-keys.ts'
import { type Kept, keptAt, lacksSsh, setupOf } from '#src/admin-ui/screens/nodes/setup-state.ts'
import { stoppedCore } from '#src/domain/nodes/sync/core-pass.ts'

const RSA = `SHA256:${'R'.repeat(43)}`
const ED = `SHA256:${'a+/'.repeat(14)}E`

test.each([
  ['a line of ssh-keygen', `256 ${ED} root@riga (ED25519)`, [ED]],
  [
    'all of its lines',
    `\n3072 ${RSA} no comment (RSA)\r\n256 ${ED} root@riga (ED25519)\n`,
    [RSA, ED],
  ],
  ['one fingerprint alone', ` ${ED}\n`, [ED]],
  ['nothing yet', ' \n', []],
])('%s is taken as printed', (_name, text, prints) => {
  expect(printedKeys(text)).toEqual(prints)
})

const WARNING = `@    WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED!     @
The fingerprint for the ED25519 key sent by the remote host is
${ED}.`

test.each([
  ['the warning of SSH', WARNING],
  ['its question', `ED25519 key fingerprint is ${ED}.`],
  ['its line of the key alone', `${ED}.`],
  ['a right line with others', `256 ${RSA} root@riga (ED25519)\n${WARNING}`],
  ['two fingerprints alone', `${RSA}\n${ED}`],
  ['a fingerprint that is cut off', ED.slice(0, -1)],
  ['a line with a word before it', `$ 256 ${ED} root@riga (ED25519)`],
])('%s is not taken as printed', (_name, text) => {
  expect(printedKeys(text)).toBe(null)
})

const NOW = Date.parse('2026-03-01T12:00:00Z')
const [PAST, LATER, LATEST] = ['2026-03-01T12:00:00', '2026-03-08T12:00:00', '2026-03-08T12:00:01']

const node = (more: Partial<Parameters<typeof setupOf>[0]>) => ({
  ...{ provisioning: null, provision_expires_at: null, status: 'active' as const },
  ...{ ssh_user: 'subpanel', last_error: null, last_seen_at: PAST, presented_host_key: null },
  ...more,
})

test.each([
  ['active', {}],
  ['registered', { last_seen_at: null }],
  ['unreachable', { last_error: 'any' }],
  ['none', { ssh_user: null }],
  ['waiting', { provisioning: 'again', provision_expires_at: LATER }],
  ['active', { provisioning: 'again', provision_expires_at: PAST }],
  ['failed', { provisioning: 'again', provision_expires_at: LATER, status: 'failed' }],
  ['waiting', { provisioning: 'again', provision_expires_at: LATER, status: 'pending' }],
  ['expired', { provisioning: 'again', provision_expires_at: PAST, status: 'pending' }],
  ['expired', { provisioning: 'first', provision_expires_at: PAST, status: 'pending' }],
] as const)('the setup is %s for %o', (setup, more) => {
  expect(setupOf(node(more), NOW)).toBe(setup)
})

describe('a command is kept until another one is given out', () => {
  test('the first one of a node: from when the node was seen', () => {
    const seen = keptAt({ command: 'one', end: null, before: null }, LATER)
    expect(seen).toEqual({ command: 'one', end: LATER, before: null })
    expect(keptAt(seen as Kept, LATER)).toBe(seen)
    expect(keptAt(seen as Kept, LATEST)).toBeUndefined()
    expect(keptAt(seen as Kept, null)).toBeUndefined()
  })

  test.each([
    ['another end before it', PAST],
    ['the same end before it, as of the same second', LATER],
    ['none before it', null],
  ])('one that was given out anew, with %s', (_name, before) => {
    const given = { command: 'two', end: LATER, before }
    if (before !== null) expect(keptAt(given, before)).toBeDefined()
    const seen = keptAt(given, LATER)
    expect(seen).toMatchObject({ command: 'two', end: LATER, before: null })
    expect(keptAt(seen as Kept, LATEST)).toBeUndefined()
    expect(keptAt(seen as Kept, PAST)).toBeUndefined()
  })
})

test('only what is no connection counts as a fault of SSH, and a lacking core as one', () => {
  const faults = [
    'no SSH connection to 192.0.2.1:22: ECONNREFUSED',
    stoppedCore('managed', null),
    stoppedCore('local', null),
    stoppedCore('managed', '26.7.28'),
  ].map((last_error) => ({ last_error }))
  expect(faults.map(lacksSsh)).toEqual([true, false, false, false])
  expect(faults.map(lacksCore)).toEqual([false, true, true, false])
})
