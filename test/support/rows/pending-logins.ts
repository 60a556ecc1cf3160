/** Logins that wait for a code, without the cost of a hash. */
import { sha256Hex } from '#src/lib/crypto.ts'
import { codeStep, wrongCode } from '#test/support/calls/admins.ts'
import type { World } from '#test/support/worlds/world.ts'
import { inSeconds } from './records.ts'

/** In the world that there is when they are called. */
export function pendingLogins(world: () => World) {
  let tokens = 0
  /** Adds a pending login; gives its token. */
  const addPending = (adminId = 1): string => {
    const token = `pending-${++tokens}`
    world().change(
      'insert into pending_logins (token, admin_id, expires_at) values (?, ?, ?)',
      sha256Hex(token),
      adminId,
      inSeconds(world(), 300),
    )
    return token
  }
  /** Sends a wrong code. */
  const guess = async (token = addPending(), ip?: string) => {
    const { status, json } = await codeStep(world(), token, wrongCode(world()), ip)
    return { status, json }
  }
  return { addPending, guess }
}
