/** The key of node management that an installation keeps: GET /mgmt-pubkey.txt. */
import { expect, test } from 'vitest'
import { putManagementKey } from '#db/management-key.ts'
import { seedManagementKey } from '#src/domain/installation/first-start.ts'
import { generateManagementKey } from '#src/integrations/nodes/management-key.ts'
import { createWorld } from '#test/support/worlds/world.ts'

test('a start replaces a key that no sshd takes, once, and keeps every other', async () => {
  const w = await createWorld()
  try {
    const shown = async () => (await w.call('/mgmt-pubkey.txt')).text
    const cut = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAH6KGBjz1Gs/htyurQV9s33wZlSKrwURrCVfUL+4PzzY='
    const createdAt = '2026-01-01T00:00:00'
    await w.s.db.tx((tx) =>
      putManagementKey(tx, { id: 1, privateKey: 'CUT', publicKey: cut, createdAt }),
    )
    expect(await shown()).toBe(`${cut}\n`)
    const made: string[] = []
    const generate = async () => {
      const pair = await generateManagementKey()
      made.push(pair.publicKey)
      return pair
    }
    await seedManagementKey(w.s, generate)
    await seedManagementKey(w.s, generate)
    expect(made).toHaveLength(1)
    expect(await shown()).toBe(`${made[0]}\n`)
  } finally {
    await w.close()
  }
})
